import type { InstrumentSymbol } from '../../domain/ids.ts'
import { type ClosedTrade, type ExitReason, isExitReason } from '../../domain/closed-trade.ts'
import {
  addFill,
  describeUncounted,
  feeOf,
  type FillMoney,
  type Money,
  NO_MONEY,
  roundMoney,
  toFillMoney,
  uncountedOf,
} from '../../domain/fill-money.ts'
import { closesSide } from '../../domain/own-trades.ts'
import { HOLD_SIDES, type HoldSide } from '../../domain/position.ts'
import type { AdoptRecord, AssignedRecord } from '../../domain/record.ts'
import type { BookedFill, BookedFunding, BookedOwner, Booking } from '../../journal/booking.ts'
import { type Decimal, decimal, ZERO } from '../../lib/decimal.ts'
import { createGrid, floatOnGrid, showOnGrid } from '../../lib/grid.ts'
import { splitPair } from './book.ts'
import type { ClosePurpose } from './bookings.ts'
import { type FilledBook, OwnProfits, type OwnShare } from './own-profits.ts'

export type TradeEvent = Booking | AdoptRecord | AssignedRecord

type TradeMove = Exclude<TradeEvent, BookedOwner>

export interface TradeFoldOptions {
  readonly book: FilledBook
  /** Undefined: the order closes nothing, or is not known any more. */
  readonly purposeOf: (clientOid: string) => ClosePurpose | undefined
  readonly onClosed: (trade: ClosedTrade) => void
}

/** Further digits of a float sum are noise. */
const DIGITS = 12

/** `value` is the sum of prices times lots. */
interface LotSum {
  readonly lots: number
  readonly value: number
}

interface OpenTrade {
  readonly openedAt: number
  /** Empty until a fill states it. */
  readonly coin: string
  readonly peakLots: number
  readonly opened: LotSum
  readonly closed: LotSum
  readonly gross: Decimal
  readonly fees: Decimal
  readonly funding: Decimal
  /** With unknown amounts, and fees in other coins. */
  readonly booked: Money
  readonly fills: number
  /** Lots came or went at an unknown price. */
  readonly hasUnpricedLots: boolean
  /** The tag of the fill that opened the trade; empty: none. */
  readonly entryTag: string
}

const NO_LOTS: LotSum = { lots: 0, value: 0 }

interface LotsCause {
  /** Unix ms. */
  readonly at: number
  readonly reasonFor: (strategyId: string) => ExitReason
  /** Absent: no fill moved the lots. */
  readonly fill?: BookedFill
}

/**
 * Folds fills and funding payments, in booking order, into the trades of strategies, by the book's
 * count ({@link OwnProfits}). Events of an instrument wait while a fill waits for its order. A
 * payment is shared by what each strategy held when it was read.
 */
export class TradeFold {
  readonly #options: TradeFoldOptions
  readonly #profits: OwnProfits
  readonly #open = new Map<string, OpenTrade>()
  /** A waiting fill, and the events behind it. */
  readonly #waiting = new Map<InstrumentSymbol, TradeMove[]>()

  constructor(options: TradeFoldOptions) {
    this.#options = options
    this.#profits = new OwnProfits(options.book)
  }

  add(event: TradeEvent): void {
    if (event.kind === 'owner') this.#settle(event)
    else this.#addMove(event)
  }

