import type { Decimal } from '../lib/decimal.ts'

/** A stretch without prices. Unix ms. */
export interface PriceGap {
  readonly fromAt: number
  readonly toAt: number
}

/** What is known of one instrument's prices before a run begins. Instants are Unix ms. */
export interface PriceCoverage {
  readonly symbol: string
  /** The file's name, or `seed 1`. */
  readonly source: string
  /** Of the unpacked contents, hex; empty for a seeded market. */
  readonly sha256: string
  readonly kind: 'candles' | 'quotes' | 'seeded'
  readonly fromAt: number
  /** After the last candle or quote. */
  readonly toAt: number
  readonly rows: number
  /** From row to row, ms: the median. */
  readonly stepMs: number
  readonly hasMark: boolean
  readonly hasFunding: boolean
  /** Whether it is recorded when funding was paid. Absent: no. */
  readonly hasPayments?: true
  readonly gaps: {
    readonly count: number
    readonly totalMs: number
    /** The longest ones, in order of time. */
    readonly longest: readonly PriceGap[]
  }
}

/** A trade of the account, as the exchange booked it. */
export interface RunFill {
  readonly tradeId: string
  readonly orderId: string
  /** Empty where the system traded: liquidation, delivery. */
  readonly clientOid: string
  readonly symbol: string
  /** Which position: the net one, or of hedge mode the long or the short one. */
  readonly slot: PositionSlot
  readonly direction: 'buy' | 'sell'
  readonly ticks: number
  readonly lots: number
  readonly scope: 'maker' | 'taker'
  readonly isSystem: boolean
  readonly isLiquidation: boolean
  /** Margin coin; positive is paid. */
  readonly fee: Decimal
  /** Margin coin: what the exchange says it realised, before the fee. */
  readonly profit: Decimal
  /** Unix ms. */
  readonly at: number
  /** What was displayed when the order came, in ticks. */
  readonly bidTicks: number
  readonly askTicks: number
}

export type PositionSlot = 'net' | 'long' | 'short'

/** A funding payment of one position, in the margin coin; negative is paid. */
export interface RunFunding {
  readonly symbol: string
  readonly slot: PositionSlot
  readonly amount: Decimal
  /** Unix ms. */
  readonly at: number
}

/** The account at one moment, in the margin coin, at mark prices. Valid during the call only. */
export interface AccountFigures {
  balance: number
  unrealised: number
  /** Balance and unrealised profit. */
  equity: number
  /** The value of all positions, long and short added. */
  gross: number
  /** Long less short. */
  net: number
  /** Maintenance margin and closing fee over what stands behind them, of the nearest to liquidation; at 1 it comes. NaN: not known. */
  marginUse: number
}

/** The nearest orders of the account that rest on an instrument, in quote coin; NaN for none. */
export interface RestingPrices {
  readonly buy: number
  readonly sell: number
}
