import { HOLD_SIDES } from '../../domain/position.ts'
import {
  canRest,
  type Order,
  type OrderState,
  openLots,
  type OrderTerms,
} from '../../domain/order.ts'
import { tradesAs } from '../../domain/order-action.ts'
import { mutable } from '../../lib/mutable.ts'
import {
  accountHoldingOf,
  type Book,
  holdingOf,
  openOrdersOf,
  pairKey,
  pairOf,
  splitPair,
  moneyOf,
  ownMoneyOf,
} from '../book/book.ts'
import type { StrategyId, InstrumentSymbol } from '../../domain/ids.ts'
import type { Instrument, PositionMode } from '../../domain/instrument.ts'
import type { MaintenanceRules } from '../../domain/liquidation.ts'
import type { AccountEntry } from '../../domain/own-trades.ts'
import type { InstrumentMoment, MomentExit } from '../../domain/snapshot.ts'
import { buildExposure, type Exposure, worstLots } from '../../risk/exposure.ts'
import type { RiskNeeds } from '../../risk/worst-case.ts'
import { addRung, createLadder, type RestingLadder, toRung } from '../../risk/resting-ladder.ts'

export interface InstrumentTotals {
  /** The account's; copied before something is added to it. */
  readonly exposure: Readonly<Exposure>
  readonly open: readonly Order[]
  readonly orders: ReadonlyMap<StrategyId, readonly Order[]>
  /** Lots that a strategy could come to hold, counted when they are asked for. */
  readonly ownWorst: OwnWorst
  readonly states: ReadonlySet<OrderState>
  /** The best prices; without an order -Infinity and Infinity. */
  readonly buyTicks: number
  readonly sellTicks: number
  /** An order that cannot rest was accepted and has not ended. */
  readonly hasTaker: boolean
  readonly needs: KeptNeeds
  /** The moment that each strategy was shown last. */
  readonly shown: ShownMoments
}

/** Needs for the worst case follow from these, besides orders, holding and settings. */
interface NeedsBasis {
  readonly price: number
  readonly fundingRate: number
  readonly entry: AccountEntry | undefined
  readonly rules: MaintenanceRules | undefined
}

interface KeptNeeds {
  readonly last: { readonly from: NeedsBasis; readonly needs: RiskNeeds } | undefined
}

type OwnWorst = ReadonlyMap<StrategyId, number>

type ShownMoments = ReadonlyMap<StrategyId, InstrumentMoment>

/** Kept until a record concerns the instrument. Changed by `totals.ts`. */
export type KeptTotals = ReadonlyMap<InstrumentSymbol, InstrumentTotals>

export interface TotalsOwner {
  readonly book: Book
  readonly totals: KeptTotals
}

export function totalsOf({ book, totals }: TotalsOwner, symbol: string): InstrumentTotals {
  const known = totals.get(symbol)
  if (known) return known
  const counted = countTotals(book, symbol)
  mutable(totals).set(symbol, counted)
  return counted
}

export function ordersOf(owner: TotalsOwner, id: StrategyId, symbol: string): readonly Order[] {
  return totalsOf(owner, symbol).orders.get(id) ?? NO_ORDERS
}

const NO_ORDERS: readonly Order[] = []

export function ownWorstOf(owner: TotalsOwner, id: StrategyId, symbol: string): number {
  const { ownWorst, orders } = totalsOf(owner, symbol)
  const known = ownWorst.get(id)
  if (known !== undefined) return known
  const { book } = owner
  const open = orders.get(id) ?? NO_ORDERS
  const worst = worstLots(buildExposure(book.positionMode, holdingOf(book, id, symbol), open))
  mutable(ownWorst).set(id, worst)
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
  mutable(shown).set(id, moment)
  return moment
}

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

function listedExitsOf(book: Book, id: StrategyId, symbol: string): readonly MomentExit[] {
  if (book.exits.size === 0) return NO_EXITS
  return HOLD_SIDES.flatMap((holdSide) => {
    const { strategyId, listed = [] } = book.exits.get(pairKey(symbol, holdSide)) ?? {}
    const isHeld = accountHoldingOf(book, symbol)[`${holdSide}Lots`] > 0
    return strategyId === id && isHeld ? listed.map((exit) => ({ ...exit, holdSide })) : []
  })
}

const NO_EXITS: readonly MomentExit[] = []

export function forgetTotals(totals: KeptTotals, symbol: string): void {
  mutable(totals).delete(symbol)
}

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
    needs: { last: undefined },
    shown: new Map(),
  }
}

/** Kept while nothing changes, since approvals on other instruments ask at the same prices. */
export function needsAsOf(
  owner: TotalsOwner,
  symbol: string,
  { from, compute }: { readonly from: NeedsBasis; readonly compute: () => RiskNeeds },
): RiskNeeds {
  const { needs } = totalsOf(owner, symbol)
  if (needs.last && isSameBasis(needs.last.from, from)) return needs.last.needs
  const computed = compute()
  mutable(needs).last = { from, needs: computed }
  return computed
}

function isSameBasis(one: NeedsBasis, other: NeedsBasis): boolean {
  return (
    // An unknown price, NaN, is the same as another one.
    Object.is(one.price, other.price) &&
    one.fundingRate === other.fundingRate &&
    one.entry === other.entry &&
    one.rules === other.rules
  )
}

/** Sums that are made on demand and kept until a record may move money. Changed by `totals.ts`. */
export interface KeptSettled {
  readonly bySymbol: ReadonlyMap<InstrumentSymbol, number>
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
  mutable(settled.bySymbol).set(symbol, net)
  return net
}

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
  mutable(settled).symbols = symbols
  return symbols
}

export function forgetSettled(settled: KeptSettled): void {
  if (settled.bySymbol.size > 0) mutable(settled.bySymbol).clear()
  mutable(settled).symbols = undefined
}

/** Open orders by price, where each is counted at its own price (`gap: false`). */
export interface InstrumentLadders {
  readonly instrument: Instrument
  readonly positionMode: PositionMode
  readonly buys: RestingLadder
  readonly sells: RestingLadder
  readonly counted: readonly Order[]
}

/** After a record only changed orders are counted. Changed by `totals.ts`. */
export type KeptLadders = ReadonlyMap<InstrumentSymbol, InstrumentLadders>

interface LadderOwner extends TotalsOwner {
  readonly ladders: KeptLadders
}

export function forgetLadders(ladders: KeptLadders, symbol: string): void {
  mutable(ladders).delete(symbol)
}

export function laddersOf(owner: LadderOwner, instrument: Instrument): InstrumentLadders {
  const { symbol } = instrument
  const { open } = totalsOf(owner, symbol)
  const known = owner.ladders.get(symbol)
  // A record that concerns the instrument makes a new list of open orders.
  if (known?.counted === open) return known
  const { positionMode } = owner.book
  const isUsable = known?.instrument === instrument && known.positionMode === positionMode
  const ladders = isUsable ? known : createLadders(instrument, positionMode)
  countChanged(ladders, open)
  const counted = { ...ladders, counted: open }
  mutable(owner.ladders).set(symbol, counted)
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
 * Follows both lists side by side: the book keeps orders in the order in which they came, and a
 * changed order is another object.
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
