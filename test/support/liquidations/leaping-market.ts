import {
  type Market,
  type StoredMarketState,
  type MarketStep,
  type MinuteBar,
} from '../../../src/simulator/market/market.ts'
import { type MarketLeg } from './liquidation-plan.ts'

export interface LeapingInstrument {
  readonly symbol: string
  readonly startTicks: number
  readonly lots: number
}

export interface LeapingMarketOptions {
  /** Unix ms. */
  readonly startAt: number
  readonly instruments: readonly LeapingInstrument[]
  readonly fundingRate: number
}

const STEP_MS = 500
const MINUTE_MS = 60_000
const PLENTY = 1e9

interface PlacedLeg {
  readonly leg: MarketLeg
  readonly at: number
  readonly ticks: readonly number[]
}

/** Prices that stand, and leap or slide by the legs that were begun; last trade, bid and mark price are equal. */
export class LeapingMarket implements Market {
  readonly identity = 'leaping'
  readonly speed = 1
  readonly endsAt = undefined
  readonly #options: LeapingMarketOptions
  readonly #placed: PlacedLeg[] = []
  #nextAt: number

  constructor(options: LeapingMarketOptions) {
    this.#options = options
    this.#nextAt = options.startAt
  }

  /** Unix ms. */
  begin(leg: MarketLeg, at: number): void {
    const ticks = this.#options.instruments.map((_, index) => this.#ticksAt(index, at))
    this.#placed.push({ leg, at, ticks })
  }

  advance(now: number, visit: (step: MarketStep) => void): boolean {
    for (; this.#nextAt <= now; this.#nextAt += STEP_MS) {
      for (const [index, { symbol, lots }] of this.#options.instruments.entries()) {
        const ticks = this.#ticksAt(index, this.#nextAt)
        visit({
          at: this.#nextAt,
          symbol,
          quote: {
            bidTicks: ticks,
            askTicks: ticks + 1,
            bidLots: lots,
            askLots: lots,
            lastTicks: ticks,
            tradedLots: lots,
            levelTicks: 1,
            candleLots: PLENTY,
            candle: Math.floor(this.#nextAt / MINUTE_MS),
          },
          reference: { markTicks: ticks, fundingRate: this.#options.fundingRate },
        })
      }
    }
    return true
  }

  pastDay(): readonly MinuteBar[] {
    return []
  }

  state(): StoredMarketState {
    return { identity: this.identity }
  }

  /** Mark price of the last step before an instant (Unix ms). */
  markAt(symbol: string, at: number): number {
    const index = this.#options.instruments.findIndex((one) => one.symbol === symbol)
    const { startAt } = this.#options
    return this.#ticksAt(index, startAt + Math.floor((at - startAt) / STEP_MS) * STEP_MS)
  }

  #ticksAt(index: number, at: number): number {
    const placed = this.#placed.findLast((one) => one.at <= at)
    if (placed === undefined) return this.#options.instruments[index]?.startTicks ?? 0
    const { leg, at: from, ticks } = placed
    const done = leg.overMs === 0 ? 1 : Math.min(1, (at - from) / leg.overMs)
    return this.#moved(leg, index, ticks[index] ?? 0, done)
  }

  #moved(leg: MarketLeg, index: number, from: number, done: number): number {
    const move = leg.moves[this.#options.instruments[index]?.symbol ?? ''] ?? 0
    return Math.max(1, Math.round(from * (1 + move * done)))
  }
}
