import { type Decimal, decimal, decimalOfInteger } from '../lib/decimal.ts'
import { createGrid, type Grid, nearestStep, stepBelow, stepsMax } from '../lib/grid.ts'
import type { ContractRules } from './contract-rules.ts'

/**
 * Any other text could be taken for a scope (`*`, `strategy:ID`), or for two names joined by a bar.
 */
export const SYMBOL_PATTERN = /^[A-Z0-9]{2,30}(?:_[A-Z0-9]{1,12})?$/

export type ProductType =
  | 'USDT-FUTURES'
  | 'COIN-FUTURES'
  | 'USDC-FUTURES'
  | 'SUSDT-FUTURES'
  | 'SCOIN-FUTURES'
  | 'SUSDC-FUTURES'

export type MarginMode = 'isolated' | 'crossed'

export type PositionMode = 'one_way_mode' | 'hedge_mode'

export interface Instrument {
  readonly symbol: string
  readonly productType: ProductType
  readonly marginCoin: string
  readonly tick: Grid
  /** Base coin. */
  readonly lot: Grid
  readonly lotsMin: number
  /** Order value, quote coin. */
  readonly notionalMin: Decimal
  /** Absent: any. */
  readonly leverage?: number
  /** After midnight UTC, rising. Absent: the account's. */
  readonly fundingMinutes?: readonly number[]
}

/** The margin coin is the base coin: a gain in quote coin is divided by its price. */
export function isInverse({ productType }: Pick<Instrument, 'productType'>): boolean {
  return productType === 'COIN-FUTURES' || productType === 'SCOIN-FUTURES'
}

/** An account may have 1000 open orders, and its positions. */
const SIZES_SUMMED_MAX = 2048

type TradingRules = Pick<ContractRules, 'tickSize' | 'lotSize' | 'minSize' | 'minNotional'> & {
  readonly fundingHours?: number | undefined
}

export type InstrumentFrame = Pick<Instrument, 'productType' | 'marginCoin' | 'leverage'>

export function buildInstrument(
  symbol: string,
  { tickSize, lotSize, minSize, minNotional, fundingHours }: TradingRules,
  { productType, marginCoin, leverage }: InstrumentFrame,
): Instrument {
  const lot = createGrid(lotSize)
  return {
    symbol,
    productType,
    marginCoin,
    tick: createGrid(tickSize),
    lot,
    lotsMin: stepBelow(lot, Number(minSize)),
    notionalMin: decimal(minNotional),
    ...(leverage !== undefined && { leverage }),
    ...(fundingHours !== undefined &&
      isFundingInterval(fundingHours) && { fundingMinutes: everyHours(fundingHours) }),
  }
}

const DAY_MINUTES = 1440
const HOUR_MINUTES = 60
const DAY_HOURS = 24

/** Funding intervals divide a day. */
export function isFundingInterval(hours: number): boolean {
  return Number.isInteger(hours) && hours > 0 && DAY_HOURS % hours === 0
}

export function everyHours(hours: number): readonly number[] {
  const count = Math.floor(DAY_MINUTES / (hours * HOUR_MINUTES))
  return Array.from({ length: count }, (_, index) => index * hours * HOUR_MINUTES)
}

export type InstrumentSteps = Pick<Instrument, 'tick' | 'lot'>

/** Higher prices are not exact. */
export function ticksMax({ tick }: Instrument): number {
  return stepsMax(tick)
}

export function isCountable({ tick }: Instrument, price: number): boolean {
  return price > 0 && nearestStep(tick, price) <= stepsMax(tick)
}

/** Sums of larger sizes are not exact. */
export function lotsMax({ lot }: Instrument): number {
  return Math.floor(stepsMax(lot) / SIZES_SUMMED_MAX)
}

export function notionalOf({ tick, lot }: Instrument, ticks: number, lots: number): Decimal {
  const units = ticks * tick.units * lots * lot.units
  // One number of the finest units is several times faster than a product of four.
  if (Number.isSafeInteger(units)) return decimal(`${units}e-${tick.decimals + lot.decimals}`)
  return decimalOfInteger(ticks)
    .times(decimal(tick.step))
    .times(decimalOfInteger(lots))
    .times(decimal(lot.step))
}
