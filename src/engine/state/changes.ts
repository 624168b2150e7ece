import {
  canRest,
  openLots,
  type Order,
  type OrderState,
  type OrderTerms,
} from '../../domain/order.ts'
import { tradesAs } from '../../domain/order-action.ts'
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
  splitPair,
} from '../book/book.ts'
import type { StrategyId } from '../../domain/ids.ts'
import type { Instrument, PositionMode } from '../../domain/instrument.ts'
import type { MaintenanceRules } from '../../domain/liquidation.ts'
import type { AccountEntry } from '../../domain/own-trades.ts'
import type { InstrumentMoment, ShownExit } from '../../domain/snapshot.ts'
import { buildExposure, type Exposure, worstLots } from '../../risk/exposure.ts'
import { addRung, createLadder, type RestingLadder, toRung } from '../../risk/resting-ladder.ts'
import type { RiskNeeds } from '../../risk/worst-case.ts'
import { moneyOf, ownMoneyOf } from '../book/apply-fill.ts'

/**
 * Which instruments to look at, that is resolve further or plan (BND2): a settled one when something
 * of it has changed, any other once in each new moment too.
 *
 *     settled ──a record concerns it, or what is not recorded marks it──► changed
 *     changed ──looked at──► open ──all that is wanted stands, and nothing else──► settled
 *     open ──all that is missing was denied──► denied ──another snapshot, or data too old──► open
 *
 * While it is open, time, prices and other instruments matter too. Within a moment only decisions
 * change something, and their records name instruments. While the account starts, stops or is
 * killed all are looked at. Changed by `changes.ts`.
 */
export interface ChangeState {
  /** Keyed by symbol; a settled instrument without a change is absent. */
  readonly looks: ReadonlyMap<string, Look>
  readonly moment: number
}

export interface Look {
  /** Since the last look. */
  readonly isChanged: boolean
  /** The moment of the last look; undefined: it was settled then. */
  readonly lookedAt: number | undefined
  /** All missing orders were denied then. */
  readonly denied: DenialBasis | undefined
}

/** The same basis gives the same denial. */
export interface DenialBasis {
  readonly snapshot: number
  /** Prices and readings were younger than their limits. */
  readonly isFresh: boolean
  readonly isAccountFresh: boolean
}

export function createChanges(symbols: Iterable<string>): ChangeState {
  const changes: ChangeState = { looks: new Map(), moment: 0 }
  for (const symbol of symbols) noteChanged(changes, symbol)
  return changes
}

/** Time, prices, clocks, readings or exposure may have changed. */
export function beginMoment(changes: ChangeState): void {
  own(changes).moment += 1
}

export function noteChanged(changes: ChangeState, symbol: string): void {
  const known = changes.looks.get(symbol) ?? SETTLED
  if (!known.isChanged) own(changes.looks).set(symbol, { ...known, isChanged: true })
}

const SETTLED: Look = { isChanged: false, lookedAt: undefined, denied: undefined }

/** Whether an instrument has to be looked at now. */
export function needsLook({ looks, moment }: ChangeState, symbol: string): boolean {
  const look = looks.get(symbol)
  if (look === undefined) return false
  return look.isChanged || look.lookedAt !== moment
}

/** Time alone may give something to do. */
export function mayDependOnTime({ looks }: ChangeState): boolean {
  for (const { isChanged, denied } of looks.values())
    if (isChanged || denied === undefined) return true
  return false
}

/** Before a look: later changes make it due again. */
export function beginLook(changes: ChangeState, symbol: string): void {
  own(changes.looks).set(symbol, { ...SETTLED, lookedAt: changes.moment })
}

/** All missing orders are denied, and nothing else is to be done. */
export function noteDenied(changes: ChangeState, symbol: string, denied: DenialBasis): void {
  own(changes.looks).set(symbol, { ...(changes.looks.get(symbol) ?? SETTLED), denied })
}

/**
 * All that is wanted stands and nothing else does: time, prices and other instruments do not
 * matter.
 */
export function noteSettled(changes: ChangeState, symbol: string): void {
  const isChanged = changes.looks.get(symbol)?.isChanged === true
  if (isChanged) own(changes.looks).set(symbol, { ...SETTLED, isChanged })
  else own(changes.looks).delete(symbol)
}

