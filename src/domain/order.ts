import type { ExitKind } from './exits.ts'
import type { Force, OrderPurpose, Tag } from './intent.ts'
import type { ClientOid, OrderId, StrategyId } from './ids.ts'
import type { OrderAction } from './order-action.ts'

/**
 * Transitions: `execution/order-machine.ts`.
 *
 * - `queued`: known not to be at the exchange, to be sent
 * - `sent`: on the wire
 * - `live`: accepted
 * - `unknown`: may or may not exist
 * - `quarantined`: its fills contradict each other; an operator must look
 * - `done`: accepted and no longer live
 * - `rejected`: refused by the exchange
 * - `expired`: no longer wanted and never sent
 * - `absent`: proved never to have existed
 */
export type OrderState = (typeof OPEN_STATES | typeof TERMINAL_STATES)[number]

export const OPEN_STATES = ['queued', 'sent', 'live', 'unknown', 'quarantined'] as const

export const TERMINAL_STATES = ['filled', 'done', 'rejected', 'expired', 'absent'] as const

const TERMINAL: ReadonlySet<OrderState> = new Set(TERMINAL_STATES)

export interface OrderTerms {
  readonly clientOid: ClientOid
  readonly strategyId: StrategyId
  readonly symbol: string
  readonly purpose: OrderPurpose
  /** The key of the intent; `generation` numbers its orders, from 0. */
  readonly key: string
  readonly generation: number
  readonly action: OrderAction
  readonly lots: number
  readonly ticks?: number
  readonly force: Force
  readonly takeProfitTicks?: number
  readonly stopLossTicks?: number
  readonly deadlineAt: number
  readonly exit?: ExitKind
  readonly tag?: Tag
}

export interface Order {
  readonly terms: OrderTerms
  readonly state: OrderState
  readonly orderId: OrderId | undefined
  readonly filledLots: number
  /** Requests that may have carried it. */
  readonly attempts: number
  /** When the first and the last such request were signed; exchange clock. */
  readonly firstSentAt: number
  readonly lastSentAt: number
  /** A request that was signed then may still arrive; 0: none. */
  readonly unansweredAt: number
  readonly acceptedAt: number
  readonly endedAt: number
  readonly reason: string
}

export function isTerminal(order: Order): boolean {
  return TERMINAL.has(order.state)
}

export function openLots(order: Order): number {
  return isTerminal(order) ? 0 : Math.max(0, order.terms.lots - order.filledLots)
}

export function canRest(terms: {
  readonly ticks?: number | undefined
  readonly force: Force
}): boolean {
  return terms.ticks !== undefined && (terms.force === 'gtc' || terms.force === 'post_only')
}
