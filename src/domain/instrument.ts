import { type Decimal, decimal, decimalOfInteger } from '../lib/decimal.ts'
import { type Grid, nearestStep, stepsMax } from '../lib/grid.ts'

/** The family of a contract: the exchange's own six names. */
export type ProductType =
  | 'USDT-FUTURES'
  | 'COIN-FUTURES'
  | 'USDC-FUTURES'
  | 'SUSDT-FUTURES'
  | 'SCOIN-FUTURES'
  | 'SUSDC-FUTURES'

export type MarginMode = 'isolated' | 'crossed'

/** One net position per instrument, or a long and a short side by side. */
export type PositionMode = 'one_way_mode' | 'hedge_mode'

/**
 * The properties of a contract that trading needs. Prices count in ticks, sizes in lots, both
 * whole.
 */
export interface Instrument {
  readonly symbol: string
  readonly productType: ProductType
  readonly marginCoin: string
  /** Price grid: one step is a tick. */
  readonly tick: Grid
  /** Size grid, in base coin: one step is a lot. */
  readonly lot: Grid
  /** Smallest order, in lots. */
  readonly lotsMin: number
  /** Smallest order value, in quote coin. */
  readonly notionalMin: Decimal
  /** The leverage that its positions must have. Absent: any. */
  readonly leverage?: number
  /**
   * When funding is paid, in minutes after midnight UTC, rising. Absent: as set for the account.
   */
  readonly fundingMinutes?: readonly number[]
}

/**
 * Whether profit is counted in the base coin: a gain in quote coin divided by the price at which it
 * is made.
 */
export function isInverse({ productType }: Pick<Instrument, 'productType'>): boolean {
  return productType === 'COIN-FUTURES' || productType === 'SCOIN-FUTURES'
}

/**
 * The number of sizes that may be summed: the 1000 orders that an account may have open, and
 * positions.
 */
const SIZES_SUMMED_MAX = 2048

/** The steps of an instrument's prices and sizes. */
export type InstrumentSteps = Pick<Instrument, 'tick' | 'lot'>

/** The highest price, in ticks. Prices above it are not exact. */
export function ticksMax({ tick }: Instrument): number {
  return stepsMax(tick)
}

/** Whether a price in quote coin can be counted exactly in the instrument's ticks. */
export function isCountable({ tick }: Instrument, price: number): boolean {
  return price > 0 && nearestStep(tick, price) <= stepsMax(tick)
}

/** The largest size of an order or a position, in lots. Sums of larger sizes are not exact. */
export function lotsMax({ lot }: Instrument): number {
  return Math.floor(stepsMax(lot) / SIZES_SUMMED_MAX)
}

/** Price times size in quote coin, exact. */
export function notionalOf({ tick, lot }: Instrument, ticks: number, lots: number): Decimal {
  const units = ticks * tick.units * lots * lot.units
  // Where it is exact, one number of the finest units is several times faster than a product of
  // four.
  if (Number.isSafeInteger(units)) return decimal(`${units}e-${tick.decimals + lot.decimals}`)
  return decimalOfInteger(ticks)
    .times(decimal(tick.step))
    .times(decimalOfInteger(lots))
    .times(decimal(lot.step))
}
