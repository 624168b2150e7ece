import { exponential } from '../../lib/random.ts'
import { EMPTY_QUOTE, type MutableQuote, type Quote } from '../market/market.ts'
import type { Direction } from './book-order.ts'
import type { FillModel, MatchingRules } from './fill-model.ts'

/**
 * What is displayed of a market, and what orders have taken of it. Nothing else of it reacts to them: accounts never
 * meet each other. All zero before the first quote.
 */
export interface DisplayedMarket extends MutableQuote {
  /** When this quote and the one before it came, Unix ms; 0 before the first. */
  at: number
  previousAt: number
  /** On the way here from the quote before: `lastTicks`, where nobody knows more. */
  lowTicks: number
  highTicks: number
  readonly taken: Taken
}

/** What orders have taken of a market as of one of its quotes. */
export interface Taken {
  /** Of the quote, Unix ms, and its candle. */
  at: number
  candle: number
  /** Of the asks and of the bids, walked levels included; it comes back with time. */
  askLots: number
  bidLots: number
  /** Of the trades at `lastTicks`, of this quote alone. */
  tradedLots: number
  /** In all ways: in this candle, and at this quote. */
  candleLots: number
  quoteLots: number
}

export function createTaken(): Taken {
  return { at: 0, candle: 0, askLots: 0, bidLots: 0, tradedLots: 0, candleLots: 0, quoteLots: 0 }
}

/** @param taken Of a market that is displayed more than once: the same of all. */
export function createDisplayedMarket(taken = createTaken()): DisplayedMarket {
  return { ...EMPTY_QUOTE, lowTicks: 0, highTicks: 0, at: 0, previousAt: 0, taken }
}

/** Takes in the next quote. @param at Unix ms of the exchange's clock. */
export function showQuote(
  market: DisplayedMarket,
  quote: Quote,
  at: number,
  { model, speed }: MatchingRules,
): void {
  const { taken } = market
  if (taken.at !== at) {
    if (taken.askLots > 0 || taken.bidLots > 0) recover(taken, model, (at - taken.at) * speed)
    if (quote.candle !== taken.candle) taken.candleLots = 0
    taken.tradedLots = 0
    taken.quoteLots = 0
    taken.candle = quote.candle
    taken.at = at
  }
  market.bidTicks = quote.bidTicks
  market.askTicks = quote.askTicks
  market.bidLots = quote.bidLots
  market.askLots = quote.askLots
  market.lastTicks = quote.lastTicks
  market.tradedLots = quote.tradedLots
  market.lowTicks = quote.lowTicks ?? quote.lastTicks
  market.highTicks = quote.highTicks ?? quote.lastTicks
  market.levelTicks = quote.levelTicks
  market.candle = quote.candle
  market.candleLots = quote.candleLots
  market.previousAt = market.at
  market.at = at
}

const LN2 = 0.6931471805599453

function recover(taken: Taken, { recoveryMs }: FillModel, elapsedMs: number): void {
  const keep = recoveryMs === 0 ? 0 : exponential((-LN2 * elapsedMs) / recoveryMs)
  const left = (lots: number): number => (lots * keep < 1 ? 0 : lots * keep)
  taken.askLots = left(taken.askLots)
  taken.bidLots = left(taken.bidLots)
}

/** What all orders together may still have of this candle, at this quote. */
export function allowedLots(market: DisplayedMarket, model: FillModel): number {
  const ofCandle = market.candleLots * model.participation
  const left = Math.min(
    ofCandle - market.taken.candleLots,
    ofCandle * model.participationAtOnce - market.taken.quoteLots,
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
  const taken = direction === 'buy' ? market.taken.askLots : market.taken.bidLots
  return Math.max(0, Math.floor(displayed * (level + 1) - taken))
}

/** The first level that is not taken whole. */
export function firstLevel(market: DisplayedMarket, direction: Direction): number {
  const displayed = direction === 'buy' ? market.askLots : market.bidLots
  const taken = direction === 'buy' ? market.taken.askLots : market.taken.bidLots
  return Math.floor(taken / displayed)
}

/** Of the levels of the other side. */
export function takeDepth(market: DisplayedMarket, direction: Direction, lots: number): void {
  if (direction === 'buy') market.taken.askLots += lots
  else market.taken.bidLots += lots
}

/** Whatever an order got, in whichever way. */
export function countTaken(market: DisplayedMarket, lots: number): void {
  market.taken.candleLots += lots
  market.taken.quoteLots += lots
}

/** Whether a limit price takes from what is displayed. */
export function reachesMarket(
  market: Pick<DisplayedMarket, 'at' | 'askTicks' | 'bidTicks'>,
  { direction, priceTicks }: { readonly direction: Direction; readonly priceTicks: number },
): boolean {
  if (market.at === 0) return false
  return direction === 'buy' ? priceTicks >= market.askTicks : priceTicks <= market.bidTicks
}
