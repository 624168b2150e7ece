import type { ExitKind } from './exits.ts'
import type { OrderAction } from './order-action.ts'

/**
 * A wish says what it means, so that the wire's traps cannot be written: no side and trade side to
 * mix up, no prices off the grid, no cancel of other strategies' orders. Ticks and lots.
 */
export type Intent = PlaceIntent | QuoteIntent | TargetIntent | CancelAllIntent | AccountCallIntent

/** Each is made once for its key, and repeated until answered. */
export type AccountCallIntent = ModifyTriggerIntent | CancelMarginIntent | CopySettingsIntent

/** Only shown, with its order, fills and closed trade; such as `breakout`. */
export type Tag = string

export const TAG_LENGTH_MAX = 40

export type Force = 'gtc' | 'ioc' | 'fok' | 'post_only'

export interface PlaceIntent {
  readonly kind: 'place'
  readonly symbol: string
  /**
   * Names this decision deterministically, such as `bar:1700000000:entry`. A repeated key is the
   * same order, so it is dropped.
   */
  readonly key: string
  readonly action: OrderAction
  readonly lots: number
  readonly ticks?: number
  /** Default `gtc` for a limit order; a market order has none. */
  readonly force?: Force
  readonly takeProfitTicks?: number
  readonly stopLossTicks?: number
  /** Default: as long as the data of the decision are fresh. */
  readonly ttlMs?: number
  readonly tag?: Tag
}

export interface QuoteLevel {
  readonly side: 'buy' | 'sell'
  readonly ticks: number
  readonly lots: number
  readonly tag?: Tag
}

/**
 * "These, and only these, orders shall rest on this instrument", until the next quote. In hedge
 * mode a buy closes the strategy's short before it opens a long.
 */
export interface QuoteIntent {
  readonly kind: 'quote'
  readonly symbol: string
  readonly levels: readonly QuoteLevel[]
}

/**
 * "I want this position", until the next target: positive long, negative short, the strategy's own
 * alone.
 */
export interface TargetIntent {
  readonly kind: 'target'
  readonly symbol: string
  readonly lots: number
  /** While the lots stay the same, the first tag counts. */
  readonly tag?: Tag
}

/** Waiting quotes and places are withdrawn; a target stays. */
export interface CancelAllIntent {
  readonly kind: 'cancelAll'
  readonly symbol: string
}

/** `null` removes a price, an absent one stays. */
export interface ModifyTriggerIntent {
  readonly kind: 'modifyTrigger'
  readonly symbol: string
  readonly orderId: string
  readonly key: string
  readonly triggerTicks?: number
  readonly takeProfitTicks?: number | null
  readonly stopLossTicks?: number | null
}

/** Isolated margin: orders by either id, or all. */
export interface CancelMarginIntent {
  readonly kind: 'cancelMargin'
  readonly symbol: string
  readonly key: string
  readonly orders?: readonly { readonly orderId?: string; readonly clientOid?: string }[]
}

/** Ratios at which copies close: 1 to 400; `null` cancels one. */
export interface CopySettingsIntent {
  readonly kind: 'copySettings'
  readonly symbol: string
  readonly key: string
  readonly change: 'ADD' | 'DELETE' | 'UPDATE'
  readonly takeProfitRatio?: number | null
  readonly stopLossRatio?: number | null
}

/** It decides when the order is stale and what replaces it. */
export type OrderPurpose = 'place' | 'quote' | 'target' | 'flatten'

export interface OrderIntent {
  readonly strategyId: string
  readonly symbol: string
  readonly purpose: OrderPurpose
  readonly key: string
  readonly action: OrderAction
  readonly lots: number
  readonly ticks: number | undefined
  readonly force: Force
  readonly takeProfitTicks: number | undefined
  readonly stopLossTicks: number | undefined
  readonly deadlineAt: number
  readonly exit?: ExitKind
  readonly tag?: Tag
}
