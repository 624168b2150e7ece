import { announce, type Core, record } from './core.ts'

/** Nothing that adds risk leaves any more for the symbol, or at all for `*`; survives a restart (RSK2). */
export function halt(core: Core, symbol: string, reason: string): void {
  if (core.book.halts.get(symbol) === reason) return
  record(core, { kind: 'halt', at: core.now, symbol, reason }, true)
  announce(core, 'error', 'trading.halted', { symbol, reason })
}
