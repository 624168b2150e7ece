import type { ExitKind } from './exits.ts'
import type { OrderAction } from './order-action.ts'

/**
 * An intent cannot mix up side and trade side, name a price off the grid, or cancel other
 * strategies' orders. Prices are ticks, sizes are lots.
 */
export type Intent = PlaceIntent | QuoteIntent | TargetIntent | CancelAllIntent | AccountCallIntent

/** A call is made once for its key, and repeated until it is answered. */
export type AccountCallIntent = ModifyTriggerIntent | CancelMarginIntent | CopySettingsIntent

/** A word such as `breakout`, shown with the order, its fills and its closed trade. */
export type Tag = string

export const TAG_LENGTH_MAX = 40

export type Force = 'gtc' | 'ioc' | 'fok' | 'post_only'

export interface PlaceIntent {
  readonly kind: 'place'
  readonly symbol: string
  /** Names the decision, such as `bar:1700000000:entry`. A repeated key is dropped as the same order. */
  readonly key: string
  readonly action: OrderAction
  readonly lots: number
  readonly ticks?: number
  /** Default: `gtc`. A market order has none. */
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
 * Until the next quote, these orders and no others rest on the instrument. In hedge mode a buy
 * closes the strategy's short before it opens a long.
 */
export interface QuoteIntent {
  readonly kind: 'quote'
  readonly symbol: string
  readonly levels: readonly QuoteLevel[]
}

/** Until the next target, the strategy wants this position of its own; negative lots are a short. */
export interface TargetIntent {
  readonly kind: 'target'
  readonly symbol: string
  readonly lots: number
  /** While the lots stay the same, the first tag counts. */
  readonly tag?: Tag
}

/** Withdraws quotes and places; a target stays. */
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

/** Cancels orders on isolated margin, by either id, or all. */
export interface CancelMarginIntent {
  readonly kind: 'cancelMargin'
  readonly symbol: string
  readonly key: string
  readonly orders?: readonly { readonly orderId?: string; readonly clientOid?: string }[]
}

/** The ratios at which copies close are 1 to 400; `null` cancels one. */
export interface CopySettingsIntent {
  readonly kind: 'copySettings'
  readonly symbol: string
  readonly key: string
  readonly change: 'ADD' | 'DELETE' | 'UPDATE'
  readonly takeProfitRatio?: number | null
  readonly stopLossRatio?: number | null
}

/** Decides when an order is stale, and what replaces it. */
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
