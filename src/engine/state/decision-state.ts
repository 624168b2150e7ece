import type { StrategyId } from '../../domain/ids.ts'
import type { OrderTerms } from '../../domain/order.ts'
import { own } from '../../lib/own.ts'
import { isSameData } from '../../lib/plain-data.ts'
import { wishKey } from '../book/book.ts'
import type { StrategySettings } from '../settings.ts'
import { noteChanged } from './changes.ts'
import type { Core } from './core.ts'

/** How long a strategy's wish waits after the second refusal in a row, and at most after more of them, in ms. */
const BACK_OFF_MS = 250
const BACK_OFF_MS_MAX = 60_000

/** The strategy has decided on a snapshot: what waited for that may be placed. */
export function noteDecision(
  { decisions, changes, run }: Core,
  { id, symbols }: Pick<StrategySettings, 'id' | 'symbols'>,
  snapshot: number,
): void {
  const state = own(decisions)
  const before = decisions.decidedOn.get(id) ?? 0
  if (before < Math.max(decisions.wishesFrom, run.start.wishesFromLatest)) {
    for (const symbol of symbols) noteChanged(changes, symbol)
  }
  state.decidedOn.set(id, snapshot)
  // Both maps are mostly empty.
  if (decisions.failuresInRow.size > 0) state.failuresInRow.delete(id)
  const holds = decisions.quoteHolds.size === 0 ? undefined : decisions.quoteHolds.get(id)
  if (holds === undefined) return
  const left = [...holds].filter(([, needed]) => snapshot < needed)
  if (left.length === 0) state.quoteHolds.delete(id)
  else state.quoteHolds.set(id, new Map(left))
  for (const symbol of holds.keys()) noteChanged(changes, symbol)
}

/** How many decisions of the strategy have failed one after the other by now. */
export function noteFailure({ decisions }: Core, strategyId: StrategyId): number {
  const { failuresInRow } = own(decisions)
  const inRow = (failuresInRow.get(strategyId) ?? 0) + 1
  failuresInRow.set(strategyId, inRow)
  return inRow
}

/** What the strategy remembers from now on. */
export function noteState({ decisions, now }: Core, strategyId: StrategyId, state: unknown): void {
  const known = decisions.states.get(strategyId)
  if (known?.state === state) return
  const { states } = own(decisions)
  if (known?.waitsSince !== undefined) states.set(strategyId, { state, waitsSince: known.waitsSince })
  else if (known === undefined || !isSameData(known.state, state)) {
    // Taken out and put in again, so that the map stays in the order in which states began to wait.
    states.delete(strategyId)
    states.set(strategyId, { state, waitsSince: now })
  }
}

/** What the strategy remembers is in the book now. */
export function noteStateRecorded({ decisions }: Core, strategyId: StrategyId): void {
  const { states } = own(decisions)
  const { state } = states.get(strategyId) ?? {}
  states.set(strategyId, { state, waitsSince: undefined })
}

/** A rung of the ladder was filled or refused: the strategy must decide again before any is placed. */
export function holdQuote({ decisions, market }: Core, strategyId: string, symbol: string): void {
  const { quoteHolds } = own(decisions)
  const holds = quoteHolds.get(strategyId) ?? []
  quoteHolds.set(strategyId, new Map([...holds, [symbol, market.snapshots + 1]]))
}

/** After a release: standing wishes are placed only after their strategy has decided again. Its failures count from zero. */
export function holdAllWishes({ decisions, market }: Core): void {
  const state = own(decisions)
  state.wishesFrom = market.snapshots + 1
  state.failuresInRow.clear()
}

/** Whether a strategy has not decided since the start has proved the instrument, or since a release. */
export function isUndecided({ decisions, run }: Core, id: StrategyId, symbol: string): boolean {
  if (run.phase !== 'running') return false
  const decidedOn = decisions.decidedOn.get(id) ?? 0
  if (decidedOn < decisions.wishesFrom) return true
  return decidedOn < run.start.wishesFromLatest && decidedOn < (run.start.wishesFrom.get(symbol) ?? 0)
}

/** Whether a ladder waits for its strategy to look again. */
export function isQuoteHeld(core: Core, id: StrategyId, symbol: string): boolean {
  const { decidedOn, quoteHolds } = core.decisions
  const needed = quoteHolds.get(id)?.get(symbol)
  return isUndecided(core, id, symbol) || (needed !== undefined && (decidedOn.get(id) ?? 0) < needed)
}

interface Answered {
  readonly terms: OrderTerms
  readonly isRefused: boolean
  /** Whether it was refused because of its price. */
  readonly isPriceRefused: boolean
}

/**
 * What the exchange has refused is not placed again on the same prices: the strategy must decide again first. And a wish
 * of which every order was refused several times in a row waits longer each time. Each purpose counts by itself, so a
 * flatten does not wait because a ladder was refused.
 */
export function noteRefusals(core: Core, answered: readonly Answered[]): void {
  const { refusals } = own(core.decisions)
  for (const { terms, isRefused } of answered) {
    if (isRefused) holdQuote(core, terms.strategyId, terms.symbol)
  }
  const wishes = Map.groupBy(answered, ({ terms }) => wishKey(terms.strategyId, terms.symbol, terms.purpose))
  for (const [wish, outcomes] of wishes) {
    if (outcomes.some(({ isRefused }) => !isRefused)) refusals.delete(wish)
    else
      refusals.set(wish, {
        at: core.now,
        inRow: (refusals.get(wish)?.inRow ?? 0) + 1,
        isOfPrice: outcomes.some(({ isPriceRefused }) => isPriceRefused),
      })
  }
}

/** After the first refusal only a new decision is needed. From the second on the wish waits, twice as long each time, up to a minute. */
export function isBackingOff({ decisions, now }: Core, wish: string): boolean {
  const refusal = decisions.refusals.get(wish)
  if (!refusal || refusal.inRow < 2) return false
  return now - refusal.at < Math.min(BACK_OFF_MS_MAX, BACK_OFF_MS * 2 ** (refusal.inRow - 2))
}

/**
 * Whether the last refusal was because of the price: in a fast market the exchange refuses limit orders that are far
 * from its mark price, which lags behind.
 */
export function wasPriceRefused({ decisions }: Core, wish: string): boolean {
  return decisions.refusals.get(wish)?.isOfPrice ?? false
}
