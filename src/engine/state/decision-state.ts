import { type StrategyId } from '../../domain/ids.ts'
import { type OrderTerms } from '../../domain/order.ts'
import { own } from '../../lib/own.ts'
import { isSameData } from '../../lib/plain-data.ts'
import { wishKey } from '../book/book.ts'
import { type StrategySettings } from '../settings.ts'
import { noteChanged } from './changes.ts'
import { type Core } from './core.ts'

/** How long a strategy's wishes on an instrument wait after the second refusal in a row, and at most. */
const BACK_OFF_MS = 250
const BACK_OFF_MS_MAX = 60_000

/** The strategy has looked: what waited for that may be placed. */
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
  // Both are empty as a rule.
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
    // In the order in which they begin to wait.
    states.delete(strategyId)
    states.set(strategyId, { state, waitsSince: now })
  }
}

/** The book says what the strategy remembers. */
export function noteStateRecorded({ decisions }: Core, strategyId: StrategyId): void {
  const { states } = own(decisions)
  const { state } = states.get(strategyId) ?? {}
  states.set(strategyId, { state, waitsSince: undefined })
}

/** A rung of the ladder was filled or refused: the strategy has to look before one is placed anew. */
export function holdQuote({ decisions, market }: Core, strategyId: string, symbol: string): void {
  const { quoteHolds } = own(decisions)
  const holds = quoteHolds.get(strategyId) ?? []
  quoteHolds.set(strategyId, new Map([...holds, [symbol, market.snapshots + 1]]))
}

/** What was wanted before is not placed by itself: each strategy looks first, and its failures are counted anew. */
export function holdAllWishes({ decisions, market }: Core): void {
  const state = own(decisions)
  state.wishesFrom = market.snapshots + 1
  state.failuresInRow.clear()
}

/** Whether a strategy has not looked at an instrument since a start has proved it, or since something was released. */
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
  /** Because of the price that it stated. */
  readonly isPriceRefused: boolean
}

/**
 * What the exchange has just refused is not asked for again on the same prices: its strategy has to look
 * first, and a wish of which nothing was taken time and again waits longer each time. A flatten does not wait for
 * what was refused of a ladder.
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

/** The first refusal costs a look at new prices; each further one in a row doubles the wait, to a minute. */
export function isBackingOff({ decisions, now }: Core, wish: string): boolean {
  const refusal = decisions.refusals.get(wish)
  if (!refusal || refusal.inRow < 2) return false
  return now - refusal.at < Math.min(BACK_OFF_MS_MAX, BACK_OFF_MS * 2 ** (refusal.inRow - 2))
}

/**
 * Whether the last refusal was of a stated price: in a fall the exchange takes no limit order so far from its mark
 * price, which comes after.
 */
export function wasPriceRefused({ decisions }: Core, wish: string): boolean {
  return decisions.refusals.get(wish)?.isOfPrice ?? false
}
