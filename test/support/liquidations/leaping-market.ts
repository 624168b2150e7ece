import {
  type Market,
  type MarketState,
  type MarketStep,
  type MinuteBar,
} from '../../../src/simulator/market/market.ts'
import { type MarketLeg } from './liquidation-plan.ts'

export interface LeapingInstrument {
  readonly symbol: string
  readonly startTicks: number
  /** Displayed at each level. */
  readonly lots: number
}

export interface LeapingMarketOptions {
  /** Unix ms. */
  readonly startAt: number
  readonly instruments: readonly LeapingInstrument[]
  readonly legs: readonly MarketLeg[]
  readonly fundingRate: number
}

const STEP_MS = 500
const MINUTE_MS = 60_000
/** More than anybody takes. */
const PLENTY = 1e9

/** Start of a leg, and its prices. */
interface PlacedLeg {
  readonly leg: MarketLeg
  readonly at: number
  readonly ticks: readonly number[]
}

/** Prices that stand, leap and slide as planned; last trade, bid and mark price are equal. */
export class LeapingMarket implements Market {
  readonly identity = 'leaping'
  readonly speed = 1
  readonly endsAt = undefined
  readonly #options: LeapingMarketOptions
  readonly #placed: readonly PlacedLeg[]
  #nextAt: number

  constructor(options: LeapingMarketOptions) {
    this.#options = options
    this.#nextAt = options.startAt
    let [at, ticks] = [options.startAt, options.instruments.map(({ startTicks }) => startTicks)]
    this.#placed = options.legs.map((leg) => {
      const placed = { leg, at, ticks }
      ticks = ticks.map((from, index) => this.#moved(leg, index, from, 1))
      at += leg.overMs + leg.restMs
      return placed
    })
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

  state(): MarketState {
    return { identity: this.identity }
  }

  /** Mark price of the last step before an instant (Unix ms). */
  markAt(symbol: string, at: number): number {
    const index = this.#options.instruments.findIndex((one) => one.symbol === symbol)
    const { startAt } = this.#options
    return this.#ticksAt(index, startAt + Math.floor((at - startAt) / STEP_MS) * STEP_MS)
  }

  #ticksAt(index: number, at: number): number {
    const {
      leg,
      at: from,
      ticks,
    } = this.#placed.findLast((one) => one.at <= at) ?? { ...this.#placed[0] }
    if (leg === undefined || from === undefined) throw new Error('a market without a leg')
    const done = leg.overMs === 0 ? 1 : Math.min(1, (at - from) / leg.overMs)
    return this.#moved(leg, index, ticks?.[index] ?? 0, done)
  }

  #moved(leg: MarketLeg, index: number, from: number, done: number): number {
    const move = leg.moves[this.#options.instruments[index]?.symbol ?? ''] ?? 0
    return Math.max(1, Math.round(from * (1 + move * done)))
  }
}
