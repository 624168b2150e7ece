import { createGrid, formatOnGrid, nearestStep } from '../../../src/lib/grid.ts'
import { type FollowedMarket } from '../../../src/simulator/services/service-ports.ts'
import {
  createDisplayedMarket,
  type DisplayedMarket,
} from '../../../src/simulator/matching/displayed-market.ts'

/** A quote in the words of a test: prices in quote coin, sizes in base coin. */
export interface QuoteText {
  readonly bid: string | number
  readonly ask: string | number
  /** Default the bid. */
  readonly last?: string | number
  /** Displayed at each side; default 50,000 in quote coin. */
  readonly size?: number
  /** How much worse each level is than the one before it; default 0.01. */
  readonly level?: number
  /** Traded at `last`; default plenty where `last` is another one than before, else nothing. */
  readonly traded?: number
  /** Traded in the whole candle; default more than anybody takes. */
  readonly candleSize?: number
}

/** Finer than the grids of the pairs, so that a test may show any of their prices. */
const TICK = createGrid('0.0001')
const LOT = createGrid('0.000001')
const PLENTY_LOTS = 1e12

/** The futures markets that account services follow, moved by the test alone. */
export class HandMarket {
  /** Of the exchange: it stands at the latest quote or request. */
  readonly clock = { now: 0 }
  readonly #shown = new Map<string, DisplayedMarket>()
  readonly #followers = new Map<string, (() => void)[]>()

  show(symbol: string, text: QuoteText, at: number): void {
    this.clock.now = Math.max(this.clock.now, at)
    const shown = this.#shownOf(symbol)
    const ticks = (price: string | number) => nearestStep(TICK, Number(price))
    const lots = (size: number) => nearestStep(LOT, size)
    const lastTicks = ticks(text.last ?? text.bid)
    const { size = 50_000 / Number(text.ask), traded, candleSize } = text
    Object.assign(shown, {
      bidTicks: ticks(text.bid),
      askTicks: ticks(text.ask),
      lastTicks,
      lowTicks: lastTicks,
      highTicks: lastTicks,
      bidLots: lots(size),
      askLots: lots(size),
      levelTicks: ticks(text.level ?? 0.01),
      tradedLots:
        traded === undefined ? (lastTicks === shown.lastTicks ? 0 : PLENTY_LOTS) : lots(traded),
      candleLots: candleSize === undefined ? PLENTY_LOTS : lots(candleSize),
      at,
      previousAt: shown.at,
    })
    for (const hear of this.#followersOf(symbol)) hear()
  }

  price(symbol: string) {
    const { at, bidTicks, askTicks, lastTicks } = this.#shownOf(symbol)
    if (at === 0) return undefined
    const [bid, ask, last] = [bidTicks, askTicks, lastTicks].map((ticks) =>
      formatOnGrid(TICK, ticks),
    )
    return { bid: bid ?? '', ask: ask ?? '', last: last ?? '' }
  }

  followed(symbol: string): FollowedMarket {
    return {
      tickSize: TICK.step,
      lotSize: LOT.step,
      shown: this.#shownOf(symbol),
      follow: (hear) => void this.#followersOf(symbol).push(hear),
    }
  }

  /** The services that followed have been killed. */
  forgetFollowers(): void {
    this.#followers.clear()
  }

  #shownOf(symbol: string): DisplayedMarket {
    const shown = this.#shown.get(symbol) ?? createDisplayedMarket()
    this.#shown.set(symbol, shown)
    return shown
  }

  #followersOf(symbol: string): (() => void)[] {
    const followers = this.#followers.get(symbol) ?? []
    this.#followers.set(symbol, followers)
    return followers
  }
}
