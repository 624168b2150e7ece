import { exponential } from '../../lib/random.ts'
import { EMPTY_QUOTE, type MutableQuote, type Quote } from '../market/market.ts'
import type { Direction } from './book-order.ts'
import type { FillModel, MatchingRules } from './fill-model.ts'

export interface DisplayedMarket extends MutableQuote {
  at: number
  previousAt: number
  lowTicks: number
  highTicks: number
  readonly taken: TakenLots
}

export interface TakenLots {
  at: number
  candle: number
  askLots: number
  bidLots: number
  tradedLots: number
  candleLots: number
  quoteLots: number
}

export function createTaken(): TakenLots {
  return { at: 0, candle: 0, askLots: 0, bidLots: 0, tradedLots: 0, candleLots: 0, quoteLots: 0 }
}

export function createDisplayedMarket(taken = createTaken()): DisplayedMarket {
  return { ...EMPTY_QUOTE, lowTicks: 0, highTicks: 0, at: 0, previousAt: 0, taken }
}

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

function recover(taken: TakenLots, { recoveryMs }: FillModel, elapsedMs: number): void {
  const keep = recoveryMs === 0 ? 0 : exponential((-LN2 * elapsedMs) / recoveryMs)
  const left = (lots: number): number => (lots * keep < 1 ? 0 : lots * keep)
  taken.askLots = left(taken.askLots)
  taken.bidLots = left(taken.bidLots)
}

export function allowedLots(market: DisplayedMarket, model: FillModel): number {
  const ofCandle = market.candleLots * model.participation
  const left = Math.min(
    ofCandle - market.taken.candleLots,
    ofCandle * model.participationAtOnce - market.taken.quoteLots,
  )
  return Math.max(0, Math.floor(left))
}

/** Level 0 is the best; each is `levelTicks` worse than the one before. */
export function levelTicksAt(market: DisplayedMarket, direction: Direction, level: number): number {
  const away = level * market.levelTicks
  return direction === 'buy' ? market.askTicks + away : Math.max(1, market.bidTicks - away)
}

export function depthUpTo(market: DisplayedMarket, direction: Direction, level: number): number {
  const displayed = direction === 'buy' ? market.askLots : market.bidLots
  const taken = direction === 'buy' ? market.taken.askLots : market.taken.bidLots
  return Math.max(0, Math.floor(displayed * (level + 1) - taken))
}

export function firstLevel(market: DisplayedMarket, direction: Direction): number {
  const displayed = direction === 'buy' ? market.askLots : market.bidLots
  const taken = direction === 'buy' ? market.taken.askLots : market.taken.bidLots
  return Math.floor(taken / displayed)
}

export function takeDepth(market: DisplayedMarket, direction: Direction, lots: number): void {
  if (direction === 'buy') market.taken.askLots += lots
  else market.taken.bidLots += lots
}

export function countTaken(market: DisplayedMarket, lots: number): void {
  market.taken.candleLots += lots
  market.taken.quoteLots += lots
}

export function reachesMarket(
  market: Pick<DisplayedMarket, 'at' | 'askTicks' | 'bidTicks'>,
  { direction, priceTicks }: { readonly direction: Direction; readonly priceTicks: number },
): boolean {
  if (market.at === 0) return false
  return direction === 'buy' ? priceTicks >= market.askTicks : priceTicks <= market.bidTicks
}