/** The instrument has left: nothing is looked at any more, and nothing worked out. */
export function forgetInstrument(
  {
    changes,
    totals,
    ladders,
  }: {
    readonly changes: ChangeState
    readonly totals: KeptTotals
    readonly ladders: KeptLadders
  },
  symbol: string,
): void {
  own(changes.looks).delete(symbol)
  own(totals).delete(symbol)
  own(ladders).delete(symbol)
}

interface RecordOwner extends TotalsOwner {
  readonly changes: ChangeState
  readonly settled: KeptSettled
  readonly instruments: ReadonlyMap<string, unknown>
}

/** Before it is applied: what it concerns is looked at again, and worked out anew. */
export function noteRecord(owner: RecordOwner, record: JournalRecord): void {
  const { book, changes, totals, instruments, settled } = owner
  for (const symbol of concernedBy(book, record) ?? instruments.keys()) {
    noteChanged(changes, symbol)
    forgetTotals(totals, symbol)
  }
  // The account's limits count all instruments.
  if (CHANGE_NO_LIMIT.has(record.kind)) return
  beginMoment(changes)
  forgetSettled(settled)
}

/** They change nothing for other instruments, and move no money. */
const CHANGE_NO_LIMIT = new Set<JournalRecord['kind']>([
  'decision',
  'denial',
  'candles',
  'watermark',
  'exits',
  'exitsListed',
  'signal',
])

