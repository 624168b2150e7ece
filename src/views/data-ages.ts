import type { EngineEvent } from '../engine/event.ts'

export interface VanishedPrice {
  /** Unix ms, our clock. */
  readonly seenAt: number
  /** NaN without a trade. */
  readonly last: number
}

/** Ages in ms, infinite if never read. A ticker that an answer lacks keeps its age. */
export class DataAges {
  readonly #symbols: () => readonly string[]
  readonly #prices = new Map<
    string,
    { readonly readAt: number; readonly at: number; readonly last: number }
  >()
  readonly #vanished = new Map<string, VanishedPrice>()
  readonly #positions = new Map<string, number>()
  #fillsAt = Number.NEGATIVE_INFINITY
  /** The exchange's clock minus ours. */
  #offsetMs: number | undefined
  #isSpaceLow = false

  constructor(symbols: () => readonly string[]) {
    this.#symbols = symbols
  }

  get isClockSynchronised(): boolean {
    return this.#offsetMs !== undefined
  }

  get isSpaceLow(): boolean {
    return this.#isSpaceLow
  }

  hear(event: EngineEvent): void {
    if (event.kind === 'snapshotTaken') this.#hearPrices(event.tickers)
    else if (event.kind === 'fillsRead') this.#fillsAt = event.reading.requestedAt
    else if (event.kind === 'positionRead')
      this.#positions.set(event.reading.symbol, event.reading.requestedAt)
    else if (event.kind === 'clockSynchronised') this.#offsetMs = event.offsetMs
    else if (event.kind === 'clockUnsynchronised') this.#offsetMs = undefined
    else if (event.kind === 'spaceMeasured') this.#isSpaceLow = event.isLow
  }

  /**
   * The age of the answer or of its row, whichever is older.
   * @param now Unix ms, our clock; so it is below
   */
  pricesMs(symbol: string, now: number): number {
    const seen = this.#prices.get(symbol)
    if (!seen) return Number.POSITIVE_INFINITY
    return Math.max(now - seen.readAt, now + (this.#offsetMs ?? 0) - seen.at)
  }

  get vanished(): ReadonlyMap<string, VanishedPrice> {
    return this.#vanished
  }

  accountMs(symbol: string, now: number): number {
    return Math.max(this.fillsMs(now), this.positionMs(symbol, now))
  }

  fillsMs(now: number): number {
    return now - this.#fillsAt
  }

  positionMs(symbol: string, now: number): number {
    return now - (this.#positions.get(symbol) ?? Number.NEGATIVE_INFINITY)
  }

  #hearPrices(tickers: Extract<EngineEvent, { kind: 'snapshotTaken' }>['tickers']): void {
    const symbols = this.#symbols()
    for (const kept of [this.#prices, this.#vanished])
      for (const symbol of kept.size > symbols.length ? Array.from(kept.keys()) : [])
        if (!symbols.includes(symbol)) kept.delete(symbol)
    for (const symbol of symbols) {
      const at = tickers.read(symbol, 'ts')
      const before = this.#prices.get(symbol)
      if (!Number.isNaN(at)) {
        this.#prices.set(symbol, {
          readAt: tickers.readAt,
          at,
          last: tickers.read(symbol, 'lastPr'),
        })
        this.#vanished.delete(symbol)
      } else if (before) this.#vanished.set(symbol, { seenAt: before.readAt, last: before.last })
    }
  }
}
