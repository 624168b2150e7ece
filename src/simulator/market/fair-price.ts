/**
 * Prices that follow from an instrument's quotes:
 * - index: the middle, smoothed over 15 s, divided by 1 + premium
 * - premium: a slow walk around 0, some hours and 4 bp wide
 * - mark: index * (1 + basis). The basis is the distance of the middle from the index, smoothed
 *   over 2.5 min and within 0.3 %, so that one extreme trade moves no mark price
 * - funding per 8 hours: P + clamp(1 bp - P, -5 bp, 5 bp), within 0.3 %; P is the mean premium
 *   since the last settlement. Other intervals pay their part
 * - open interest: a slow walk around a third of a day's turnover
 *
 * Smoothing follows the steps, walks follow the minutes of the exchange's clock. Recorded prices
 * are assumed to have no premium. Recorded values replace all of this.
 */
import {
  clamp,
  createRandom,
  exponential,
  restoreRandom,
  type Random,
  type RandomState,
} from '../../lib/random.ts'
import type { MarketInstrument, MarketReference } from './market.ts'

export interface FairPriceFigures {
  readonly indexTicks: number
  readonly markTicks: number
  readonly fundingRate: number
  readonly settledFundingRate: number | undefined
  readonly holdingLots: number
}

const INDEX_SMOOTHING_MS = 15_000
const BASIS_SMOOTHING_MS = 150_000
const BASIS_MAX = 0.003
const PREMIUM_DEVIATION = 0.0004
const INTEREST = 0.0001
const INTEREST_REACH = 0.0005
const FUNDING_MAX = 0.003
const MEAN_PREMIUM_DEVIATION = 0.75 * PREMIUM_DEVIATION
export const USUAL_FUNDING_MINUTES: readonly number[] = [0, 480, 960]
const DAY_MINUTES = 1440
const SETTLEMENTS_MAX = 300
const HOLDING_DAYS = 0.33
const HOLDING_DEVIATION = 0.12
/** The share that remains after a minute, for memories of 6 hours and 3 days. */
const PREMIUM_KEEP = exponential(-1 / 360)
const HOLDING_KEEP = exponential(-1 / 4320)

export interface FundingSettlement {
  /** Minutes since 1970. */
  readonly minute: number
  readonly rate: number
}

interface FairPriceLevels {
  at: number
  smoothTicks: number
  basis: number
  premium: number
  premiumSum: number
  premiumCount: number
  minute: number
  holdingLevel: number
  settledFundingRate?: number
  settled?: number[]
  markTicks?: number | undefined
  fundingRate?: number | undefined
}

export interface FairPriceState extends Readonly<FairPriceLevels> {
  readonly random: RandomState
}

export class FairPrice {
  readonly #random: Random
  readonly #speed: number
  readonly #lotNotionalPerTick: number
  readonly #turnover: number
  readonly #premiumDeviation: number
  readonly #fundingMinutes: readonly number[]
  readonly #now: FairPriceLevels