  #addMove(event: TradeMove): void {
    const waiting = this.#waiting.get(event.symbol)
    if (waiting !== undefined) waiting.push(event)
    else if (isWaiting(event)) this.#waiting.set(event.symbol, [event])
    else this.#apply(event)
  }

  /** Fills that still wait belong to no strategy. */
  finish(): void {
    const waiting = [...this.#waiting.values()].flat()
    this.#waiting.clear()
    for (const event of waiting) this.#apply(event)
  }

  get isWaiting(): boolean {
    return this.#waiting.size > 0
  }

  explains(
    strategyId: string,
    symbol: string,
    holdings: FilledBook['holdings'] = this.#options.book.holdings,
  ): boolean {
    return this.#profits.explains(`${strategyId}|${symbol}`, holdings)
  }

  #settle(found: BookedOwner): void {
    const { tradeId, orderId, owner, clientOid, strategyId, reason, tag } = found
    for (const [symbol, waiting] of this.#waiting) {
      const index = waiting.findIndex(
        (event) => event.kind === 'fill' && event.tradeId === tradeId && event.orderId === orderId,
      )
      const fill = waiting[index]
      if (fill?.kind !== 'fill') continue
      waiting[index] = { ...fill, owner, clientOid, strategyId, reason, tag }
      this.#waiting.delete(symbol)
      for (const event of waiting) this.#addMove(event)
      return
    }
  }

  #apply(event: TradeMove): void {
    if (event.kind === 'funding') return this.#applyFunding(event)
    if (event.kind === 'fill') {
      const cause: LotsCause = {
        at: event.at,
        fill: event,
        reasonFor: (strategyId) => this.#reasonOf(event, strategyId),
      }
      for (const share of this.#profits.add(event)) this.#applyShare(share, cause)
      return
    }
    const cause: LotsCause = { at: Math.round(event.at), reasonFor: () => 'adopted' }
    for (const share of this.#profits.apply(event)) this.#applyShare(share, cause)
  }

  #applyShare(share: OwnShare, cause: LotsCause): void {
    const { pair, before, after } = share
    const changes = HOLD_SIDES.map((side) => ({
      side,
      was: before[`${side}Lots`],
      is: after[`${side}Lots`],
    })).filter(({ was, is }) => was !== is)
    // The profit and fee of a fill count for the trade that it closes.
    const paying = changes.find(({ was, is }) => is < was) ?? changes[0]
    for (const { side, was, is } of changes) {
      const key = `${pair}|${side}`
      const known = this.#open.get(key) ?? beginTrade(cause.at, tagOf(cause, splitPair(pair)[0]))
      const moved = this.#moveLots(known, { was, is, side, share, cause })
      const trade = side === paying?.side ? addMoney(moved, share, cause) : moved
      if (closesSide(was, is)) {
        this.#open.delete(key)
        this.#options.onClosed(this.#toClosed(trade, { pair, side, cause }))
      } else this.#open.set(key, trade)
    }
  }

  #moveLots(trade: OpenTrade, { was, is, side, share, cause: { fill } }: SideChange): OpenTrade {
    const price = fill === undefined ? Number.NaN : Number(fill.price)
    const moved = {
      ...trade,
      coin: fill?.coin ?? trade.coin,
      peakLots: Math.max(trade.peakLots, is),
      fills: trade.fills + (fill === undefined ? 0 : 1),
    }
    if (is < was) return takeLots(moved, 'closed', { lots: was - is, price })
    // The price of lots without a fill follows from how they moved the average.
    const paid = fill === undefined ? this.#priceOf(share, { was, is, side }) : price
    return takeLots(moved, 'opened', { lots: is - was, price: paid })
  }

  #priceOf(
    { pair, before, after }: OwnShare,
    { was, is, side }: Pick<SideChange, 'was' | 'is' | 'side'>,
  ): number {
    const { tick = '1' } = this.#options.book.grids.get(splitPair(pair)[1]) ?? {}
    const ticks = (after[`${side}Ticks`] * is - before[`${side}Ticks`] * was) / (is - was)
    return floatOnGrid(createGrid(tick), ticks)
  }

  #applyFunding({ symbol, side, amount }: BookedFunding): void {
    const { positionMode } = this.#options.book
    const isHedge = positionMode === 'hedge_mode'
    const account = this.#profits.holdingOf(symbol)
    const lotsOf = ({ longLots, shortLots }: typeof account): number => {
      if (!isHedge) return longLots - shortLots
      return side === 'long' ? longLots : shortLots
    }
    const all = lotsOf(account)
    if (all === 0) return
    for (const [key, trade] of this.#open) {
      const [strategyId = '', traded, held] = key.split('|')
      if (traded !== symbol || (isHedge && held !== side)) continue
      const part = lotsOf(this.#profits.holdingOf(symbol, strategyId)) / all
      const funding = part === 1 ? decimal(amount) : roundMoney(Number(amount) * part)
      this.#open.set(key, { ...trade, funding: trade.funding.plus(funding) })
    }
  }

  #reasonOf(
    { owner, strategyId, clientOid, fillKind, source, reason }: BookedFill,
    of: string,
  ): ExitReason {
    if (owner === 'strategy') {
      if (strategyId !== of) return 'otherStrategy'
      // Before layout 8 only the order has the reason, which the book forgets after a week.
      if (isExitReason(reason)) return reason
      return this.#options.purposeOf(clientOid) ?? 'order'
    }
    return REASON_OF_KIND[fillKind] ?? (source === 'SYS' ? 'system' : 'byHand')
  }

  #toClosed(
    trade: OpenTrade,
    {
      pair,
      side,
      cause,
    }: { readonly pair: string; readonly side: HoldSide; readonly cause: LotsCause },
  ): ClosedTrade {
    const [strategyId, symbol] = splitPair(pair)
    const { lot = '1', isInverse } = this.#options.book.grids.get(symbol) ?? {}
    const { openedAt, peakLots, gross, fees, funding, booked, hasUnpricedLots } = trade
    const net = gross.minus(fees).plus(funding)
    const entry = meanPrice(trade.opened)
    const sizes = createGrid(lot)
    const size = floatOnGrid(sizes, peakLots)
    const notional = isInverse ? size : size * (entry ?? Number.NaN)
    const share = Number(net.toString()) / notional
    const unpriced = hasUnpricedLots ? ['lots came or went at a price that is not known'] : []
    return {
      strategyId,
      symbol,
      side,
      openedAt,
      closedAt: Math.max(openedAt, cause.at),
      size: showOnGrid(sizes, peakLots),
      entryPrice: showPrice(entry),
      exitPrice: showPrice(meanPrice(trade.closed)),
      gross: gross.toString(),
      fees: fees.toString(),
      otherFees: Object.fromEntries(
        Object.entries(booked.otherFees ?? {}).map(([coin, { paid }]) => [coin, paid]),
      ),
      funding: funding.toString(),
      net: net.toString(),
      coin: trade.coin,
      share: Number.isFinite(share) ? Number(share.toPrecision(DIGITS)) : null,
      fills: trade.fills,
      reason: cause.reasonFor(strategyId),
      entryTag: trade.entryTag,
      exitTag: tagOf(cause, strategyId),
      uncounted: [describeUncounted(uncountedOf(booked)), ...unpriced].filter(Boolean).join('; '),
    }
  }
}

