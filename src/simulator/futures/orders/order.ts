import type { ExchangeMarginMode } from '../../shared/account.ts'
import type { BookOrder, Direction, TimeInForce, StpMode } from '../../matching/book-order.ts'
import { idText } from '../../shared/order-sequence.ts'
import type { OrderReference } from '../../shared/reply.ts'

export type PositionSide = 'long' | 'short' | 'net'

export interface FuturesOrderTerms extends PositionExits {
  readonly uid: string
  readonly symbol: string
  readonly clientOid: string | undefined
  readonly direction: Direction
  readonly slot: PositionSide
  /** `net` in one-way mode, where the fill decides. */
  readonly action: 'open' | 'close' | 'net'
  readonly reduceOnly: boolean
  readonly marginMode: ExchangeMarginMode
  readonly orderType: 'limit' | 'market'
  readonly force: TimeInForce
  readonly stpMode: StpMode
  readonly priceTicks: number
  /** The last price that triggered it; 0 for none. */
  readonly triggerTicks: number
  readonly lots: number
  readonly source: 'API' | 'SYS'
  readonly systemTradeSide: string | undefined
}

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

export interface PositionTrigger {
  readonly triggerTicks: number
  readonly triggerType: TriggerType
  readonly executeTicks: number | undefined
}

export type TriggerType = 'fill_price' | 'mark_price'

export interface PositionExits {
  readonly takeProfit: PositionTrigger | undefined
  readonly stopLoss: PositionTrigger | undefined
}

export interface FuturesOrder extends Omit<FuturesOrderTerms, 'clientOid' | 'lots'>, BookOrder {
  readonly clientOid: string
  lots: number
  filledLots: number
  readonly dueAt: number
}

export function orderIdText(sequence: number): string {
  return idText('order', sequence)
}

export function tradeIdText(sequence: number): string {
  return idText('trade', sequence)
}

export function sequenceOfId(text: string): number | undefined {
  return text.length === 18 && text.startsWith('11') ? Number(text.slice(2)) : undefined
}

export function referenceOf(order: Pick<FuturesOrder, 'sequence' | 'clientOid'>): OrderReference {
  return { orderId: orderIdText(order.sequence), clientOid: order.clientOid }
}

export function remainingLots(order: FuturesOrder): number {
  return order.lots - order.filledLots
}

export function remainingLotsOf(orders: readonly FuturesOrder[]): number {
  return orders.reduce((sum, order) => sum + remainingLots(order), 0)
}

export function mayOpen({
  action,
  reduceOnly,
}: Pick<FuturesOrderTerms, 'action' | 'reduceOnly'>): boolean {
  return action !== 'close' && !reduceOnly
}

export function reduces(
  { direction }: { direction: Direction },
  position: { holdSide: 'long' | 'short' },
): boolean {
  return (position.holdSide === 'long') === (direction === 'sell')
}

/** On the wire the side of a close in hedge mode is the position's: closing a long is a buy. */
export function wireSide({
  slot,
  direction,
}: Pick<FuturesOrderTerms, 'slot' | 'direction'>): Direction {
  if (slot === 'net') return direction
  return slot === 'long' ? 'buy' : 'sell'
}

export function tradeDirection(side: Direction, action: 'open' | 'close'): Direction {
  if (action === 'open') return side
  return side === 'buy' ? 'sell' : 'buy'
}
