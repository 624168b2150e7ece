import type { StrategyId } from '../../domain/ids.ts'
import type { Instrument } from '../../domain/instrument.ts'
import type { Intent } from '../../domain/intent.ts'
import { canRest, openLots, type Order, type OrderState } from '../../domain/order.ts'
import { isClosing, tradesAs } from '../../domain/order-action.ts'
import type { InstrumentMoment } from '../../domain/snapshot.ts'
import type { MoveDirection } from '../../domain/worst-case.ts'
import { floatOnGrid } from '../../lib/grid.ts'
import { own } from '../../lib/own.ts'
import { buildExposure, type Exposure } from '../../risk/exposure.ts'
import { addRung, createLadder, type RestingLadder } from '../../risk/resting-ladder.ts'
import { accountHoldingOf, type Book, holdingOf, openOrdersOf, pairOf } from '../book/book.ts'
import { ownMoneyOf } from '../book/own-trades.ts'

/** What can be worked out from the open orders of an instrument and from what the account holds of it. */
export interface InstrumentTotals {
  /** Of the whole account. Copy it before adding to it. */
  readonly exposure: Readonly<Exposure>
  /** By strategy, where it has any. */
  readonly orders: ReadonlyMap<StrategyId, readonly Order[]>
  /** All states in which any of the orders is. */
  readonly states: ReadonlySet<OrderState>
  /** The highest resting buy and the lowest resting sell, in ticks; without one -Infinity and Infinity. */
  readonly buyTicks: number
  readonly sellTicks: number
  /** Whether an order that cannot rest was accepted and has not ended. */
  readonly hasTaker: boolean
  /** The orders by their prices, once they were asked for. */
  readonly ladders: KeptLadders
  /** What each strategy was shown of the instrument last. */
  readonly shown: ShownMoments
  /** The last intent of each strategy that changed nothing, because what it asks for stood already. */
  readonly standing: StandingIntents
  /** The strategies whose wishes stood as wanted when the instrument was last planned: nothing was to be done for them. */
  readonly satisfied: SatisfiedStrategies
}

/** `down` has the buys, `up` the sells. */
type KeptLadders = ReadonlyMap<MoveDirection, RestingLadder>
type ShownMoments = ReadonlyMap<StrategyId, InstrumentMoment>
type StandingIntents = ReadonlyMap<StrategyId, Intent>
type SatisfiedStrategies = ReadonlySet<StrategyId>

/** By symbol: worked out when first asked for, and kept until a record concerns the instrument. Changed by `totals.ts`. */
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
    money: ownMoneyOf(owner.book, pairOf(id, symbol)),
  }
  own(shown).set(id, moment)
  return moment
}

/** The orders of an instrument, each at its own price. */
export function laddersOf(
  owner: TotalsOwner,
  instrument: Instrument,
): { readonly buys: RestingLadder; readonly sells: RestingLadder } {
  const { ladders } = totalsOf(owner, instrument.symbol)
  const known = { buys: ladders.get('down'), sells: ladders.get('up') }
  if (known.buys && known.sells) return { buys: known.buys, sells: known.sells }
  const isNet = owner.book.positionMode === 'one_way_mode'
  const [buys, sells] = [createLadder('down'), createLadder('up')]
  for (const order of openOrdersOf(owner.book, instrument.symbol)) {
    const { action, ticks } = order.terms
    const side = tradesAs(action) === 'buy' ? buys : sells
    const size = floatOnGrid(instrument.lot, openLots(order))
    const closes = isClosing(action) && !isNet
    addRung(side, {
      price: ticks === undefined ? undefined : floatOnGrid(instrument.tick, ticks),
      opening: closes ? 0 : size,
      closing: closes ? size : 0,
    })
  }
  own(ladders).set('down', buys).set('up', sells)
  return { buys, sells }
}

/** Whether a strategy asks once more for the very intent that stood already, and nothing has changed since. */
export function isKnownToStand({ totals }: TotalsOwner, id: StrategyId, intent: Intent): boolean {
  return totals.get(intent.symbol)?.standing.get(id) === intent
}

/** Remembers that what a strategy asks for stands already. */
export function noteStanding(owner: TotalsOwner, id: StrategyId, intent: Intent): void {
  const { standing } = totalsOf(owner, intent.symbol)
  own(standing).set(id, intent)
}

/** What the strategy wants on the instrument stands. It is passed over until something changes. */
export function noteSatisfied(owner: TotalsOwner, id: StrategyId, symbol: string): void {
  const { satisfied } = totalsOf(owner, symbol)
  own(satisfied).add(id)
}

/** Something has changed that is no record: the wishes of all strategies are compared with the orders again. */
export function forgetSatisfied({ totals }: TotalsOwner, symbol: string): void {
  const satisfied: SatisfiedStrategies | undefined = totals.get(symbol)?.satisfied
  if (satisfied !== undefined) own(satisfied).clear()
}

/** Something of the instrument has changed. */
export function forgetTotals(totals: KeptTotals, symbol: string): void {
  own(totals).delete(symbol)
}

/** Works out what {@link totalsOf} keeps. */
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
    ladders: new Map(),
    shown: new Map(),
    standing: new Map(),
    satisfied: new Set(),
  }
}
