import type { AccountCall } from '../../domain/account-call.ts'
import { type Move, type UnsettledAllocation, NOBODY } from '../../domain/allocation.ts'
import type { CandleSeries } from '../../domain/candles.ts'
import type { Deposit } from '../../domain/deposit.ts'
import type { ExitState } from '../../domain/exits.ts'
import type { FeedId, FeedReading } from '../../domain/feed.ts'
import { type Money, addFill, NO_MONEY } from '../../domain/fill-money.ts'
import { type Fill, fillKey } from '../../domain/fill.ts'
import type {
  ClientOid,
  OrderId,
  StrategyId,
  InstrumentSymbol,
  SymbolAndInterval,
  SymbolAndSide,
  StrategyAndSymbol,
  StrategyAndKey,
} from '../../domain/ids.ts'
import type { PositionMode } from '../../domain/instrument.ts'
import type { OrderIntent, QuoteLevel, Tag } from '../../domain/intent.ts'
import type { Watermark } from '../../domain/loss-limits.ts'
import { isTerminal, type Order } from '../../domain/order.ts'
import type { AccountEntry, OwnTrades } from '../../domain/own-trades.ts'
import { FLAT, type Holding, type KeptExits, type OrderedBySide } from '../../domain/position.ts'
import type { InstrumentGrids } from '../../domain/record.ts'
import type { UnseenFunding } from '../../domain/unseen-funding.ts'
import {
  ACCOUNT,
  type ModeReason,
  type Restriction,
  type Scope,
  strategyScope,
  TRADING_MODES,
} from '../../domain/trading-mode.ts'
import type { KeptUniverse, UniverseLeaving } from '../../domain/universe.ts'
import { type Decimal, decimal } from '../../lib/decimal.ts'
import { type Mutable, mutable } from '../../lib/mutable.ts'
import { SegmentedMap } from '../../lib/segmented-map.ts'
import type { EngineSettings } from '../settings.ts'
import { TrackedMap, TrackedSegmentedMap, TrackedSet } from '../../lib/tracked-collections.ts'

/** Kept while the book holds the order; afterwards only the journal knows the key. */
interface KeyEntry {
  readonly clientOid: ClientOid
  readonly generation: number
  /** When the key was first sent. */
  readonly at: number
}

/**
 * Everything durable that the core knows: the fold of the journal's records (`apply-record.ts`) and
 * nothing else. Instants are Unix ms of our clock, unless a comment names the exchange's.
 */
