import type { Decimal } from '../lib/decimal.ts'

export interface PriceGap {
  readonly fromAt: number
  readonly toAt: number
}

export interface PriceCoverage {
  readonly symbol: string
  /** A file's name, or `seed 1`. */
  readonly source: string
  /** Hex, over the unpacked contents; empty for a seeded market. */
  readonly sha256: string
  readonly kind: 'candles' | 'quotes' | 'seeded'
  readonly madeUp?: true
  readonly fromAt: number
  readonly toAt: number
  readonly rows: number
  readonly stepMs: number
  readonly hasMark: boolean
  readonly hasFunding: boolean
  readonly hasPayments?: true
  readonly gaps: {
    readonly count: number
    readonly totalMs: number
    readonly longest: readonly PriceGap[]
  }
}

export interface RunFill {
  readonly tradeId: string
  readonly orderId: string
  /** Empty for liquidation and delivery. */
  readonly clientOid: string
  readonly symbol: string
  readonly slot: PositionSlot
  readonly direction: 'buy' | 'sell'
  readonly ticks: number
  readonly lots: number
  readonly scope: 'maker' | 'taker'
  readonly isSystem: boolean
  readonly isLiquidation: boolean
  /** Margin coin, positive when paid. */
  readonly fee: Decimal
  /** Margin coin, as the exchange states it, before the fee. */
  readonly profit: Decimal
  readonly at: number
  /** The displayed quote when the order arrived. */
  readonly bidTicks: number
  readonly askTicks: number
}

export type PositionSlot = 'net' | 'long' | 'short'

/** Margin coin, negative when paid. */
export interface RunFunding {
  readonly symbol: string
  readonly slot: PositionSlot
  readonly amount: Decimal
  /** Unix ms. */
  readonly at: number
}

/** Valid only during the call; margin coin, at mark prices. */
export interface AccountFigures {
  balance: number
  unrealised: number
  equity: number
  gross: number
  net: number
  /**
   * Maintenance margin and closing fee over collateral, of the position nearest to liquidation (at
   * 1); NaN if not known.
   */
  marginUse: number
}

/** Quote coin; NaN for none. */
export interface RestingPrices {
  readonly buy: number
  readonly sell: number
}
