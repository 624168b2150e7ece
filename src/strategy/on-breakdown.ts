import process from 'node:process'
import { strategyAtFault } from './strategy-context.ts'

/** With the strategy that threw, if known. @returns a function that stops this */
export function onBreakdown(
  fail: (error: unknown, strategy: string | undefined) => void,
): () => void {
  const hear = (error: unknown) => fail(error, strategyAtFault())
  process.on('uncaughtException', hear)
  return () => process.off('uncaughtException', hear)
}