export interface Book {
  readonly positionMode: PositionMode
  readonly epoch: number
  /** The first record; 0: an earlier version wrote it, and the time is not known. */
  readonly beganAt: number
  /** The last record. */
  readonly recordedAt: number
  /** The grids in which prices and sizes are counted. */
  readonly grids: ReadonlyMap<InstrumentSymbol, InstrumentGrids>
  readonly batchId: number
  /** Exchange clock: earlier fills are known, except those that become visible late. */
  readonly fillsThroughAt: number
  readonly orders: ReadonlyMap<ClientOid, Order>
  /** Orders that have not ended. */
  readonly open: ReadonlyMap<InstrumentSymbol, ReadonlyMap<ClientOid, Order>>
  readonly byOrderId: ReadonlyMap<OrderId, ClientOid>
  /** Sorted by the time of their end. */
  readonly ended: readonly EndedOrder[]
  readonly keys: ReadonlyMap<string, KeyEntry>
  /** The number in the next key of a ladder or a target. */
  readonly ordinals: ReadonlyMap<StrategyAndSymbol, number>
  /** Fills whose orderId is that of no known order. */
  readonly orphans: ReadonlyMap<OrderId, readonly Fill[]>
  /**
   * Keyed by `fillKey`: when known fills were made. Those before {@link tradesSinceAt} are never
   * read again.
   */
  readonly trades: ReadonlyMap<string, number>
  /** Exchange clock. */
  readonly tradesSinceAt: number
  /** Lots of fills that wait are under their orderId. */
  readonly holdings: ReadonlyMap<StrategyAndSymbol, Holding>
  /** While a fill waits, the allocation is worked out again from this state. */
  readonly unsettled: ReadonlyMap<InstrumentSymbol, UnsettledAllocation>
  /** Keyed by symbol and number: the moves since that state. */
  readonly unsettledMoves: ReadonlyMap<string, Move>
  /** The sum of fills and adopted positions. */
  readonly account: ReadonlyMap<InstrumentSymbol, Holding>
  /** The price that was paid. */
  readonly entries: ReadonlyMap<InstrumentSymbol, AccountEntry>
  /** The strategy `''` has what no order of ours explains. */
  readonly money: ReadonlyMap<StrategyAndSymbol, Money>
  /** The exchange's counter of payments, as last read. */
  readonly fundingCounters: ReadonlyMap<SymbolAndSide, string>
  /** All that was paid. */
  readonly funding: ReadonlyMap<InstrumentSymbol, Decimal>
  readonly unseenFunding: ReadonlyMap<InstrumentSymbol, UnseenFunding>
  /** As JSON. */
  readonly strategyStates: ReadonlyMap<StrategyId, string>
  readonly quotes: ReadonlyMap<StrategyAndSymbol, readonly QuoteLevel[]>
  readonly targets: ReadonlyMap<StrategyAndSymbol, number>
  readonly targetTags: ReadonlyMap<StrategyAndSymbol, Tag>
  /** Orders placed by name that wait to be sent. */
  readonly places: ReadonlyMap<StrategyAndKey, OrderIntent>
  readonly placesBySymbol: ReadonlyMap<StrategyAndSymbol, ReadonlyMap<string, OrderIntent>>
  /** Calls that have not ended. */
  readonly calls: ReadonlyMap<StrategyAndKey, AccountCall>
  /** When recent keys of calls were used. */
  readonly callKeys: ReadonlyMap<StrategyAndKey, number>
  /** Orders whose strategy does not want them to rest any more. */
  readonly withdrawn: ReadonlySet<ClientOid>
  /** Keyed by scope and code. */
  readonly restrictions: ReadonlyMap<string, Restriction>
  /** Earlier orders may be missing, because the journal was repaired then; 0: never. */
  readonly recordsLostAt: number
  /** Exchange clock: the last cancel-all whose effect is not settled. */
  readonly cancels: ReadonlyMap<InstrumentSymbol, number>
  readonly ownTrades: ReadonlyMap<StrategyAndSymbol, OwnTrades>
  /** The exits that our orders gave to the exchange. */
  readonly exits: ReadonlyMap<SymbolAndSide, KeptExits>
  /** A strategy counts on these levels, as its orders asked for them, while it holds something. */
  readonly orderedExits: ReadonlyMap<StrategyAndSymbol, OrderedBySide>
  /** A series is changed in place. */
  readonly candles: ReadonlyMap<SymbolAndInterval, CandleSeries>
  /** Only scopes whose losses are limited. */
  readonly watermarks: ReadonlyMap<Scope, Watermark>
  readonly exitStates: ReadonlyMap<StrategyAndSymbol, ExitState>
  readonly universes: ReadonlyMap<StrategyId, KeptUniverse>
  readonly leavings: ReadonlyMap<StrategyAndSymbol, UniverseLeaving>
  /** The last one of each feed, also when it has expired. */
  readonly signals: ReadonlyMap<FeedId, FeedReading>
  /** Keyed by feed and id: when a signal was taken, so that it is not taken twice. */
  readonly signalIds: ReadonlyMap<string, number>
  /** The oldest first. */
  readonly deposits: ReadonlyMap<string, Deposit>
  /** Decimal, margin coin: all deposits less all withdrawals since the journal began. */
  readonly deposited: string
  /** Earlier fills and funding payments were archived, and are not in the journal; 0: none. */
  readonly archivedBefore: number
}

/**
 * The book while a record is applied, or while it is read from a checkpoint. Its collections
 * remember changes for the next checkpoint; `open`, `byOrderId`, `ended` and `placesBySymbol`
 * follow from the others.
 */
export type WritableBook = Mutable<Book>

