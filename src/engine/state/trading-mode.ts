import { type RiskContext } from '../../risk/risk-context.ts'
import { haltOf } from '../book/book.ts'
import { announce, type Core, record } from './core.ts'

/** What an operator does about a halt. */
export const RELEASE_HINT =
  "look at the exchange's own order history and position, then release the instrument"

/** Nothing that adds risk leaves any more for the symbol, or at all for `*`; survives a restart (RSK2). */
export function halt(core: Core, symbol: string, reason: string): void {
  if (core.book.halts.get(symbol) === reason) return
  record(core, { kind: 'halt', at: core.now, symbol, reason }, true)
  announce(core, 'error', 'trading.halted', { symbol, reason })
}

/** A person has looked, and says why trading may go on. */
export function resume(core: Core, { symbol, reason, by }: ResumeOrder): void {
  if (!core.book.halts.has(symbol)) {
    return announce(core, 'warn', 'trading.notHalted', { symbol, halted: [...core.book.halts.keys()] })
  }
  record(core, { kind: 'resume', at: core.now, symbol, reason, by }, true)
  announce(core, 'warn', 'trading.resumed', { symbol, reason, by })
}

interface ResumeOrder {
  readonly symbol: string
  readonly reason: string
  readonly by: string
}

/** Whether anything goes on the symbol, or only what reduces risk. */
export function tradingMode(core: Core, symbol: string): RiskContext['trading'] {
  const why = haltOf(core.book, symbol)
  if (why !== undefined) return { mode: 'reduceOnly', halted: true, why }
  if (core.run.phase !== 'running')
    return { mode: 'reduceOnly', halted: false, why: `the daemon is ${core.run.phase}` }
  if (core.run.isSpaceLow) {
    return { mode: 'reduceOnly', halted: false, why: 'the disk of the journal is nearly full' }
  }
  return { mode: 'open', halted: false, why: '' }
}
