import type { Decimal } from '../lib/decimal.ts'

/** A stretch without prices. Unix ms. */
export interface PriceGap {
  readonly fromAt: number
  readonly toAt: number
}

/** The coverage of one instrument's prices, known before a run begins. Instants are Unix ms. */
export interface PriceCoverage {
  readonly symbol: string
  /** The file's name, or `seed 1`. */
  readonly source: string
  /** Hash of the unpacked contents, hex; empty for a seeded market. */
  readonly sha256: string
  readonly kind: 'candles' | 'quotes' | 'seeded'
  readonly fromAt: number
  /** The end of the last candle or quote. */
  readonly toAt: number
  readonly rows: number
  /** The median distance of rows, ms. */
  readonly stepMs: number
  readonly hasMark: boolean
  readonly hasFunding: boolean
  /** Whether the recording has the times of funding payments. Absent: no. */
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
  /** Empty for trades of the exchange's system: liquidation, delivery. */
  readonly clientOid: string
  readonly symbol: string
  /** The position: the net one, or in hedge mode the long or the short one. */
  readonly slot: PositionSlot
  readonly direction: 'buy' | 'sell'
  readonly ticks: number
  readonly lots: number
  readonly scope: 'maker' | 'taker'
  readonly isSystem: boolean
  readonly isLiquidation: boolean
  /** Margin coin; positive is paid. */
  readonly fee: Decimal
  /** Margin coin: the realised profit that the exchange states, before the fee. */
  readonly profit: Decimal
  /** Unix ms. */
  readonly at: number
  /** The displayed prices when the order arrived, in ticks. */
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

/** The account at one moment, in the margin coin, at mark prices. Only valid during the call. */
export interface AccountFigures {
  balance: number
  unrealised: number
  /** Balance and unrealised profit. */
  equity: number
  /** The value of all positions, long and short added. */
  gross: number
  /** Long less short. */
  net: number
  /**
   * Maintenance margin and closing fee over collateral, of the position nearest to liquidation; at
   * 1 it is liquidated. NaN: not known.
   */
  marginUse: number
}

/**
 * The account's resting orders on an instrument that are nearest to the market, in quote coin; NaN
 * for none.
 */
export interface RestingPrices {
  readonly buy: number
  readonly sell: number
}