/** Undefined: all. */
function concernedBy(book: Book, record: JournalRecord): Iterable<string> | undefined {
  switch (record.kind) {
    case 'reload':
      return []
    case 'boot':
    case 'deposit':
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
    case 'exits':
    case 'exitsListed':
    case 'departed':
      return [record.symbol]
    case 'universe':
      return symbolsOf([...record.joined, ...record.left])
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
    case 'signal':
    case 'call':
    case 'callEnded':
    case 'denial':
    case 'funding':
    case 'unseenFunding':
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

/** A new orderId may be that of waiting fills. */
function symbolsOfOrphans({ orphans }: Book): readonly string[] {
  return [...orphans.values()].flatMap(symbolsOf)
}

function symbolsOfPlaces({ places }: Book, record: ExpireRecord): readonly string[] {
  return record.places.flatMap(
    ({ strategyId, key }) => places.get(pairKey(strategyId, key))?.symbol ?? [],
  )
}

/** Worked out from open orders and holding. */
export interface InstrumentTotals {
  /** The account's. Copy it before adding to it. */
  readonly exposure: Readonly<Exposure>
  readonly open: readonly Order[]
  /** Where the strategy has any. */
  readonly orders: ReadonlyMap<StrategyId, readonly Order[]>
  /** Lots that a strategy could come to hold, once asked for. */
  readonly ownWorst: OwnWorst
  readonly states: ReadonlySet<OrderState>
  /** In ticks; without an order -Infinity and Infinity. */
  readonly buyTicks: number
  readonly sellTicks: number
  /** An order that cannot rest was accepted and has not ended. */
  readonly hasTaker: boolean
  /** Brought up to date since the instrument changed. */
  readonly current: CurrentParts
  readonly needs: KeptNeeds
  /** The moment that each strategy was shown last. */
  readonly shown: ShownMoments
}

/** Needs follow from these, besides orders, holding and settings. */
export interface NeedsBasis {
  readonly price: number
  readonly fundingRate: number
  readonly entry: AccountEntry | undefined
  readonly rules: MaintenanceRules | undefined
}

interface KeptNeeds {
  readonly last: { readonly from: NeedsBasis; readonly needs: RiskNeeds } | undefined
}

type CurrentParts = ReadonlySet<'ladders'>
type OwnWorst = ReadonlyMap<StrategyId, number>
type ShownMoments = ReadonlyMap<StrategyId, InstrumentMoment>

/** Keyed by symbol, until a record concerns the instrument. Changed by `changes.ts`. */
export type KeptTotals = ReadonlyMap<string, InstrumentTotals>

interface TotalsOwner {
  readonly book: Book
  readonly totals: KeptTotals
}

/** Each open order at its own price. */
export interface InstrumentLadders {
  readonly instrument: Instrument
  readonly positionMode: PositionMode
  readonly buys: RestingLadder
  readonly sells: RestingLadder
  readonly counted: readonly Order[]
}

/** Keyed by symbol, over records; only changed orders are counted. Changed by `changes.ts`. */
export type KeptLadders = ReadonlyMap<string, InstrumentLadders>

interface LadderOwner extends TotalsOwner {
  readonly ladders: KeptLadders
}

export function totalsOf({ book, totals }: TotalsOwner, symbol: string): InstrumentTotals {
  const known = totals.get(symbol)
  if (known) return known
  const counted = countTotals(book, symbol)
  own(totals).set(symbol, counted)
  return counted
}

export function ordersOf(owner: TotalsOwner, id: StrategyId, symbol: string): readonly Order[] {
  return totalsOf(owner, symbol).orders.get(id) ?? NO_ORDERS
}

const NO_ORDERS: readonly Order[] = []

/** If everything open were filled. */
export function ownWorstOf(owner: TotalsOwner, id: StrategyId, symbol: string): number {
  const { ownWorst, orders } = totalsOf(owner, symbol)
  const known = ownWorst.get(id)
  if (known !== undefined) return known
  const { book } = owner
  const open = orders.get(id) ?? NO_ORDERS
  const worst = worstLots(buildExposure(book.positionMode, holdingOf(book, id, symbol), open))
  own(ownWorst).set(id, worst)
  return worst
}

/** @param positionReadAt Unix ms, our clock: when the exchange last confirmed the position */
export function momentOf(
  owner: TotalsOwner,
  id: StrategyId,
  instrument: Instrument,
  positionReadAt: number,
): InstrumentMoment {
  const { symbol } = instrument
  const { shown } = totalsOf(owner, symbol)
  const known = shown.get(id)
  if (known?.positionReadAt === positionReadAt) return known
  const moment = { ...(known ?? buildMoment(owner, id, instrument)), positionReadAt }
  own(shown).set(id, moment)
  return moment
}

/** The same until a record concerns the instrument. */
function buildMoment(
  owner: TotalsOwner,
  id: StrategyId,
  instrument: Instrument,
): Omit<InstrumentMoment, 'positionReadAt'> {
  const { symbol } = instrument
  const { book } = owner
  const exchangeExits = listedExitsOf(book, id, symbol)
  return {
    instrument,
    holding: holdingOf(book, id, symbol),
    accountHolding: accountHoldingOf(book, symbol),
    orders: totalsOf(owner, symbol).orders.get(id) ?? NO_ORDERS,
    trades: book.ownTrades.get(pairOf(id, symbol)),
    money: ownMoneyOf(book, pairOf(id, symbol)),
    ...(exchangeExits.length > 0 && { exchangeExits }),
    ...(book.leavings.has(pairOf(id, symbol)) && { isLeaving: true as const }),
  }
}

function listedExitsOf(book: Book, id: StrategyId, symbol: string): readonly ShownExit[] {
  if (book.exits.size === 0) return NO_EXITS
  return (['long', 'short'] as const).flatMap((holdSide) => {
    const { strategyId, listed = [] } = book.exits.get(pairKey(symbol, holdSide)) ?? {}
    const isHeld = accountHoldingOf(book, symbol)[`${holdSide}Lots`] > 0
    return strategyId === id && isHeld ? listed.map((exit) => ({ ...exit, holdSide })) : []
  })
}

const NO_EXITS: readonly ShownExit[] = []

/** Each at its own price. */
export function laddersOf(owner: LadderOwner, instrument: Instrument): InstrumentLadders {
  const { symbol } = instrument
  const { current, open } = totalsOf(owner, symbol)
  const known = owner.ladders.get(symbol)
  if (known && current.has('ladders')) return known
  const { positionMode } = owner.book
  const isUsable = known?.instrument === instrument && known.positionMode === positionMode
  const ladders = isUsable ? known : createLadders(instrument, positionMode)
  countChanged(ladders, open)
  const counted = { ...ladders, counted: open }
  own(owner.ladders).set(symbol, counted)
  own(current).add('ladders')
  return counted
}

function createLadders(instrument: Instrument, positionMode: PositionMode): InstrumentLadders {
  return {
    instrument,
    positionMode,
    buys: createLadder('down', instrument),
    sells: createLadder('up', instrument),
    counted: [],
  }
}

/**
 * Both lists are followed side by side: the book keeps orders in the order in which they came, and
 * a changed order is another object.
 */
function countChanged(ladders: InstrumentLadders, open: readonly Order[]): void {
  const { counted } = ladders
  let place = 0
  for (const order of open) {
    if (counted[place] !== order) place = countUpTo(ladders, order, place)
    else place += 1
  }
  for (; place < counted.length; place++) countOrder(ladders, counted[place], -1)
}

/** @returns the place to read next */
function countUpTo(ladders: InstrumentLadders, order: Order, from: number): number {
  const { counted } = ladders
  for (let place = from; place < counted.length; place++) {
    const known = counted[place]
    if (known === order) return place + 1
    if (known?.terms.clientOid === order.terms.clientOid) {
      recountOrder(ladders, known, order)
      return place + 1
    }
    countOrder(ladders, known, -1)
  }
  countOrder(ladders, order, 1)
  return counted.length
}

function countOrder(ladders: InstrumentLadders, order: Order | undefined, sign: 1 | -1): void {
  if (order) countLots(ladders, order.terms, openLots(order) * sign)
}

/** A fill changes only the size. */
function recountOrder(ladders: InstrumentLadders, was: Order, is: Order): void {
  if (was.terms.ticks === is.terms.ticks && was.terms.action === is.terms.action)
    return countLots(ladders, is.terms, openLots(is) - openLots(was))
  countOrder(ladders, was, -1)
  countOrder(ladders, is, 1)
}

function countLots(
  { buys, sells, positionMode }: InstrumentLadders,
  { action, ticks }: OrderTerms,
  lots: number,
): void {
  if (lots === 0) return
  const rung = toRung({ action, lots, ticks }, positionMode === 'one_way_mode')
  addRung(tradesAs(action) === 'buy' ? buys : sells, rung)
}

/** Kept while nothing changes, since approvals on other instruments ask at the same prices. */
export function needsAsOf(
  owner: TotalsOwner,
  symbol: string,
  { from, compute }: { readonly from: NeedsBasis; readonly compute: () => RiskNeeds },
): RiskNeeds {
  const { needs } = totalsOf(owner, symbol)
  const known = needs.last
  if (
    known !== undefined &&
    Object.is(known.from.price, from.price) &&
    known.from.fundingRate === from.fundingRate &&
    known.from.entry === from.entry &&
    known.from.rules === from.rules
  )
    return known.needs
  const computed = compute()
  own(needs).last = { from, needs: computed }
  return computed
}

export function forgetTotals(totals: KeptTotals, symbol: string): void {
  own(totals).delete(symbol)
}

/** {@link totalsOf} keeps it. */
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
    open,
    orders: Map.groupBy(open, ({ terms }) => terms.strategyId),
    ownWorst: new Map(),
    states: new Set(open.map(({ state }) => state)),
    buyTicks,
    sellTicks,
    hasTaker,
    current: new Set(),
    needs: { last: undefined },
    shown: new Map(),
  }
}

