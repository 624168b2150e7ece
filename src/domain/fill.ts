import type { OrderId, TradeId } from './ids.ts'

/** One execution against one of the account's orders, or one that the system made. Document: Futures fill. */
export interface Fill {
  readonly tradeId: TradeId
  readonly orderId: OrderId
  readonly symbol: string
  readonly side: 'buy' | 'sell'
  /** `open` or `close` whatever prefix the wire had; in one-way mode it carries no meaning of its own. */
  readonly tradeSide: 'open' | 'close'
  readonly ticks: number
  readonly lots: number
  /** Decimal string in the margin coin; a positive fee was paid, a negative one received. */
  readonly fee: string
  /** Decimal string in the margin coin: what this fill realised. */
  readonly profit: string
  readonly scope: 'taker' | 'maker'
  /** `API` for ours; `SYS` for liquidation and delivery; others are a person's. Upper case. */
  readonly source: string
  /** Unix ms, exchange clock. */
  readonly filledAt: number
}

/** A row of fills that could not be read. */
export interface UnreadableFill {
  readonly tradeId: string
  readonly symbol: string
  readonly problem: string
}

/** What one complete read of the fills said: every fill of the product type since `sinceAt`. */
export interface FillsReading {
  /** Oldest first. */
  readonly fills: readonly Fill[]
  /** Rows that could not be read: for their instruments the reading is not complete (MKT4). Absent: none. */
  readonly unreadable?: readonly UnreadableFill[]
  /** Unix ms, exchange clock: where the read began. */
  readonly sinceAt: number
  /** Unix ms, our clock, when the first page was asked for: what happened later may be missing. */
  readonly requestedAt: number
  /** Unix ms, exchange clock: the same moment (`requestTime` of the first page's envelope). */
  readonly exchangeTime: number
}
