import type { EngineEvent } from '../engine/event.ts'

/** A price that answers had, and have no more. */
export interface VanishedPrice {
  /** Unix ms, our clock: when the last answer that had it was read. */
  readonly seenAt: number
  /** Of the last trade; NaN where there was none. */
  readonly last: number
}

/**
 * How old what is known is, as the core heard it. Ages in ms, infinite for what was never read. A ticker that is missing
 * in an answer keeps the age of the last one.
 */
export class DataAges {
  readonly #symbols: readonly string[]
  /** By symbol: when the answer was read (our clock), and the moment that the row in it speaks of (the exchange's). */
  readonly #prices = new Map<
    string,
    { readonly readAt: number; readonly at: number; readonly last: number }
  >()
  readonly #vanished = new Map<string, VanishedPrice>()
  readonly #positions = new Map<string, number>()
  #fillsAt = Number.NEGATIVE_INFINITY
  /** Exchange clock less ours, ms; undefined while it is not known. */
  #offsetMs: number | undefined
  #isSpaceLow = false

  /** @param symbols Those whose prices are followed. */
  constructor(symbols: readonly string[]) {
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

  /** Of the older of the answer and the row in it. @param now Unix ms, our clock, here and below. */
  pricesMs(symbol: string, now: number): number {
    const seen = this.#prices.get(symbol)
    if (!seen) return Number.POSITIVE_INFINITY
    return Math.max(now - seen.readAt, now + (this.#offsetMs ?? 0) - seen.at)
  }

  /** By symbol, while the newest answer lacks what an earlier one had. */
  get vanished(): ReadonlyMap<string, VanishedPrice> {
    return this.#vanished
  }

  /** Of the fills, or of the position where that is older. */
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
    for (const symbol of this.#symbols) {
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
