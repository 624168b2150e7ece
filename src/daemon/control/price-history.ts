import type { CandleView } from '../../control/detail-views.ts'
import { CANDLE_INTERVALS_MS } from '../../control/detail-views.ts'
import type { TickerTable } from '../../domain/ticker-table.ts'

/** Of each interval: half an hour of five seconds, six hours of minutes, nearly four days of quarters. */
const CANDLES_MAX = 360

/** Begin, open, high, low, close. */
const COLUMNS = 5

/** The newest candles of one interval: a ring of float64 rows, 14 kB. */
class CandleRing {
  readonly #intervalMs: number
  readonly #rows = new Float64Array(CANDLES_MAX * COLUMNS)
  #count = 0
  /** Rows before it were overwritten. */
  #first = 0

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs
  }

  /** @param at Unix ms, exchange clock. An instant just before the open candle counts to it. */
  add(at: number, price: number): void {
    const begin = at - (at % this.#intervalMs)
    // One stamp far ahead of its time would be the last candle until then.
    while (this.#count > this.#first && this.#beginOf(this.#count - 1) > begin + this.#intervalMs)
      this.#count -= 1
    const row = this.#rowOf(this.#count - 1)
    if (this.#count === this.#first || begin > this.#beginOf(this.#count - 1)) {
      this.#rows.set([begin, price, price, price, price], this.#rowOf(this.#count))
      this.#count += 1
      this.#first = Math.max(this.#first, this.#count - CANDLES_MAX)
      return
    }
    this.#rows[row + 2] = Math.max(this.#rows[row + 2] ?? price, price)
    this.#rows[row + 3] = Math.min(this.#rows[row + 3] ?? price, price)
    this.#rows[row + 4] = price
  }

  /** The oldest first. */
  list(): readonly CandleView[] {
    return Array.from({ length: this.#count - this.#first }, (_, index) => {
      const row = this.#rowOf(this.#first + index)
      const [at = 0, open = 0, high = 0, low = 0, close = 0] = this.#rows.subarray(
        row,
        row + COLUMNS,
      )
      return { at, open, high, low, close }
    })
  }

  #beginOf(index: number): number {
    return this.#rows[this.#rowOf(index)] ?? 0
  }

  #rowOf(index: number): number {
    return (Math.max(0, index) % CANDLES_MAX) * COLUMNS
  }
}

/** Candles of the last prices that this run has read, for looking at. */
export class PriceHistory {
  readonly #rings: ReadonlyMap<string, readonly CandleRing[]>

  constructor(symbols: Iterable<string>) {
    this.#rings = new Map(
      [...symbols].map((symbol) => [symbol, CANDLE_INTERVALS_MS.map((ms) => new CandleRing(ms))]),
    )
  }

  take(tickers: TickerTable): void {
    for (const [symbol, rings] of this.#rings) {
      const price = tickers.read(symbol, 'lastPr')
      const at = tickers.read(symbol, 'ts')
      if (!(price > 0) || !(at > 0)) continue
      for (const ring of rings) ring.add(at, price)
    }
  }

  /** The oldest first; undefined where the instrument is not traded, or no such candles are kept. */
  candles(symbol: string, intervalMs: number): readonly CandleView[] | undefined {
    const index = CANDLE_INTERVALS_MS.findIndex((kept) => kept === intervalMs)
    return this.#rings.get(symbol)?.[index]?.list()
  }
}
