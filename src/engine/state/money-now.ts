import type { Equity, UsedLoss } from '../../domain/loss-limits.ts'
import { isFlat } from '../../domain/position.ts'
import { ACCOUNT, type Scope, strategyScope } from '../../domain/trading-mode.ts'
import { accountHoldingOf } from '../book/book.ts'
import type { StrategySettings } from '../settings.ts'
import type { Core } from './core.ts'
import { isWorthKnown, settledOfStrategy, toEquity, withPeak } from './equity.ts'
import { usedLossAt, usedLossOf } from './losses.ts'
import { ownPriceOf, unrealisedOfAccount, unrealisedOfWholeStrategy } from './own-figure.ts'
import { settledOf, settledSymbols } from './totals.ts'

/*
 * Money as it is shown: by our own figure, at the last prices, with every fill that is booked, so
 * the figures of one answer add up. Limits are judged by what readings have confirmed (losses.ts),
 * which knows a fill only once its position was read. Nothing here changes the core.
 */

/** The account's, margin coin; NaN while unknown (MON2). */
export function unrealisedNow(core: Core, symbol: string): number {
  if (isFlat(accountHoldingOf(core.book, symbol))) return 0
  // Until then the book may be of before the start.
  if (!core.market.marks.has(symbol)) return Number.NaN
  return unrealisedOfAccount(core, symbol, ownPriceOf(core, symbol).price)
}

/** Undefined while a part is unknown. */
export function equityNow(core: Core): Equity | undefined {
  const equity = toEquity(core, netOfAccount(core))
  return equity === undefined ? undefined : withPeak(core, equity)
}

/** How much of its limits a scope uses; undefined while unknown. */
export function usedLossNow(core: Core, scope: Scope): UsedLoss | undefined {
  const judged = usedLossOf(core, scope)
  return judged && usedLossAt(core, judged, netOf(core, scope))
}

function netOf(core: Core, scope: Scope): number {
  if (scope === ACCOUNT) return netOfAccount(core)
  const { strategies } = core.settings
  const strategy = [...strategies.values()].find(({ id }) => strategyScope(id) === scope)
  if (strategy === undefined) return netOfInstrument(core, scope)
  return netOfStrategy(core, strategy)
}

/** Results of instruments that have left the strategy are included. */
function netOfStrategy(core: Core, { id, symbols, universe }: StrategySettings): number {
  let net = unrealisedOfWholeStrategy(core, id) ?? Number.NaN
  for (const symbol of symbols) net += settledOfStrategy(core, id, symbol)
  if (universe)
    for (const symbol of settledSymbols(core))
      if (!symbols.includes(symbol)) net += settledOfStrategy(core, id, symbol)
  return net
}

function netOfAccount(core: Core): number {
  let net = 0
  for (const symbol of core.settings.instruments.keys()) net += netOfInstrument(core, symbol)
  for (const symbol of settledSymbols(core))
    if (!core.settings.instruments.has(symbol)) net += settledOf(core, symbol)
  return net
}

function netOfInstrument(core: Core, symbol: string): number {
  return isWorthKnown(core, symbol)
    ? settledOf(core, symbol) + unrealisedNow(core, symbol)
    : Number.NaN
}
