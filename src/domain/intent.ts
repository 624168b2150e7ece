import type { ExitKind } from './exits.ts'
import type { OrderAction } from './order-action.ts'

/**
 * A wish of a strategy. It is semantic, so that the wire's traps cannot be written: there are no
 * side and trade side to mix up, no prices off the grid, and no cancel of other strategies' orders.
 * Prices in ticks, sizes in lots.
 */
export type Intent = PlaceIntent | QuoteIntent | TargetIntent | CancelAllIntent | AccountCallIntent

/**
 * Calls on the account that place no order. Each is made once for its key and repeated until it is
 * answered.
 */
export type AccountCallIntent = ModifyTriggerIntent | CancelMarginIntent | CopySettingsIntent

/** Time in force. The wire calls it `force`. */
export type Force = 'gtc' | 'ioc' | 'fok' | 'post_only'

export interface PlaceIntent {
  readonly kind: 'place'
  readonly symbol: string
  /**
   * The strategy's deterministic name for this decision, such as `bar:1700000000:entry`. The same
   * key always means the same order: a repeated intent is dropped.
   */
  readonly key: string
  readonly action: OrderAction
  readonly lots: number
  /** Limit price; absent for a market order. */
  readonly ticks?: number
  /** Default `gtc` for a limit order; a market order has none. */
  readonly force?: Force
  /** Take-profit and stop-loss that the exchange keeps with the position. */
  readonly takeProfitTicks?: number
  readonly stopLossTicks?: number
  /**
   * How long the order may still be sent. Default: as long as the data of the decision are fresh.
   */
  readonly ttlMs?: number
}

/** One level of a ladder: a post-only order. */
export interface QuoteLevel {
  readonly side: 'buy' | 'sell'
  readonly ticks: number
  readonly lots: number
}

/**
 * "These, and only these, are the orders that I want resting on this instrument." It holds until
 * the next quote for the instrument. In hedge mode a buy closes the strategy's short before it
 * opens a long.
 */
export interface QuoteIntent {
  readonly kind: 'quote'
  readonly symbol: string
  readonly levels: readonly QuoteLevel[]
}

/**
 * "This is the position that I want": positive long, negative short, counting only the strategy's
 * own. It holds until the next target for the instrument.
 */
export interface TargetIntent {
  readonly kind: 'target'
  readonly symbol: string
  readonly lots: number
}

/**
 * No order of the strategy may rest on this instrument. Waiting quotes and places are withdrawn; a
 * target stays.
 */
export interface CancelAllIntent {
  readonly kind: 'cancelAll'
  readonly symbol: string
}

/** Changes a pending trigger order. `null` removes a price, an absent one stays. */
export interface ModifyTriggerIntent {
  readonly kind: 'modifyTrigger'
  readonly symbol: string
  readonly orderId: string
  readonly key: string
  readonly triggerTicks?: number
  readonly takeProfitTicks?: number | null
  readonly stopLossTicks?: number | null
}

/** Cancels isolated-margin orders on the instrument: those named by either id, or all. */
export interface CancelMarginIntent {
  readonly kind: 'cancelMargin'
  readonly symbol: string
  readonly key: string
  readonly orders?: readonly { readonly orderId?: string; readonly clientOid?: string }[]
}

/**
 * Whether the instrument may be copied, and the ratios at which copies close: 1 to 400; `null`
 * cancels one.
 */
export interface CopySettingsIntent {
  readonly kind: 'copySettings'
  readonly symbol: string
  readonly key: string
  readonly change: 'ADD' | 'DELETE' | 'UPDATE'
  readonly takeProfitRatio?: number | null
  readonly stopLossRatio?: number | null
}

/** The origin of an order: it decides when the order is stale and what replaces it. */
export type OrderPurpose = 'place' | 'quote' | 'target' | 'flatten'

/** One concrete order that an intent asks for, before the risk checks. */
export interface OrderIntent {
  readonly strategyId: string
  readonly symbol: string
  readonly purpose: OrderPurpose
  /** Names the decision within the strategy; the clientOid derives from it. */
  readonly key: string
  readonly action: OrderAction
  readonly lots: number
  /** Undefined for a market order. */
  readonly ticks: number | undefined
  readonly force: Force
  readonly takeProfitTicks: number | undefined
  readonly stopLossTicks: number | undefined
  /** Unix ms, our clock: the order is not sent after this. */
  readonly deadlineAt: number
  /** The exit of the strategy that it carries out. Absent: none. */
  readonly exit?: ExitKind
}
