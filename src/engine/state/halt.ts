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