  constructor(options: {
    readonly instrument: MarketInstrument
    readonly seed: number | string
    readonly speed: number
    /** Real prices have no invented premium and funding, from which a strategy could earn. */
    readonly isReal: boolean
    readonly state?: FairPriceState | undefined
  }) {
    const { instrument, seed, speed, state, isReal } = options
    this.#speed = speed
    this.#fundingMinutes = instrument.fundingMinutes ?? USUAL_FUNDING_MINUTES
    this.#premiumDeviation = isReal ? 0 : PREMIUM_DEVIATION
    this.#lotNotionalPerTick = Number(instrument.tickSize) * Number(instrument.lotSize)
    this.#turnover = instrument.dailyTurnover
    if (state) {
      const { random, ...rest } = state
      this.#random = restoreRandom(random)
      this.#now = rest
      return
    }
    this.#random = createRandom(seed).fork(instrument.symbol).fork('fair price')
    const premium = this.#premiumDeviation * this.#random.normal()
    this.#now = {
      at: 0,
      smoothTicks: 0,
      minute: 0,
      premiumSum: 0,
      premiumCount: 0,
      premium,
      basis: premium,
      holdingLevel: HOLDING_DEVIATION * this.#random.normal(),
    }
  }

  apply(at: number, middle: number): void {
    const now = this.#now
    const elapsedMs = Math.max(0, at - now.at) * this.#speed
    now.at = at
    if (now.smoothTicks === 0) now.smoothTicks = middle
    now.smoothTicks += ((middle - now.smoothTicks) * elapsedMs) / (INDEX_SMOOTHING_MS + elapsedMs)
    const index = now.smoothTicks / (1 + now.premium)
    const basis = clamp(middle / index - 1, BASIS_MAX)
    now.basis += ((basis - now.basis) * elapsedMs) / (BASIS_SMOOTHING_MS + elapsedMs)
  }

  refer({ markTicks, fundingRate }: MarketReference): void {
    this.#now.markTicks = markTicks
    this.#now.fundingRate = fundingRate
  }

  openMinute(minute: number): void {
    const now = this.#now
    const settlesBetween = this.#settlementsUntil(minute) !== this.#settlementsUntil(now.minute)
    if (settlesBetween && now.minute > 0) {
      now.settledFundingRate = this.#fundingRate()
      this.#noteSettled(minute, now.settledFundingRate)
      now.premiumSum = 0
      now.premiumCount = 0
    }
    now.minute = minute
    now.premium = this.#walk(now.premium, PREMIUM_KEEP, this.#premiumDeviation)
    now.holdingLevel = this.#walk(now.holdingLevel, HOLDING_KEEP, HOLDING_DEVIATION)
    now.premiumSum += now.smoothTicks === 0 ? now.premium : now.basis
    now.premiumCount++
  }

  settlements(): readonly FundingSettlement[] {
    const { settled = [] } = this.#now
    return Array.from({ length: settled.length / 2 }, (_, index) => ({
      minute: settled[2 * index] ?? 0,
      rate: settled[2 * index + 1] ?? 0,
    }))
  }

  markTicks(): number {
    return this.#now.markTicks ?? Math.round(this.#index() * (1 + this.#now.basis))
  }

  figures(): FairPriceFigures {
    const { smoothTicks, settledFundingRate, holdingLevel } = this.#now
    const lots =
      (HOLDING_DAYS * this.#turnover * exponential(holdingLevel)) / this.#lotNotionalPerTick
    return {
      indexTicks: Math.round(this.#index()),
      markTicks: this.markTicks(),
      fundingRate: this.#fundingRate(),
      settledFundingRate,
      holdingLots: smoothTicks === 0 ? 0 : Math.round(lots / smoothTicks),
    }
  }

  state(): FairPriceState {
    const { settled, ...rest } = this.#now
    const state = { random: this.#random.state(), ...rest }
    return settled === undefined ? state : { ...state, settled: Array.from(settled) }
  }

  #noteSettled(minute: number, rate: number): void {
    const settled = (this.#now.settled ??= [])
    settled.push(this.#settledAt(minute), rate)
    if (settled.length > 2 * SETTLEMENTS_MAX) settled.splice(0, 2)
  }

  #settledAt(minute: number): number {
    const ofDay = minute % DAY_MINUTES
    const last = this.#fundingMinutes.findLast((one) => one <= ofDay)
    if (last !== undefined) return minute - ofDay + last
    return minute - ofDay - DAY_MINUTES + (this.#fundingMinutes.at(-1) ?? 0)
  }

  #walk(level: number, keep: number, deviation: number): number {
    return keep * level + deviation * Math.sqrt(1 - keep * keep) * this.#random.normal()
  }

  #settlementsUntil(minute: number): number {
    const minutes = this.#fundingMinutes
    const ofDay = minutes.filter((one) => one <= minute % DAY_MINUTES).length
    return Math.floor(minute / DAY_MINUTES) * minutes.length + ofDay
  }

  #index(): number {
    return this.#now.smoothTicks / (1 + this.#now.premium)
  }

  #fundingRate(): number {
    const { premiumSum, premiumCount, premium, fundingRate } = this.#now
    if (fundingRate !== undefined) return fundingRate
    const mean = premiumCount === 0 ? premium : premiumSum / premiumCount
    return rateOf(mean, this.#fundingMinutes)
  }
}

function rateOf(mean: number, fundingMinutes: readonly number[]): number {
  const rate = clamp(mean + clamp(INTEREST - mean, INTEREST_REACH), FUNDING_MAX)
  const ofEightHours = USUAL_FUNDING_MINUTES.length / Math.max(1, fundingMinutes.length)
  // The rate of a shorter interval has more digits than the six of eight hours.
  return Math.round((Math.round(rate * 1e6) / 1e6) * ofEightHours * 1e10) / 1e10
}

/**
 * The rate of a settlement of a seeded past, always the same.
 * @param minute since 1970
 */
export function pastFundingRate(
  { symbol, fundingMinutes = USUAL_FUNDING_MINUTES }: MarketInstrument,
  { seed, minute }: { readonly seed: number | string; readonly minute: number },
): number {
  const random = createRandom(seed).fork(symbol).fork(`funding ${minute}`)
  return rateOf(MEAN_PREMIUM_DEVIATION * random.normal(), fundingMinutes)
}
