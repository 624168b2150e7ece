import type { Market, MarketStep } from '../market/market.ts'
import { recordedAt, venueOf, type CoreState, type SymbolState } from './core-state.ts'
import { isTrading, settleContract, settlementAt } from './instruments/delivery.ts'
import { nextFundingAfter, settleFunding } from './positions/funding.ts'
import { liquidateAtMark } from './positions/liquidation.ts'
import { showQuote } from '../matching/displayed-market.ts'
import { matchResting } from '../matching/match-orders.ts'
import { enterMatching } from './orders/futures-venue.ts'
import { triggerPlanOrders } from './plans/plan-orders.ts'
import { fireExits } from './positions/position-exits.ts'
import type { SymbolRow } from './stored-entities.ts'

/**
 * At one instant: arrivals, funding, settlements, then quotes. How time is divided into calls
 * changes nothing.
 * @returns false if the market stopped at its limit: call again with the same `now`
 */
export function playUntil(state: CoreState, market: Market, now: number): boolean {
  const { clock } = state
  if (now < clock.now) return true
  if (clock.pausedAt === 0) {
    const isDone = market.advance(now - clock.pausedMs, (step) => playStep(state, step))
    if (!isDone) return false
  }
  playTimers(state, now)
  clock.now = now
  refreshMarks(state)
  return true
}

/**
 * Repeats a stretch after a restart. @param stored symbols at the quote at which they were stored
 */
export function replayQuotes(
  state: CoreState,
  market: Market,
  stored: ReadonlyMap<string, SymbolRow>,
): void {
  const { clock } = state
  for (const symbol of state.symbols.values()) putBack(symbol, stored)
  const takeIn = (step: MarketStep) => {
    const symbol = state.symbols.get(step.symbol)
    if (symbol === undefined || step.at + clock.pausedMs < symbol.listedAt) return
    applyQuote(state, symbol, step)
    putBack(symbol, stored)
  }
  const until = (clock.pausedAt === 0 ? clock.now : clock.pausedAt) - clock.pausedMs
  while (!market.advance(until, takeIn));
  refreshMarks(state)
}

function putBack(symbol: SymbolState, stored: ReadonlyMap<string, SymbolRow>): void {
  const row = stored.get(symbol.instrument.symbol)
  if (row === undefined) return
  symbol.isSettled = row.isSettled
  if (row.taken.at === symbol.market.at) Object.assign(symbol.market.taken, row.taken)
}

function playStep(state: CoreState, step: MarketStep): void {
  const { clock } = state
  const at = step.at + clock.pausedMs
  if (clock.nextFundingAt === 0) clock.nextFundingAt = nextFundingAfter(state, at)
  playTimers(state, at)
  clock.now = at
  const symbol = state.symbols.get(step.symbol)
  if (symbol === undefined || at < symbol.listedAt) return
  applyQuote(state, symbol, step)
  if (!isTrading(symbol, at)) return
  if (symbol.positions.length > 0 || symbol.planOrders.length > 0) refreshMark(state, symbol, at)
  matchResting(venueOf(symbol))
  if (symbol.positions.length > 0) {
    fireExits(state, symbol)
    liquidateAtMark(state, symbol)
  }
  triggerPlanOrders(state, symbol)
  for (const hear of symbol.followers) hear()
}

function applyQuote(
  state: CoreState,
  symbol: SymbolState,
  { at, quote, reference }: MarketStep,
): void {
  const shownAt = at + state.clock.pausedMs
  showQuote(symbol.market, quote, shownAt, state.matching)
  symbol.quoteCount++
  symbol.statistics.apply(shownAt, quote, reference)
}

function playTimers(state: CoreState, until: number): void {
  const { clock, arrivals } = state
  for (;;) {
    const arrivalAt = arrivals[0]?.dueAt ?? Number.POSITIVE_INFINITY
    const fundingAt = clock.nextFundingAt === 0 ? Number.POSITIVE_INFINITY : clock.nextFundingAt
    const dueAt = Math.min(arrivalAt, fundingAt, state.nextSettlement.at)
    if (dueAt > until) return
    clock.now = Math.max(clock.now, dueAt)
    if (dueAt === arrivalAt) {
      const order = arrivals.shift()
      if (order !== undefined) enterMatching(state, order)
    } else if (dueAt === fundingAt) {
      refreshMarks(state)
      settleFunding(state, dueAt)
      clock.nextFundingAt = nextFundingAfter(state, dueAt)
    } else {
      settleDue(state, dueAt)
    }
  }
}

function settleDue(state: CoreState, dueAt: number): void {
  for (const symbol of state.symbols.values()) {
    if (settlementAt(state, symbol) <= dueAt) settleContract(state, symbol)
  }
  findNextSettlement(state)
}

export function findDueTimes(state: CoreState): void {
  const { clock } = state
  // Stored JSON has null for infinity.
  if (clock.nextFundingAt !== 0) clock.nextFundingAt = nextFundingAfter(state, clock.now)
  findNextSettlement(state)
}

function findNextSettlement(state: CoreState): void {
  let next = Number.POSITIVE_INFINITY
  for (const symbol of state.symbols.values()) next = Math.min(next, settlementAt(state, symbol))
  state.nextSettlement.at = next
}

function refreshMarks(state: CoreState): void {
  for (const symbol of state.symbols.values()) refreshMark(state, symbol, state.clock.now)
}

/** Without a recorded mark price it moves with the quotes, and with the premium once a minute. */
function refreshMark(state: CoreState, symbol: SymbolState, at: number): void {
  if (symbol.market.at === 0) return
  const recorded = recordedAt(state, symbol, { column: 'markTicks', at })
  symbol.markTicks = recorded ?? symbol.statistics.markTicks(at) ?? symbol.market.lastTicks
}
