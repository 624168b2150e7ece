import { createRandom, type Random } from '../../../src/lib/random.ts'
import {
  type Market,
  type StoredMarketState,
  type MarketStep,
  type MinuteBar,
  type MutableQuote,
} from '../../../src/simulator/market/market.ts'

export interface VirtualMarketOptions {
  readonly seed: string
  readonly startAt: number
  /** Time to the step after the one at `at` (Unix ms). */
  readonly stepMs: (at: number) => number
  readonly startTicks: ReadonlyMap<string, number>
  readonly moveTicks: number
  /** One in this many steps jumps ten times as far. */
  readonly jumpEvery: number
  /** Prices move to `factor` times their value, within `overMs` from `at` (Unix ms). */
  readonly crash?:
    | { readonly at: number; readonly overMs: number; readonly factor: number }
    | undefined
}

/** Each symbol has its own stream, so that one less leaves the others as they were. */
interface Walk {
  readonly quote: MutableQuote
  readonly random: Random
}

/** Plain random walks, lively enough to fill ladders within seconds, and cheap. */
export class VirtualMarket implements Market {
  readonly identity = 'virtual'
  readonly speed = 1
  readonly endsAt = undefined
  readonly #options: VirtualMarketOptions
  readonly #walks: ReadonlyMap<string, Walk>
  #nextAt: number

  constructor(options: VirtualMarketOptions) {
    this.#options = options
    this.#nextAt = options.startAt
    this.#walks = new Map(
      [...options.startTicks].map(([symbol, ticks]) => [
        symbol,
        { quote: firstQuote(ticks), random: createRandom(`${options.seed}/${symbol}`) },
      ]),
    )
  }

  advance(now: number, visit: (step: MarketStep) => void): boolean {
    for (; this.#nextAt <= now; this.#nextAt += this.#options.stepMs(this.#nextAt)) {
      for (const [symbol, walk] of this.#walks) {
        this.#move(walk)
        this.#fall(walk)
        visit({ at: this.#nextAt, symbol, quote: walk.quote })
      }
    }
    return true
  }

  pastDay(): readonly MinuteBar[] {
    return []
  }

  /** Never restored: only its shape matters. */
  state(): StoredMarketState {
    return { identity: this.identity }
  }

  /** Last price within bid and ask, in ticks. */
  priceOf(symbol: string): number {
    const { bidTicks, askTicks, lastTicks } =
      this.#walks.get(symbol)?.quote ?? firstQuote(Number.NaN)
    return Math.min(Math.max(lastTicks, bidTicks), askTicks)
  }

  /** In a crash each step goes the same share of the way, with trades. */
  #fall({ quote }: Walk): void {
    const { crash, stepMs } = this.#options
    const at = this.#nextAt
    if (crash === undefined || at < crash.at || at >= crash.at + crash.overMs) return
    const share = Math.min(1, stepMs(at) / crash.overMs)
    quote.bidTicks = Math.max(1000, Math.round(quote.bidTicks * crash.factor ** share))
    quote.askTicks = quote.bidTicks + 1
    quote.lastTicks = quote.bidTicks
    quote.tradedLots = quote.bidLots
  }

  #move({ quote, random }: Walk): void {
    const { moveTicks, jumpEvery } = this.#options
    const reach = random.integer(jumpEvery) === 0 ? moveTicks * 10 : moveTicks
    quote.bidTicks = Math.max(1000, quote.bidTicks + random.integer(2 * reach + 1) - reach)
    quote.askTicks = quote.bidTicks + 1 + random.integer(3)
    quote.bidLots = 1 + random.integer(40)
    quote.askLots = 1 + random.integer(40)
    quote.tradedLots = random.integer(3) === 0 ? random.integer(30) : 0
    if (quote.tradedLots > 0)
      quote.lastTicks = random.integer(2) === 0 ? quote.bidTicks : quote.askTicks
  }
}

function firstQuote(ticks: number): MutableQuote {
  return {
    bidTicks: ticks,
    askTicks: ticks + 1,
    bidLots: 10,
    askLots: 10,
    lastTicks: ticks,
    tradedLots: 0,
    levelTicks: 1,
    candle: 0,
    candleLots: 1e9,
  }
}
