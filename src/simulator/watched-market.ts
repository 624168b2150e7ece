import { type Market, type MarketStep, type MinuteBar, type Quote } from './market/market.ts'
import { type MarketState } from './market/market-state.ts'

/** A market that remembers how far it was played: what it is behind the exchange's clock is its pauses. */
export class WatchedMarket implements Market {
  readonly #market: Market
  #playedTo: number | undefined

  constructor(market: Market) {
    this.#market = market
  }

  get identity(): string {
    return this.#market.identity
  }

  get speed(): number {
    return this.#market.speed
  }

  /** On its own clock, which its pauses have put behind the exchange's. */
  get endsAt(): number | undefined {
    return this.#market.endsAt
  }

  /** Its end on the exchange's clock, of which `now` was played. */
  endsOn(now: number): number | undefined {
    const { endsAt } = this.#market
    return endsAt === undefined || this.#playedTo === undefined ? endsAt : endsAt + now - this.#playedTo
  }

  advance(now: number, visit: (step: MarketStep) => void): boolean {
    const isDone = this.#market.advance(now, visit)
    if (isDone) this.#playedTo = now
    return isDone
  }

  quote(symbol: string): Quote | undefined {
    return this.#market.quote(symbol)
  }

  pastDay(symbol: string): readonly MinuteBar[] {
    return this.#market.pastDay(symbol)
  }

  isRecorded(symbol: string): boolean {
    return this.#market.isRecorded(symbol)
  }

  state(): MarketState {
    return this.#market.state()
  }
}