export function createBook(positionMode: PositionMode): Book {
  return {
    positionMode,
    epoch: 0,
    beganAt: 0,
    recordedAt: 0,
    grids: new TrackedMap(),
    batchId: 0,
    fillsThroughAt: 0,
    orders: new TrackedSegmentedMap(),
    open: new Map(),
    byOrderId: new SegmentedMap(),
    ended: [],
    keys: new TrackedSegmentedMap(),
    ordinals: new TrackedMap(),
    orphans: new TrackedMap(),
    trades: new TrackedMap(),
    tradesSinceAt: 0,
    holdings: new TrackedMap(),
    unsettled: new TrackedMap(),
    unsettledMoves: new TrackedMap(),
    account: new TrackedMap(),
    entries: new TrackedMap(),
    money: new TrackedMap(),
    fundingCounters: new TrackedMap(),
    funding: new TrackedMap(),
    unseenFunding: new TrackedMap(),
    strategyStates: new TrackedMap(),
    quotes: new TrackedMap(),
    targets: new TrackedMap(),
    targetTags: new TrackedMap(),
    places: new TrackedMap(),
    placesBySymbol: new Map(),
    calls: new TrackedMap(),
    callKeys: new TrackedMap(),
    withdrawn: new TrackedSet(),
    restrictions: new TrackedMap(),
    recordsLostAt: 0,
    cancels: new TrackedMap(),
    ownTrades: new TrackedMap(),
    exits: new TrackedMap(),
    orderedExits: new TrackedMap(),
    candles: new TrackedMap(),
    watermarks: new TrackedMap(),
    exitStates: new TrackedMap(),
    universes: new TrackedMap(),
    leavings: new TrackedMap(),
    signals: new TrackedMap(),
    signalIds: new TrackedMap(),
    deposits: new TrackedMap(),
    deposited: '0',
    archivedBefore: 0,
  }
}

/** Joins two names, neither of which contains a bar. */
export function pairKey(first: string, second: string): string {
  return `${first}|${second}`
}

/** The same as {@link pairKey}, kept: a freshly joined text costs three times as much to look up. */
export function pairOf(first: string, second: string): string {
  let pairs = PAIRS.get(first)
  if (pairs === undefined) {
    if (PAIRS.size >= FIRSTS_JOINED_MAX) PAIRS.clear()
    pairs = new Map()
    PAIRS.set(first, pairs)
  }
  let pair = pairs.get(second)
  if (pair === undefined) {
    pair = pairKey(first, second)
    pairs.set(second, pair)
  }
  return pair
}

const PAIRS = new Map<string, Map<string, string>>()
/** A process has far fewer strategies and symbols, unless it runs many tests. */
const FIRSTS_JOINED_MAX = 1000

export function splitPair(key: string): readonly [string, string] {
  const bar = key.indexOf('|')
  return [key.slice(0, bar), key.slice(bar + 1)]
}

/**
 * Earlier versions named a fill by its tradeId alone, which stands for every order of the trade: a
 * fill that is counted twice would be worse than a twin that stays unknown.
 */
export function knowsFill({ trades }: Book, fill: Pick<Fill, 'tradeId' | 'orderId'>): boolean {
  return trades.has(fillKey(fill)) || trades.has(fill.tradeId)
}

export function holdingOf(book: Book, strategyId: string, symbol: string): Holding {
  return book.holdings.get(pairOf(strategyId, symbol)) ?? FLAT
}

export function accountHoldingOf(book: Book, symbol: string): Holding {
  return book.account.get(symbol) ?? FLAT
}

export function restrictionOf(book: Book, scope: Scope, code: ModeReason): Restriction | undefined {
  // This is asked for each wish at each step, and there are nearly never any.
  if (book.restrictions.size === 0) return undefined
  return book.restrictions.get(pairKey(scope, code))
}

export function killOf(book: Book): Restriction | undefined {
  return restrictionOf(book, ACCOUNT, 'kill')
}

/** The strictest come first. Without a strategy, only those of account and instrument. */
export function restrictionsOn(
  { restrictions }: Book,
  symbol: string,
  strategyId?: StrategyId | string,
): readonly Restriction[] {
  if (restrictions.size === 0) return []
  const strategy = strategyId === undefined ? undefined : strategyScope(strategyId)
  return [...restrictions.values()]
    .filter(({ scope }) => scope === ACCOUNT || scope === symbol || scope === strategy)
    .sort((left, right) => TRADING_MODES.indexOf(right.mode) - TRADING_MODES.indexOf(left.mode))
}

export function isHaltedItself({ restrictions }: Book, symbol: string): boolean {
  return [...restrictions.values()].some(({ scope, mode }) => scope === symbol && mode === 'halted')
}

