import type { ClientOid, OrderId, StrategyId, TradeId } from './ids.ts'

/**
 * The cause of an execution. All but `trade` are made by the exchange's system. Document: Futures fill, `tradeSide`.
 *
 * - `trade`: an order met another, placed by the daemon or not
 * - `liquidation`: the position was liquidated (`burst_`)
 * - `partialLiquidation`: a part of it was, to bring the margin back (`reduce_close_`, `reduce_…_single`)
 * - `netting`: a part of it was, against the other side (`offset_`)
 * - `delivery`: the contract was delivered (`delivery_`)
 * - `autoDeleveraging`: closed against the liquidation of another account (`dte_sys_adl_`)
 * - `takeProfit`, `stopLoss`: an exit of ours that the exchange keeps; recognised by the prices that our orders have set ({@link Fill.exit})
 * - `system`: another act of the exchange's system, under an unknown word ({@link Fill.systemWord})
 */
export const FILL_KINDS = [
  'trade',
  'liquidation',
  'partialLiquidation',
  'netting',
  'delivery',
  'autoDeleveraging',
  'takeProfit',
  'stopLoss',
  'system',
] as const

export type FillKind = (typeof FILL_KINDS)[number]

/** Whether the exchange closed the position because the margin did not suffice. */
export function isLiquidation({ fillKind }: Pick<Fill, 'fillKind'>): boolean {
  return fillKind === 'liquidation' || fillKind === 'partialLiquidation' || fillKind === 'netting'
}

/** A fee in another coin than the margin coin. Decimal string; a positive fee was paid. */
export interface CoinFee {
  readonly coin: string
  readonly amount: string
  /**
   * Price of the coin in the margin coin when the fill became known. Absent: no price was known, so
   * the fee is not counted.
   */
  readonly price?: string
}

/**
 * One execution against one of the account's orders, or one that the exchange's system made.
 * Document: Futures fill.
 */
export interface Fill {
  readonly tradeId: TradeId
  readonly orderId: OrderId
  readonly symbol: string
  readonly side: 'buy' | 'sell'
  /** `open` or `close`, without the wire's prefix; in one-way mode it has no meaning. */
  readonly tradeSide: 'open' | 'close'
  readonly ticks: number
  readonly lots: number
  /** Absent: written by a version that did not distinguish the kinds. */
  readonly fillKind?: FillKind
  /**
   * For a take-profit or stop-loss: the order that set it last, its strategy, and the price that
   * was set.
   */
  readonly exit?: {
    readonly clientOid: ClientOid
    readonly strategyId: StrategyId
    readonly price: string
  }
  /** The wire's trade side, if it is a word that we do not know. */
  readonly systemWord?: string
  /**
   * Decimal string in the margin coin; a positive fee was paid, a negative one received. Absent:
   * not known (MON2).
   */
  readonly fee?: string
  /** Fees taken in other coins, each coin once; absent: none. They are not part of `fee`. */
  readonly otherFees?: readonly CoinFee[]
  /**
   * Decimal string in the margin coin: the profit that this fill realised. Absent: not known
   * (MON2).
   */
  readonly profit?: string
  /** The exchange did not state the profit: it was computed from the prices of our own fills. */
  readonly isProfitOurs?: true
  readonly scope: 'taker' | 'maker'
  /**
   * Upper case: `API` for our orders; `SYS` for liquidation and delivery; others are orders made by
   * hand.
   */
  readonly source: string
  /** Unix ms, exchange clock. */
  readonly filledAt: number
}

/** Identifies a fill. A tradeId alone does not: the two fills of a self-trade share it. */
export function fillKey({
  tradeId,
  orderId,
}: Readonly<Record<'tradeId' | 'orderId', string>>): string {
  return `${tradeId}|${orderId}`
}

/**
 * Sources that an order of the daemon never has: the exchange's apps and website, or the exchange
 * itself.
 */
const OTHER_SOURCES: ReadonlySet<string> = new Set(['WEB', 'ANDROID', 'IOS', 'APP', 'SYS'])

/**
 * Whether the source alone proves that a fill is not ours. Any other source, or none, proves
 * nothing: an answer without a source may be about an order of ours.
 */
export function isOfOthers({ source }: Pick<Fill, 'source'>): boolean {
  return OTHER_SOURCES.has(source)
}

/** A row of fills that could not be read. */
export interface UnreadableFill {
  /** Empty if the row has none. */
  readonly tradeId: string
  /** Empty if the row has none. */
  readonly orderId: string
  /** `*` if the row has none: it may be of any instrument. */
  readonly symbol: string
  readonly problem: string
}

/** The result of one complete read of the fills: every fill of the product type since `sinceAt`. */
export interface FillsReading {
  /** Oldest first. */
  readonly fills: readonly Fill[]
  /**
   * Rows that could not be read: for their instruments the reading is incomplete (MKT4). Absent:
   * none.
   */
  readonly unreadable?: readonly UnreadableFill[]
  /** Unix ms, exchange clock: the start of the range that was read. */
  readonly sinceAt: number
  /** Unix ms, our clock, when the first page was requested: later fills may be missing. */
  readonly requestedAt: number
  /** Unix ms, exchange clock: the same moment (`requestTime` of the first page's envelope). */
  readonly exchangeTime: number
}