const REASON_OF_KIND: Readonly<Partial<Record<string, ExitReason>>> = {
  liquidation: 'liquidation',
  partialLiquidation: 'liquidation',
  netting: 'liquidation',
  delivery: 'delivery',
  autoDeleveraging: 'autoDeleveraging',
  takeProfit: 'takeProfit',
  stopLoss: 'stopLoss',
  system: 'system',
}

/** The tag that the strategy itself gave; empty: none. */
function tagOf({ fill }: Pick<LotsCause, 'fill'>, strategyId: string): string {
  return fill?.owner === 'strategy' && fill.strategyId === strategyId ? fill.tag : ''
}

function isWaiting(event: TradeMove): boolean {
  return event.kind === 'fill' && event.owner === 'waiting'
}

function beginTrade(openedAt: number, entryTag: string): OpenTrade {
  return {
    openedAt,
    entryTag,
    coin: '',
    peakLots: 0,
    opened: NO_LOTS,
    closed: NO_LOTS,
    gross: ZERO,
    fees: ZERO,
    funding: ZERO,
    booked: NO_MONEY,
    fills: 0,
    hasUnpricedLots: false,
  }
}

interface SideChange {
  readonly was: number
  readonly is: number
  readonly side: HoldSide
  readonly share: OwnShare
  readonly cause: LotsCause
}

function takeLots(
  trade: OpenTrade,
  what: 'opened' | 'closed',
  { lots, price }: { readonly lots: number; readonly price: number },
): OpenTrade {
  if (Number.isNaN(price)) return { ...trade, hasUnpricedLots: true }
  const sum = { lots: trade[what].lots + lots, value: trade[what].value + lots * price }
  return { ...trade, [what]: sum }
}

function addMoney(
  trade: OpenTrade,
  { pair, profit, fees }: OwnShare,
  { fill }: LotsCause,
): OpenTrade {
  const counted = { ...trade, gross: trade.gross.plus(profit), fees: trade.fees.plus(fees) }
  if (fill === undefined) return counted
  return { ...counted, booked: addFill(trade.booked, partOf(fill, pair, fees)) }
}

/** If a fill closed lots of several strategies, each pays its part of the fee. */
function partOf(fill: BookedFill, pair: string, fees: Decimal): FillMoney {
  const money = { ...toFillMoney(fill), profit: '0' }
  const { otherFees } = money
  if (otherFees === undefined || fill.strategyId === splitPair(pair)[0]) return money
  const whole = Number(feeOf(money).toString())
  const part = whole === 0 ? 1 : Number(fees.toString()) / whole
  return {
    ...money,
    otherFees: otherFees.map((fee) => ({
      ...fee,
      amount: roundMoney(Number(fee.amount) * part).toString(),
    })),
  }
}

function meanPrice({ lots, value }: LotSum): number | undefined {
  return lots === 0 ? undefined : value / lots
}

function showPrice(price: number | undefined): string | null {
  return price === undefined ? null : decimal(price.toPrecision(DIGITS)).toString()
}