export function isHalted(book: Book, symbol: string): boolean {
  return restrictionsOn(book, symbol).some(({ code, mode }) => code !== 'kill' && mode === 'halted')
}

export function allOpenOrders({ open }: Pick<Book, 'open'>): readonly Order[] {
  return [...open.values()].flatMap((orders) => [...orders.values()])
}

export function openOrdersOf(book: Book, symbol: string): Iterable<Order> {
  return book.open.get(symbol)?.values() ?? []
}

/** Orders that may be at the exchange although their orderId is not known. */
export function namelessOrders(book: Book, symbol: string): readonly Order[] {
  return [...openOrdersOf(book, symbol)].filter(
    (order) => order.orderId === undefined && order.attempts > 0,
  )
}

/** Some fills wait for an answer that names their orderId. */
export function hasUnownedFills(book: Book, symbol: string): boolean {
  return unownedOf(book, symbol).length > 0
}

export function unownedOf({ orphans }: Pick<Book, 'orphans'>, symbol: string): readonly OrderId[] {
  if (orphans.size === 0) return NONE
  return [...orphans].filter(([, [first]]) => first?.symbol === symbol).map(([orderId]) => orderId)
}

const NONE: readonly OrderId[] = []

export function leavingOf(
  { leavings }: Pick<Book, 'leavings'>,
  strategyId: StrategyId | string,
  symbol: string,
): UniverseLeaving | undefined {
  return leavings.size === 0 ? undefined : leavings.get(pairOf(strategyId, symbol))
}

/** An instrument that is closed or handed back as it leaves is not shown to its strategy. */
export function isShown(book: Pick<Book, 'leavings'>, id: StrategyId, symbol: string): boolean {
  const leaving = leavingOf(book, id, symbol)
  return leaving === undefined || leaving.policy === 'keep'
}

export function placesOf(book: Book, strategyId: string, symbol: string): Iterable<OrderIntent> {
  return book.placesBySymbol.get(pairOf(strategyId, symbol))?.values() ?? []
}

export function storePlace(book: WritableBook, place: OrderIntent): void {
  book.places.set(pairKey(place.strategyId, place.key), place)
  indexPlace(book, place)
}

export function indexPlace(book: WritableBook, place: OrderIntent): void {
  const pair = pairKey(place.strategyId, place.symbol)
  const places = mutable(book.placesBySymbol.get(pair) ?? new Map<string, OrderIntent>())
  book.placesBySymbol.set(pair, places)
  places.set(place.key, place)
}

export function removePlace(book: WritableBook, pair: StrategyAndKey): void {
  const place = book.places.get(pair)
  if (place === undefined) return
  book.places.delete(pair)
  const places = book.placesBySymbol.get(pairKey(place.strategyId, place.symbol))
  if (places) mutable(places).delete(place.key)
}

export function storeOrder(book: WritableBook, changed: Order): void {
  // An order that is open again has not ended.
  const endedAt = isTerminal(changed) ? changed.endedAt || book.recordedAt : 0
  const order = endedAt === changed.endedAt ? changed : { ...changed, endedAt }
  book.orders.set(order.terms.clientOid, order)
  if (endedAt !== changed.endedAt && endedAt !== 0)
    addEnded(book.ended, { clientOid: order.terms.clientOid, endedAt })
  indexOrder(book, order)
}

export function indexOrder(book: WritableBook, order: Order): void {
  const { clientOid, symbol } = order.terms
  if (order.orderId !== undefined) book.byOrderId.set(order.orderId, clientOid)
  const open = mutable(book.open.get(symbol) ?? new Map<ClientOid, Order>())
  book.open.set(symbol, open)
  if (isTerminal(order)) {
    open.delete(clientOid)
    book.withdrawn.delete(clientOid)
  } else {
    open.set(clientOid, order)
  }
}

/** The order may have opened again since: then its own `endedAt` counts. */
export interface EndedOrder {
  readonly clientOid: ClientOid
  /** Our clock. */
  readonly endedAt: number
}

/** Keeps the order of time, also after the clock was set back. */
export function addEnded(ended: EndedOrder[], order: EndedOrder): void {
  let place = ended.length
  while (place > 0 && (ended[place - 1] as EndedOrder).endedAt > order.endedAt) place--
  ended.splice(place, 0, order)
}

