import type { BookOrder, Direction, Force, StpMode } from '../../matching/book-order.ts'
import { idText } from '../../shared/order-sequence.ts'
import type { OrderReference } from '../../shared/reply.ts'

/**
 * The position an order affects: hedge mode has two for each symbol, one-way mode one net position.
 */
export type PositionSlot = 'long' | 'short' | 'net'
export type MarginMode = 'isolated' | 'crossed'

/** The validated terms of an order. Sizes in lots, prices in ticks. */
export interface OrderTerms extends PositionExits {
  readonly uid: string
  readonly symbol: string
  readonly clientOid: string | undefined
  readonly direction: Direction
  readonly slot: PositionSlot
  /** Hedge mode: as requested. One-way mode: `net`, and the fill decides. */
  readonly action: 'open' | 'close' | 'net'
  readonly reduceOnly: boolean
  readonly marginMode: MarginMode
  readonly orderType: 'limit' | 'market'
  readonly force: Force
  readonly stpMode: StpMode
  /** 0 for a market order. */
  readonly priceTicks: number
  /** The last price that triggered it; 0 for none. */
  readonly triggerTicks: number
  readonly lots: number
  readonly source: 'API' | 'SYS'
  /** The fill's `tradeSide` if the system closes: `burst_close_long` and others. */
  readonly systemTradeSide: string | undefined
}

/** Defaults for orders that no request made. */
export const UNSAID = {
  clientOid: undefined,
  force: 'gtc',
  stpMode: 'none',
  takeProfit: undefined,
  stopLoss: undefined,
  triggerTicks: 0,
  source: 'API',
  systemTradeSide: undefined,
} as const

/**
 * A take-profit or stop-loss of a position. Without an execution price it closes by market order.
 */
export interface PositionTrigger {
  readonly triggerTicks: number
  readonly triggerType: TriggerType
  readonly executeTicks: number | undefined
}

/** The watched price: the latest trade, or the mark price. */
export type TriggerType = 'fill_price' | 'mark_price'

export interface PositionExits {
  readonly takeProfit: PositionTrigger | undefined
  readonly stopLoss: PositionTrigger | undefined
}

/** An order; its wire id follows from its sequence: {@link orderIdText}. */
export interface Order extends Omit<OrderTerms, 'clientOid' | 'lots'>, BookOrder {
  readonly clientOid: string
  /** Reduced if a reduce-only order exceeds its position. */
  lots: number
  filledLots: number
  /** When it enters matching, Unix ms. */
  readonly dueAt: number
}

export function orderIdText(sequence: number): string {
  return idText('order', sequence)
}

export function tradeIdText(sequence: number): string {
  return idText('trade', sequence)
}

/** The sequence in an order's id; undefined if it is no such id. */
export function sequenceOfId(text: string): number | undefined {
  return text.length === 18 && text.startsWith('11') ? Number(text.slice(2)) : undefined
}

export function referenceOf(order: Pick<Order, 'sequence' | 'clientOid'>): OrderReference {
  return { orderId: orderIdText(order.sequence), clientOid: order.clientOid }
}

export function remainingLots(order: Order): number {
  return order.lots - order.filledLots
}

export function remainingLotsOf(orders: readonly Order[]): number {
  return orders.reduce((sum, order) => sum + remainingLots(order), 0)
}

export function mayOpen({
  action,
  reduceOnly,
}: Pick<OrderTerms, 'action' | 'reduceOnly'>): boolean {
  return action !== 'close' && !reduceOnly
}

/** Whether a trade in this direction reduces a position. */
export function reduces(
  { direction }: { direction: Direction },
  position: { holdSide: 'long' | 'short' },
): boolean {
  return (position.holdSide === 'long') === (direction === 'sell')
}

/**
 * The wire's `side`. Document, direction rules in hedge mode: close long = buy, close short = sell,
 * so the side is the direction of the position. In one-way mode it is the direction of the trade.
 */
export function wireSide({ slot, direction }: Pick<OrderTerms, 'slot' | 'direction'>): Direction {
  if (slot === 'net') return direction
  return slot === 'long' ? 'buy' : 'sell'
}

/** The reverse of {@link wireSide}: the direction in which a wire order trades. */
export function tradeDirection(side: Direction, action: 'open' | 'close'): Direction {
  if (action === 'open') return side
  return side === 'buy' ? 'sell' : 'buy'
}
