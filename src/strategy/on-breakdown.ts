import process from 'node:process'
import { strategyAtFault } from './strategy-context.ts'

/** What nobody caught, and the strategy that threw it, if one did. Returns how to stop listening. */
export function onBreakdown(
  fail: (error: unknown, strategy: string | undefined) => void,
): () => void {
  const hear = (error: unknown) => fail(error, strategyAtFault())
  process.on('uncaughtException', hear)
  return () => process.off('uncaughtException', hear)
}