/** Summed on demand, until a record may move money. Changed by `changes.ts`. */
export interface KeptSettled {
  readonly bySymbol: ReadonlyMap<string, number>
  /** Undefined until asked for. */
  readonly symbols: ReadonlySet<string> | undefined
}

interface SettledOwner {
  readonly book: Book
  readonly settled: KeptSettled
}

export function createSettled(): KeptSettled {
  return { bySymbol: new Map(), symbols: undefined }
}

/** Realised less fees, and funding, of all owners. */
export function settledOf({ book, settled }: SettledOwner, symbol: string): number {
  const known = settled.bySymbol.get(symbol)
  if (known !== undefined) return known
  const net = sumSettled(book, symbol)
  own(settled.bySymbol).set(symbol, net)
  return net
}

/** {@link settledOf} keeps it. */
export function sumSettled(book: Book, symbol: string): number {
  let net = Number(book.funding.get(symbol)?.toString() ?? 0)
  for (const [pair, { profit, fees }] of moneyOf(book)) {
    if (splitPair(pair)[1] === symbol) net += Number(profit.minus(fees).toString())
  }
  return net
}

/** In the order in which they are counted. */
export function settledSymbols({ book, settled }: SettledOwner): ReadonlySet<string> {
  if (settled.symbols) return settled.symbols
  const ofFills = [...moneyOf(book).keys()].map((pair) => splitPair(pair)[1])
  const symbols = new Set([...book.funding.keys(), ...ofFills])
  own(settled).symbols = symbols
  return symbols
}

function forgetSettled(settled: KeptSettled): void {
  if (settled.bySymbol.size > 0) own(settled.bySymbol).clear()
  own(settled).symbols = undefined
}
