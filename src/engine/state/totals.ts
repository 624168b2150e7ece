import { type StrategyId } from '../../domain/ids.ts'
import { type Instrument } from '../../domain/instrument.ts'
import { type Intent } from '../../domain/intent.ts'
import { canRest, type Order, type OrderState } from '../../domain/order.ts'
import { tradesAs } from '../../domain/order-action.ts'
import { type InstrumentMoment } from '../../domain/snapshot.ts'
import { own } from '../../lib/own.ts'
import { buildExposure, type Exposure } from '../../risk/exposure.ts'
import { accountHoldingOf, type Book, holdingOf, openOrdersOf, pairOf } from '../book/book.ts'

/** What follows from the open orders of an instrument and what the account holds of it. */
export interface InstrumentTotals {
  /** Of the whole account. To be copied by whoever adds to it. */
  readonly exposure: Readonly<Exposure>
  /** By strategy; who has none is absent. */
  readonly orders: ReadonlyMap<StrategyId, readonly Order[]>
  /** In which states any of them is. */
  readonly states: ReadonlySet<OrderState>
  /** The dearest buy and the cheapest sell that rest, in ticks; infinitely low, and high, where there is none. */
  readonly buyTicks: number
  readonly sellTicks: number
  /** Whether an order that cannot rest was accepted, and has not ended yet. */
  readonly hasTaker: boolean
  /** What each strategy was shown of it last. */
  readonly shown: ShownMoments
  /** What each strategy has asked for since, and stood already. */
  readonly standing: StandingIntents
  /** The strategies for which nothing was to be done when it was last planned: what they want stands. */
  readonly satisfied: SatisfiedStrategies
}

type ShownMoments = ReadonlyMap<StrategyId, InstrumentMoment>
type StandingIntents = ReadonlyMap<StrategyId, Intent>
type SatisfiedStrategies = ReadonlySet<StrategyId>

/** By symbol, from when it is first asked for until a record concerns the instrument. Changed by `totals.ts`. */
export type KeptTotals = ReadonlyMap<string, InstrumentTotals>

interface TotalsOwner {
  readonly book: Book
  readonly totals: KeptTotals
}

export function totalsOf({ book, totals }: TotalsOwner, symbol: string): InstrumentTotals {
  const known = totals.get(symbol)
  if (known) return known
  const counted = countTotals(book, symbol)
  own(totals).set(symbol, counted)
  return counted
}

/** The open orders of a strategy on an instrument. */
export function ordersOf(owner: TotalsOwner, id: StrategyId, symbol: string): readonly Order[] {
  return totalsOf(owner, symbol).orders.get(id) ?? NO_ORDERS
}

const NO_ORDERS: readonly Order[] = []

/**
 * What a strategy is shown of an instrument.
 * @param positionReadAt Unix ms, our clock: when the exchange last confirmed what the account holds
 */
export function momentOf(
  owner: TotalsOwner,
  id: StrategyId,
  instrument: Instrument,
  positionReadAt: number,
): InstrumentMoment {
  const { symbol } = instrument
  const { shown, orders } = totalsOf(owner, symbol)
  const known = shown.get(id)
  if (known?.positionReadAt === positionReadAt) return known
  const moment = {
    instrument,
    holding: holdingOf(owner.book, id, symbol),
    accountHolding: accountHoldingOf(owner.book, symbol),
    positionReadAt,
    orders: orders.get(id) ?? NO_ORDERS,
    trades: owner.book.ownTrades.get(pairOf(id, symbol)),
    money: owner.book.money.get(pairOf(id, symbol)),
  }
  own(shown).set(id, moment)
  return moment
}

/** Whether a strategy has asked for this very intent before, and it stood: nothing of it has changed since. */
export function isKnownToStand({ totals }: TotalsOwner, id: StrategyId, intent: Intent): boolean {
  return totals.get(intent.symbol)?.standing.get(id) === intent
}

/** What a strategy asks for stands already. Returns that. */
export function noteStanding(owner: TotalsOwner, id: StrategyId, intent: Intent): true {
  const { standing } = totalsOf(owner, intent.symbol)
  own(standing).set(id, intent)
  return true
}

/** Nothing is missing of what a strategy wants on the instrument, and nothing too much: not before something changes. */
export function noteSatisfied(owner: TotalsOwner, id: StrategyId, symbol: string): void {
  const { satisfied } = totalsOf(owner, symbol)
  own(satisfied).add(id)
}

/** Something has changed that no record says: what each strategy wants there is compared anew. */
export function forgetSatisfied({ totals }: TotalsOwner, symbol: string): void {
  const satisfied: SatisfiedStrategies | undefined = totals.get(symbol)?.satisfied
  if (satisfied !== undefined) own(satisfied).clear()
}

/** Something of the instrument has changed. */
export function forgetTotals(totals: KeptTotals, symbol: string): void {
  own(totals).delete(symbol)
}

/** Counts anew what {@link totalsOf} keeps. */
export function countTotals(book: Book, symbol: string): InstrumentTotals {
  const open = [...openOrdersOf(book, symbol)]
  let buyTicks = Number.NEGATIVE_INFINITY
  let sellTicks = Number.POSITIVE_INFINITY
  let hasTaker = false
  for (const { state, terms } of open) {
    if (state !== 'live') continue
    if (terms.ticks === undefined || !canRest(terms)) hasTaker = true
    else if (tradesAs(terms.action) === 'buy') buyTicks = Math.max(buyTicks, terms.ticks)
    else sellTicks = Math.min(sellTicks, terms.ticks)
  }
  return {
    exposure: buildExposure(book.positionMode, accountHoldingOf(book, symbol), open),
    orders: Map.groupBy(open, ({ terms }) => terms.strategyId),
    states: new Set(open.map(({ state }) => state)),
    buyTicks,
    sellTicks,
    hasTaker,
    shown: new Map(),
    standing: new Map(),
    satisfied: new Set(),
  }
}