export function haveEndedBefore(ended: readonly EndedOrder[], at: number, more = 0): boolean {
  const order = ended[more]
  return order !== undefined && order.endedAt < at
}

interface CapitalSource {
  readonly settings: Pick<EngineSettings, 'capital'>
  readonly book: Pick<Book, 'deposited'>
}

/**
 * Margin coin: `account.capital` with all that was deposited since. Undefined where it is not
 * configured.
 */
export function capitalOf({ settings: { capital }, book }: CapitalSource): Decimal | undefined {
  // This is asked at each reading of a position, and most accounts have no deposits.
  return capital === undefined || book.deposited === '0'
    ? capital
    : capital.plus(decimal(book.deposited))
}

/** Fills that wait have changed the account's money, but have no owner yet. */
export function moneyOf(book: Book): ReadonlyMap<StrategyAndSymbol, Money> {
  if (book.orphans.size === 0) return book.money
  const money = new Map(book.money)
  for (const fill of [...book.orphans.values()].flat()) {
    const key = pairKey(NOBODY, fill.symbol)
    money.set(key, addFill(money.get(key) ?? NO_MONEY, fill))
  }
  return money
}

/** Profit and fees by the strategy's own count, beside what could not be counted. */
export function ownMoneyOf(book: Book, pair: StrategyAndSymbol): Money | undefined {
  const money = book.money.get(pair)
  const { profit, fees } = book.ownTrades.get(pair) ?? {}
  if (profit === undefined || fees === undefined) return money
  return { ...(money ?? NO_MONEY), profit: decimal(profit), fees: decimal(fees) }
}

export function moneyByStrategy(book: Book): ReadonlyMap<StrategyAndSymbol, Money> {
  const pairs = new Set([...book.money.keys(), ...book.ownTrades.keys()])
  const ofStrategies = [...pairs].filter((pair) => splitPair(pair)[0] !== NOBODY)
  return new Map(ofStrategies.map((pair) => [pair, ownMoneyOf(book, pair) ?? NO_MONEY]))
}

/**
 * The part of a strategy's holding whose reduction opens nothing in the account beyond what other
 * strategies hold. In one-way mode lots without an owner may stand against it.
 */
export function backedHolding(book: Book, strategyId: StrategyId, symbol: string): Holding {
  const held = holdingOf(book, strategyId, symbol)
  const account = accountHoldingOf(book, symbol)
  const isThere = held.longLots <= account.longLots && held.shortLots <= account.shortLots
  if (isThere || book.positionMode === 'hedge_mode') return held
  const { longLots, shortLots } = unclaimedHolding(book, symbol)
  return {
    longLots: Math.max(0, held.longLots - shortLots),
    shortLots: Math.max(0, held.shortLots - longLots),
  }
}

/**
 * The part of a strategy's holding whose close opens nothing. Where lots without an owner stand
 * against several strategies, the account may hold a part of what none of them holds wholly.
 */
export function closableHolding(book: Book, strategyId: StrategyId, symbol: string): Holding {
  const held = holdingOf(book, strategyId, symbol)
  const account = accountHoldingOf(book, symbol)
  const backed = backedHolding(book, strategyId, symbol)
  return {
    longLots: Math.max(backed.longLots, Math.min(held.longLots, account.longLots)),
    shortLots: Math.max(backed.shortLots, Math.min(held.shortLots, account.shortLots)),
  }
}

/**
 * Lots that no strategy holds, and those of fills that wait for their order: in one-way mode the
 * net, in hedge mode the surplus of each side.
 */
export function unclaimedHolding(
  book: Pick<Book, 'positionMode' | 'account' | 'holdings'>,
  symbol: string,
): Holding {
  let { longLots, shortLots } = book.account.get(symbol) ?? FLAT
  for (const [key, holding] of book.holdings) {
    if (key.startsWith('~') || splitPair(key)[1] !== symbol) continue
    longLots -= holding.longLots
    shortLots -= holding.shortLots
  }
  const net = longLots - shortLots
  if (book.positionMode === 'one_way_mode')
    return { longLots: Math.max(0, net), shortLots: Math.max(0, -net) }
  return { longLots: Math.max(0, longLots), shortLots: Math.max(0, shortLots) }
}
