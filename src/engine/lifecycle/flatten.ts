import { type StrategyId } from '../../domain/ids.ts'
import { formatOnGrid } from '../../lib/grid.ts'
import { ACCOUNT, type Scope, strategyScope } from '../../domain/trading-mode.ts'
import { splitPair } from '../book/book.ts'
import { announce, type Core } from '../state/core.ts'
import { noteFlattened } from '../state/run-state.ts'
import { restrict } from '../state/trading-mode.ts'
import { expirePlaces } from '../strategies/take-decision.ts'

/**
 * An operator wants everything of a scope closed: what rests is cancelled, every strategy's position is aimed at
 * zero, and nothing else leaves until somebody releases the scope. It is a restriction like any other, so a restart
 * goes on with it. A stop that flattens does the same for the account, without one.
 */
export function startFlatten(core: Core, order: { scope: Scope; reason: string; by: string }): void {
  restrict(core, { ...order, mode: 'halted', code: 'flatten' })
  expirePlaces(core)
}

/** Logs when nothing is left to close, each time anew; runs after every event. */
export function advanceFlatten(core: Core): void {
  for (const { scope, code } of core.book.restrictions.values()) {
    if (code !== 'flatten') continue
    const isFlat = !holdsAnything(core, scope)
    if (noteFlattened(core.run, scope, isFlat) && isFlat) announce(core, 'warn', 'flatten.done', { scope })
  }
}

/** Whether a strategy holds something in the scope. Lots too small to be an order are left. */
export function holdsAnything(core: Core, scope: Scope = ACCOUNT): boolean {
  return [...core.book.holdings].some(([key, { longLots, shortLots }]) => {
    const [strategyId, symbol] = splitPair(key)
    const isConcerned = scope === ACCOUNT || scope === symbol || scope === strategyScope(strategyId)
    const lotsMin = core.settings.instruments.get(symbol)?.lotsMin ?? 1
    const isBound = core.settings.strategies.get(strategyId as StrategyId)?.symbols.includes(symbol) ?? false
    return isConcerned && isBound && Math.max(longLots, shortLots) >= lotsMin
  })
}

/** What the account holds, by symbol: `long 0.02`, or both sides. For people. */
export function describePositions({ book, settings }: Core): Record<string, string> {
  const held = [...book.account].flatMap(([symbol, { longLots, shortLots }]) => {
    const lot = settings.instruments.get(symbol)?.lot
    const sizeOf = (lots: number): string => (lot ? formatOnGrid(lot, lots) : `${lots} lots`)
    const sides = [
      ...(longLots > 0 ? [`long ${sizeOf(longLots)}`] : []),
      ...(shortLots > 0 ? [`short ${sizeOf(shortLots)}`] : []),
    ]
    return sides.length > 0 ? [[symbol, sides.join(', ')]] : []
  })
  return Object.fromEntries(held) as Record<string, string>
}
