import {
  type Market,
  type StoredMarketState,
  type MarketStep,
  type MinuteBar,
  type Quote,
} from '../../../src/simulator/market/market.ts'

/** A market of the steps that a test adds, in the order it adds them. */
export class ScriptedMarket implements Market {
  readonly identity = 'scripted'
  readonly speed = 1
  readonly endsAt = undefined
  readonly endings: ReadonlyMap<string, number>
  readonly funding: NonNullable<Market['funding']>
  readonly #symbols: readonly string[]
  #steps: MarketStep[] = []

  constructor(
    symbols: readonly string[],
    { endings, funding }: Pick<Market, 'endings' | 'funding'> = {},
  ) {
    this.#symbols = symbols
    this.endings = endings ?? new Map()
    this.funding = funding ?? new Map()
  }

  add(at: number, symbol: string, quote: Quote): void {
    if (!this.#symbols.includes(symbol)) throw new Error(`no symbol ${symbol}`)
    this.#steps.push({ at, symbol, quote })
  }

  advance(now: number, visit: (step: MarketStep) => void): boolean {
    const due = this.#steps.filter(({ at }) => at <= now)
    this.#steps = this.#steps.filter(({ at }) => at > now)
    for (const step of due) visit(step)
    return true
  }

  pastDay(): readonly MinuteBar[] {
    return []
  }

  state(): StoredMarketState {
    throw new Error('a scripted market has no state to store')
  }
}
