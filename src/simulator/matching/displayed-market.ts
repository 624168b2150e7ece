import { exponential } from '../../lib/random.ts'
import { type Quote } from '../market/market.ts'
import { type Direction } from './book-order.ts'
import { type FillModel, type MatchingRules } from './fill-model.ts'

type MutableQuote = { -readonly [Field in keyof Quote]: Quote[Field] }

/**
 * What is displayed of a market, and what orders have taken of it. Nothing else of it reacts to them: accounts never
 * meet each other. All zero before the first quote.
 */
export interface DisplayedMarket extends MutableQuote {
  /** When this quote and the one before it came, Unix ms; 0 before the first. */
  at: number
  previousAt: number
  /** Taken of the asks and of the bids, walked levels included; it comes back with time. */
  takenAskLots: number
  takenBidLots: number
  /** Taken of the trades at `lastTicks`, of this quote alone. */
  takenTradedLots: number
  /** Taken in all ways: in this candle, and at this quote. */
  takenCandleLots: number
  takenQuoteLots: number
}

export function createDisplayedMarket(): DisplayedMarket {
  return {
    ...{ bidTicks: 0, askTicks: 0, bidLots: 0, askLots: 0, lastTicks: 0, tradedLots: 0 },
    ...{ levelTicks: 1, candle: 0, candleLots: 0, at: 0, previousAt: 0 },
    ...{ takenAskLots: 0, takenBidLots: 0, takenTradedLots: 0, takenCandleLots: 0, takenQuoteLots: 0 },
  }
}

/** What orders had taken at a quote, for the store. */
export type Taken = Pick<
  DisplayedMarket,
  'at' | 'candle' | 'takenAskLots' | 'takenBidLots' | 'takenTradedLots' | 'takenCandleLots' | 'takenQuoteLots'
>

export function takenOf(market: DisplayedMarket): Taken {
  const { at, candle, takenAskLots, takenBidLots, takenTradedLots, takenCandleLots, takenQuoteLots } = market
  return { at, candle, takenAskLots, takenBidLots, takenTradedLots, takenCandleLots, takenQuoteLots }
}

/** Takes in the next quote. @param at Unix ms of the exchange's clock. */
export function showQuote(
  market: DisplayedMarket,
  quote: Quote,
  at: number,
  { model, speed }: MatchingRules,
): void {
  if (market.takenAskLots > 0 || market.takenBidLots > 0) recover(market, model, (at - market.at) * speed)
  if (quote.candle !== market.candle) market.takenCandleLots = 0
  market.bidTicks = quote.bidTicks
  market.askTicks = quote.askTicks
  market.bidLots = quote.bidLots
  market.askLots = quote.askLots
  market.lastTicks = quote.lastTicks
  market.tradedLots = quote.tradedLots
  market.levelTicks = quote.levelTicks
  market.candle = quote.candle
  market.candleLots = quote.candleLots
  market.previousAt = market.at
  market.at = at
  market.takenTradedLots = 0
  market.takenQuoteLots = 0
}

const LN2 = 0.6931471805599453

function recover(market: DisplayedMarket, { recoveryMs }: FillModel, elapsedMs: number): void {
  const keep = recoveryMs === 0 ? 0 : exponential((-LN2 * elapsedMs) / recoveryMs)
  const left = (lots: number): number => (lots * keep < 1 ? 0 : lots * keep)
  market.takenAskLots = left(market.takenAskLots)
  market.takenBidLots = left(market.takenBidLots)
}

/** What all orders together may still have of this candle, at this quote. */
export function allowedLots(market: DisplayedMarket, model: FillModel): number {
  const ofCandle = market.candleLots * model.participation
  const left = Math.min(
    ofCandle - market.takenCandleLots,
    ofCandle * model.participationAtOnce - market.takenQuoteLots,
  )
  return Math.max(0, Math.floor(left))
}

/** The price of a level of the other side, 0 the best: each is `levelTicks` worse than the one before. */
export function levelTicksAt(market: DisplayedMarket, direction: Direction, level: number): number {
  const away = level * market.levelTicks
  return direction === 'buy' ? market.askTicks + away : Math.max(1, market.bidTicks - away)
}

/** What is left of the levels up to this one; each is as deep as the best one. */
export function depthUpTo(market: DisplayedMarket, direction: Direction, level: number): number {
  const displayed = direction === 'buy' ? market.askLots : market.bidLots
  const taken = direction === 'buy' ? market.takenAskLots : market.takenBidLots
  return Math.max(0, Math.floor(displayed * (level + 1) - taken))
}

/** The first level that is not taken whole. */
export function firstLevel(market: DisplayedMarket, direction: Direction): number {
  const displayed = direction === 'buy' ? market.askLots : market.bidLots
  const taken = direction === 'buy' ? market.takenAskLots : market.takenBidLots
  return Math.floor(taken / displayed)
}

/** Of the levels of the other side. */
export function takeDepth(market: DisplayedMarket, direction: Direction, lots: number): void {
  if (direction === 'buy') market.takenAskLots += lots
  else market.takenBidLots += lots
}

/** Whatever an order got, in whichever way. */
export function countTaken(market: DisplayedMarket, lots: number): void {
  market.takenCandleLots += lots
  market.takenQuoteLots += lots
}

/** Whether a limit price takes from what is displayed. */
export function reachesMarket(
  market: Pick<DisplayedMarket, 'at' | 'askTicks' | 'bidTicks'>,
  { direction, priceTicks }: { readonly direction: Direction; readonly priceTicks: number },
): boolean {
  if (market.at === 0) return false
  return direction === 'buy' ? priceTicks >= market.askTicks : priceTicks <= market.bidTicks
}
