import { type BookOrder, type Direction, type Force, type StpMode } from '../../matching/book-order.ts'

/** Which position an order works on: hedge mode has two a symbol, one-way mode one net position. */
export type PositionSlot = 'long' | 'short' | 'net'
export type MarginMode = 'isolated' | 'crossed'

/** What is asked for, after validation. Sizes in lots, prices in ticks. */
export interface OrderTerms {
  readonly uid: string
  readonly symbol: string
  readonly clientOid: string | undefined
  readonly direction: Direction
  readonly slot: PositionSlot
  /** Hedge mode: as asked. One-way mode: `net`, the fill decides. */
  readonly action: 'open' | 'close' | 'net'
  readonly reduceOnly: boolean
  readonly marginMode: MarginMode
  readonly orderType: 'limit' | 'market'
  readonly force: Force
  readonly stpMode: StpMode
  /** 0 for a market order. */
  readonly priceTicks: number
  readonly lots: number
  readonly takeProfit: PositionTrigger | undefined
  readonly stopLoss: PositionTrigger | undefined
  readonly source: 'API' | 'SYS'
  /** The fill's `tradeSide` where the system closes: `burst_close_long` and others. */
  readonly systemTradeSide: string | undefined
}

/** A take-profit or stop-loss of a position. Without an execution price it closes by market order. */
export interface PositionTrigger {
  readonly triggerTicks: number
  readonly triggerType: 'fill_price' | 'mark_price'
  readonly executeTicks: number | undefined
}

/** Its sequence makes the wire's id of it: {@link orderIdText}. */
export interface Order extends Omit<OrderTerms, 'clientOid' | 'lots'>, BookOrder {
  readonly clientOid: string
  /** Cut when a reduce-only order exceeds its position. */
  lots: number
  filledLots: number
  /** When it enters matching. */
  readonly dueAt: number
}

/** 18 digits: longer than a float holds exactly, so that a client which parses ids as numbers is found out. */
export function orderIdText(sequence: number): string {
  return `11${String(sequence).padStart(16, '0')}`
}

export function tradeIdText(sequence: number): string {
  return `12${String(sequence).padStart(16, '0')}`
}

/** The sequence behind an id text; undefined when it is no id of that kind. */
export function sequenceOfId(prefix: '11' | '12', text: string): number | undefined {
  if (text.length !== 18 || !text.startsWith(prefix)) return undefined
  return Number(text.slice(2))
}

export function remainingLots(order: Order): number {
  return order.lots - order.filledLots
}

function oppositeOf(direction: Direction): Direction {
  return direction === 'buy' ? 'sell' : 'buy'
}

/**
 * The wire's `side`. Document, direction rules in hedge mode: close long = buy, close short = sell, so the
 * side is the direction of the position. In one-way mode it is the direction of the trade.
 */
export function wireSide(slot: PositionSlot, direction: Direction): Direction {
  if (slot === 'net') return direction
  return slot === 'long' ? 'buy' : 'sell'
}

/** The reverse of {@link wireSide}: how a wire order trades. */
export function tradeDirection(side: Direction, action: 'open' | 'close' | 'net'): Direction {
  return action === 'close' ? oppositeOf(side) : side
}
