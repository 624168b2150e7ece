import type { ClientOid, OrderId, StrategyId, TradeId } from './ids.ts'

/**
 * All kinds but `trade` are acts of the exchange's system. Document: Futures fill, `tradeSide`.
 *
 * - `trade`: an order met another, ours or not
 * - `liquidation`: all of the position (`burst_`)
 * - `partialLiquidation`: to restore the margin (`reduce_close_`, `reduce_…_single`)
 * - `netting`: against the other side (`offset_`)
 * - `delivery`: the contract was delivered (`delivery_`)
 * - `autoDeleveraging`: against another account's liquidation (`dte_sys_adl_`)
 * - `takeProfit`, `stopLoss`: an exit of ours at the exchange, recognised by its price ({@link
 *   Fill.exit})
 * - `system`: an act under an unknown word ({@link Fill.systemWord})
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

export function isLiquidation({ fillKind }: Pick<Fill, 'fillKind'>): boolean {
  return fillKind === 'liquidation' || fillKind === 'partialLiquidation' || fillKind === 'netting'
}

export interface CoinFee {
  readonly coin: string
  readonly amount: string
  /** In the margin coin, when the fill became known. Absent: the fee is not counted. */
  readonly price?: string
}

export interface Fill {
  readonly tradeId: TradeId
  readonly orderId: OrderId
  readonly symbol: string
  readonly side: 'buy' | 'sell'
  readonly tradeSide: 'open' | 'close'
  readonly ticks: number
  readonly lots: number
  /** Absent in fills of earlier versions. */
  readonly fillKind?: FillKind
  readonly exit?: {
    readonly clientOid: ClientOid
    readonly strategyId: StrategyId
    readonly price: string
  }
  readonly systemWord?: string
  /** Margin coin; positive when paid. Absent: not known (MON2). */
  readonly fee?: string
  readonly otherFees?: readonly CoinFee[]
  readonly profit?: string
  /** The profit is computed from our fills' prices, because the exchange stated none. */
  readonly isProfitOurs?: true
  readonly scope: 'taker' | 'maker'
  /** `API`: our orders; `SYS`: liquidation and delivery; others: made by hand. */
  readonly source: string
  /** Exchange clock. */
  readonly filledAt: number
}

/** The two fills of a self-trade share a tradeId. */
export function fillKey({
  tradeId,
  orderId,
}: Readonly<Record<'tradeId' | 'orderId', string>>): string {
  return `${tradeId}|${orderId}`
}

/** Orders of the daemon have none of these sources. */
const OTHER_SOURCES: ReadonlySet<string> = new Set(['WEB', 'ANDROID', 'IOS', 'APP', 'SYS'])

/** False proves nothing: the order may be ours, or of another program. */
export function isOfOthers({ source }: Pick<Fill, 'source'>): boolean {
  return OTHER_SOURCES.has(source)
}

export interface UnreadableFill {
  readonly tradeId: string
  readonly orderId: string
  /** `*`: it may be of any instrument. */
  readonly symbol: string
  readonly problem: string
}

export interface FillsReading {
  /** The oldest first. */
  readonly fills: readonly Fill[]
  /** For their instruments the reading is incomplete (MKT4). */
  readonly unreadable?: readonly UnreadableFill[]
  /** The start of the range; exchange clock. */
  readonly sinceAt: number
  /** When the first page was asked for: later fills may be missing. */
  readonly requestedAt: number
  /** `requestTime` of the first page; exchange clock. */
  readonly exchangeTime: number
}
