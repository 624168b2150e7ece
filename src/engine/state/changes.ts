import { canRest, openLots, type Order, type OrderState } from '../../domain/order.ts'
import type { ExpireRecord, JournalRecord } from '../../domain/record.ts'
import { own } from '../../lib/own.ts'
import { unreachable } from '../../lib/unreachable.ts'
import {
  accountHoldingOf,
  type Book,
  holdingOf,
  openOrdersOf,
  pairKey,
  pairOf,
} from '../book/book.ts'
import type { StrategyId } from '../../domain/ids.ts'
import type { Instrument } from '../../domain/instrument.ts'
import type { Intent } from '../../domain/intent.ts'
import { isClosing, tradesAs } from '../../domain/order-action.ts'
import type { InstrumentMoment } from '../../domain/snapshot.ts'
import type { MoveDirection } from '../../domain/worst-case.ts'
import { floatOnGrid } from '../../lib/grid.ts'
import { buildExposure, type Exposure } from '../../risk/exposure.ts'
import { addRung, createLadder, type RestingLadder } from '../../risk/resting-ladder.ts'
import { ownMoneyOf } from '../book/own-trades.ts'

/**
 * Which instruments have to be looked at, that is resolved further or planned (BND2). An instrument is looked at again
 *
 * - when something of it has changed: there was a record that concerns it, a resolution has begun, a decision has ended
 *   a wait, or the price is beyond one of its orders;
 * - in each new moment, while it is not settled: an order is missing, unwanted, waiting or displaced, or it is being
 *   resolved. Then time, prices and other instruments matter too. Within a moment only decisions change something, and
 *   their records name their instruments. Where all missing orders were denied, and would be denied again on the same
 *   prices, once a snapshot is enough (`orders/lasting-denials.ts`);
 * - always, while the account does not trade: it starts, stops or is killed.
 *
 * Changed by `changes.ts`.
 */
export interface ChangeState {
  /** The instruments of which something has changed since they were last looked at. */
  readonly changed: ReadonlySet<string>
  /** Those that are not settled, with the moment in which they were last looked at. */
  readonly unsettled: ReadonlyMap<string, number>
  /** Those of which all missing orders were denied when they were last looked at. */
  readonly denied: ReadonlyMap<string, DenialBasis>
  /** The number of the present moment. */
  readonly moment: number
}

/** What the denial of an instrument's orders was based on: the same basis gives the same denial. */
export interface DenialBasis {
  readonly snapshot: number
  /** Whether prices, and readings of the account, were younger than their limits. */
  readonly isFresh: boolean
  readonly isAccountFresh: boolean
}

/** Something may have changed that matters to all instruments: time, prices, clocks, readings, the account's exposure. */
export function beginMoment(changes: ChangeState): void {
  own(changes).moment += 1
}

export function noteChanged(changes: ChangeState, symbol: string): void {
  own(changes.changed).add(symbol)
}

/** Whether an instrument has to be looked at now. */
export function needsLook({ changed, unsettled, moment }: ChangeState, symbol: string): boolean {
  if (changed.has(symbol)) return true
  const lookedAt = unsettled.get(symbol)
  return lookedAt !== undefined && lookedAt !== moment
}

/** Whether the passing of time alone may give something to do on an instrument. */
export function mayDependOnTime({ changed, unsettled, denied }: ChangeState): boolean {
  return changed.size > 0 || unsettled.size > denied.size
}

/** To be called before an instrument is looked at: whatever changes from then on makes it due again. */
export function beginLook(changes: ChangeState, symbol: string): void {
  const { changed, unsettled, denied } = own(changes)
  changed.delete(symbol)
  denied.delete(symbol)
  unsettled.set(symbol, changes.moment)
}

/** All missing orders of the instrument are denied, and nothing else is to be done. */
export function noteDenied(changes: ChangeState, symbol: string, look: DenialBasis): void {
  own(changes.denied).set(symbol, look)
}

/** What is wanted stands and nothing else does: time, prices and other instruments do not matter. */
export function noteSettled(changes: ChangeState, symbol: string): void {
  own(changes.unsettled).delete(symbol)
}

/** The instruments that a record concerns, named before it is applied; undefined for all of them. */
export function concernedBy(book: Book, record: JournalRecord): Iterable<string> | undefined {
  switch (record.kind) {
    case 'boot':
    case 'restricted':
    case 'released':
    case 'repaired':
      return undefined
    case 'decision':
      return [
        ...symbolsOf(record.quotes),
        ...symbolsOf(record.targets),
        ...symbolsOf(record.places),
        ...symbolsOfOrders(book, record.withdrawn),
      ]
    case 'send':
    case 'adopt':
    case 'assigned':
      return [record.symbol]
    case 'settle':
    case 'foreign':
      return [record.symbol, ...symbolsOfOrphans(book)]
    case 'outcome':
      return [...symbolsOfOrders(book, record.items.map(nameOf)), ...symbolsOfOrphans(book)]
    case 'cancelAnswered':
      return [...symbolsOfOrders(book, record.listed.map(nameOf)), ...symbolsOfOrphans(book)]
    case 'fills':
      return symbolsOf(record.fills)
    case 'cancel':
      return record.symbols
    case 'expire':
      return [...symbolsOfOrders(book, record.orders.map(nameOf)), ...symbolsOfPlaces(book, record)]
    case 'archived':
    case 'candles':
    case 'watermark':
    case 'call':
    case 'callEnded':
    case 'denial':
    case 'funding':
    case 'entry':
    case 'prune':
      return NONE
    default:
      return unreachable(record)
  }
}

const NONE: readonly string[] = []

type ClientOid = Order['terms']['clientOid']

function nameOf({ clientOid }: { readonly clientOid: ClientOid }): ClientOid {
  return clientOid
}

function symbolsOf(parts: readonly { readonly symbol: string }[] = []): readonly string[] {
  return parts.map(({ symbol }) => symbol)
}

function symbolsOfOrders(
  { orders }: Book,
  clientOids: readonly ClientOid[] = [],
): readonly string[] {
  return clientOids.flatMap((clientOid) => orders.get(clientOid)?.terms.symbol ?? [])
}

/** An orderId that becomes known may be that of fills which wait for their order. */
function symbolsOfOrphans({ orphans }: Book): readonly string[] {
  return [...orphans.values()].flatMap(symbolsOf)
}

function symbolsOfPlaces({ places }: Book, record: ExpireRecord): readonly string[] {
  return record.places.flatMap(
    ({ strategyId, key }) => places.get(pairKey(strategyId, key))?.symbol ?? [],
  )
}

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

/** By symbol: worked out when first asked for, and kept until a record concerns the instrument. Changed by `changes.ts`. */
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
