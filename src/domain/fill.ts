import type { ClientOid, OrderId, StrategyId, TradeId } from './ids.ts'

/**
 * What made an execution. All but `trade` are the system's own doing. Document: Futures fill, `tradeSide`.
 *
 * - `trade`: an order met another, whoever placed it
 * - `liquidation`: the position was liquidated (`burst_`)
 * - `partialLiquidation`: a part of it was, to bring the margin back (`reduce_close_`, `reduce_…_single`)
 * - `netting`: a part of it was, against the other side (`offset_`)
 * - `delivery`: the contract was delivered (`delivery_`)
 * - `autoDeleveraging`: closed against somebody else's liquidation (`dte_sys_adl_`)
 * - `takeProfit`, `stopLoss`: an exit of ours that the exchange keeps; told by what our orders have set ({@link Fill.exit})
 * - `system`: the system's doing, in a word that we do not know ({@link Fill.systemWord})
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

/** Whether the exchange closed it because the margin did not suffice. */
export function isLiquidation({ fillKind }: Pick<Fill, 'fillKind'>): boolean {
  return fillKind === 'liquidation' || fillKind === 'partialLiquidation' || fillKind === 'netting'
}

/** A fee in another coin than the margin coin. Decimal string; a positive fee was paid. */
export interface CoinFee {
  readonly coin: string
  readonly amount: string
  /** Margin coin for one of the coin, when the fill became known. Absent: no price was known, so it is not counted. */
  readonly price?: string
}

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
  /** Absent: kept by a version that did not tell the kinds apart. */
  readonly fillKind?: FillKind
  /** Of a take-profit or stop-loss: the order that set it last, whose that is, and the price that was set. */
  readonly exit?: {
    readonly clientOid: ClientOid
    readonly strategyId: StrategyId
    readonly price: string
  }
  /** As the exchange wrote the trade side, where that is a word that we do not know. */
  readonly systemWord?: string
  /** Decimal string in the margin coin; a positive fee was paid, a negative one received. Absent: not known (MON2). */
  readonly fee?: string
  /** Fees that were taken in other coins, each coin once; absent: none were. They are not part of `fee`. */
  readonly otherFees?: readonly CoinFee[]
  /** Decimal string in the margin coin: what this fill realised. Absent: not known (MON2). */
  readonly profit?: string
  /** The exchange did not state the profit: it follows from what our own fills have paid. */
  readonly isProfitOurs?: true
  readonly scope: 'taker' | 'maker'
  /** `API` for ours; `SYS` for liquidation and delivery; others are a person's. Upper case. */
  readonly source: string
  /** Unix ms, exchange clock. */
  readonly filledAt: number
}

/** Names a fill among all. A tradeId alone does not: the two fills of a self-trade share it. */
export function fillKey({
  tradeId,
  orderId,
}: Readonly<Record<'tradeId' | 'orderId', string>>): string {
  return `${tradeId}|${orderId}`
}

/** Sources that no order of the daemon has: a person's program of the exchange, or the exchange itself. */
const OTHER_SOURCES: ReadonlySet<string> = new Set(['WEB', 'ANDROID', 'IOS', 'APP', 'SYS'])

/**
 * Whether the source alone proves that a fill is not ours. Any other, and none, proves nothing: an answer that leaves it
 * out may be about an order of ours.
 */
export function isOfOthers({ source }: Pick<Fill, 'source'>): boolean {
  return OTHER_SOURCES.has(source)
}

/** A row of fills that could not be read. */
export interface UnreadableFill {
  /** Empty where the row names none. */
  readonly tradeId: string
  /** Empty where the row does not have it. */
  readonly orderId: string
  /** `*` where the row names none: it may be of any instrument. */
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
