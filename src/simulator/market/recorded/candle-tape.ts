/**
 * Quotes drawn once for all runs on the same prices (ARCHITECTURE.md, "Tape"). A number that does
 * not fit its column ends the tape, so that no run gets another price.
 *
 *     blank ──the first run draws candle after candle──► finished: later runs read it
 */
import { createHash } from 'node:crypto'
import type { CandleRows } from '../../../prices/recording.ts'
import { EMPTY_QUOTE, type MarketInstrument, type MutableQuote, type Quote } from '../market.ts'
import type { CandlePathKind } from './candle-path.ts'
import { createCandleQuotes, type RowSource } from './candle-source.ts'

export interface FinishedTape {
  readonly key: string
  readonly shared: SharedArrayBuffer
}

export interface TapedCandles {
  readonly rows: CandleRows
  readonly instrument: MarketInstrument
  readonly intervalMs: number
  readonly points: number
  readonly seed: string | number
  readonly candlePath: CandlePathKind
}

const POINT_BYTES = 4 * Uint32Array.BYTES_PER_ELEMENT + 4 * Uint16Array.BYTES_PER_ELEMENT + 1
const CANDLE_BYTES = 2 * Float64Array.BYTES_PER_ELEMENT
/** Two years of one-minute candles. A run writes no more than this. */
const TAPES_BYTES_MAX = 450_000_000

export class CandleTapes {
  readonly #finished = new Map<string, FinishedTape>()
  readonly #onFinished: (tape: FinishedTape) => void
  #writtenBytes = 0

  constructor(
    finished: readonly FinishedTape[] = [],
    onFinished: (tape: FinishedTape) => void = () => undefined,
  ) {
    for (const tape of finished) this.#finished.set(tape.key, tape)
    this.#onFinished = onFinished
  }

  get finished(): readonly FinishedTape[] {
    return [...this.#finished.values()]
  }

  add(tape: FinishedTape): void {
    if (this.#finished.has(tape.key)) return
    this.#finished.set(tape.key, tape)
    let bytes = this.finished.reduce((sum, { shared }) => sum + shared.byteLength, 0)
    for (const [key, { shared }] of this.#finished) {
      if (bytes <= TAPES_BYTES_MAX) return
      this.#finished.delete(key)
      bytes -= shared.byteLength
    }
  }

  /** @returns a finished tape, else a blank one; undefined where that would take too much memory */
  open(candles: TapedCandles): CandleTape | undefined {
    const key = keyOf(candles)
    const known = this.#finished.get(key)
    const { rows, points } = candles
    const count = rows.at.length
    if (known) return new CandleTape({ shared: known.shared, count, points, onFinished: undefined })
    const bytes = bytesOf(count, points)
    if (this.#writtenBytes + bytes > TAPES_BYTES_MAX) return undefined
    this.#writtenBytes += bytes
    const tape = { key, shared: new SharedArrayBuffer(bytes) }
    const onFinished = (): void => {
      this.add(tape)
      this.#onFinished(tape)
    }
    return new CandleTape({ shared: tape.shared, count, points, onFinished })
  }
}

function bytesOf(count: number, points: number): number {
  return count * (CANDLE_BYTES + points * POINT_BYTES)
}

function keyOf({ rows, instrument, intervalMs, points, seed, candlePath }: TapedCandles): string {
  const digest = createHash('sha256')
  digest.update(JSON.stringify([instrument, intervalMs, points, typeof seed, seed, candlePath]))
  for (const column of [rows.at, rows.open, rows.high, rows.low, rows.close, rows.volume])
    digest.update(column)
  return digest.digest('hex')
}

interface TapeMemory {
  readonly shared: SharedArrayBuffer
  readonly count: number
  readonly points: number
  readonly onFinished: (() => void) | undefined
}

const EXTREMES = 2
/** A part is at most 16; a candle with this bit has no extremes of its own. */
const IS_STRAIGHT = 16

export class CandleTape {
  readonly isFinished: boolean
  readonly #onFinished: (() => void) | undefined
  readonly #count: number
  readonly #points: number
  readonly #levelTicks: Float64Array
  readonly #candleLots: Float64Array
  readonly #last: Uint32Array
  readonly #bidLots: Uint32Array
  readonly #askLots: Uint32Array
  readonly #tradedLots: Uint32Array
  /** Ticks below or above the last price. */
  readonly #bid: Uint16Array
  readonly #ask: Uint16Array
  readonly #low: Uint16Array
  readonly #high: Uint16Array
  /** The part of the candle at which each point is, with {@link IS_STRAIGHT}. */
  readonly #parts: Uint8Array
  /** NaN once a number did not fit. */
  #written = 0

  constructor({ shared, count, points, onFinished }: TapeMemory) {
    this.isFinished = onFinished === undefined
    this.#onFinished = onFinished
    this.#count = count
    this.#points = points
    const length = count * points
    let from = 0
    const place = (bytes: number): number => {
      const at = from
      from += bytes
      return at
    }
    const wide = (): Float64Array => new Float64Array(shared, place(8 * count), count)
    const whole = (): Uint32Array => new Uint32Array(shared, place(4 * length), length)
    const short = (): Uint16Array => new Uint16Array(shared, place(2 * length), length)
    this.#levelTicks = wide()
    this.#candleLots = wide()
    this.#last = whole()
    this.#bidLots = whole()
    this.#askLots = whole()
    this.#tradedLots = whole()
    this.#bid = short()
    this.#ask = short()
    this.#low = short()
    this.#high = short()
    this.#parts = new Uint8Array(shared, place(length), length)
  }

  write(row: number, quotes: readonly Quote[], times: Float64Array): void {
    if (this.isFinished || row !== this.#written) return
    this.#written = this.#put(row, quotes, times) ? row + 1 : Number.NaN
    if (this.#written === this.#count) this.#onFinished?.()
  }

  #put(row: number, quotes: readonly Quote[], times: Float64Array): boolean {
    const first = row * this.#points
    const [{ levelTicks, candleLots } = EMPTY_QUOTE] = quotes
    this.#levelTicks[row] = levelTicks
    this.#candleLots[row] = candleLots
    let fits = true
    for (let point = 0; point < this.#points; point++) {
      const quote = quotes[point] as Quote
      const { lastTicks: last, lowTicks = last, highTicks = last } = quote
      const put = (column: Uint32Array | Uint16Array, value: number): void => {
        column[first + point] = value
        fits &&= column[first + point] === value
      }
      put(this.#last, last)
      put(this.#bidLots, quote.bidLots)
      put(this.#askLots, quote.askLots)
      put(this.#tradedLots, quote.tradedLots)
      put(this.#bid, last - quote.bidTicks)
      put(this.#ask, quote.askTicks - last)
      put(this.#low, last - lowTicks)
      put(this.#high, highTicks - last)
      const time = times[point] as number
      const part = this.#partOf(time)
      this.#parts[first + point] = part
      fits &&= this.#timeOf(part) === time
    }
    return fits
  }

  #partOf(time: number): number {
    const part = Math.round(time * (this.#points - EXTREMES))
    return this.#timeOf(part) === time ? part : IS_STRAIGHT + Math.round(time * this.#points)
  }

  #timeOf(part: number): number {
    return part < IS_STRAIGHT
      ? part / (this.#points - EXTREMES)
      : (part - IS_STRAIGHT) / this.#points
  }

  read(row: number, quotes: readonly MutableQuote[], times: Float64Array): void {
    const points = this.#points
    const first = row * points
    const levelTicks = this.#levelTicks[row] as number
    const candleLots = this.#candleLots[row] as number
    let [lowest, highest] = [Number.POSITIVE_INFINITY, 0]
    for (let point = 0; point < points; point++) {
      const at = first + point
      const quote = quotes[point] as MutableQuote
      const last = this.#last[at] as number
      quote.lastTicks = quote.candleHighTicks = quote.candleLowTicks = last
      quote.bidTicks = last - (this.#bid[at] as number)
      quote.askTicks = last + (this.#ask[at] as number)
      quote.lowTicks = last - (this.#low[at] as number)
      quote.highTicks = last + (this.#high[at] as number)
      quote.bidLots = this.#bidLots[at] as number
      quote.askLots = this.#askLots[at] as number
      quote.tradedLots = this.#tradedLots[at] as number
      quote.levelTicks = levelTicks
      quote.candleLots = candleLots
      times[point] = this.#timeOf(this.#parts[at] as number)
      if (last < lowest) lowest = last
      if (last > highest) highest = last
    }
    const end = quotes[points - 1] as MutableQuote
    end.candleHighTicks = highest
    end.candleLowTicks = lowest
    for (let point = 0; point < points; point++)
      (quotes[point] as MutableQuote).isUnseen = times[point] === times[point + 1]
  }
}

export class TapeSource implements RowSource {
  readonly #tape: CandleTape
  readonly #quotes: readonly MutableQuote[]
  readonly #times: Float64Array
  #row = -1

  constructor(tape: CandleTape, points: number) {
    this.#tape = tape
    this.#quotes = createCandleQuotes(points)
    this.#times = new Float64Array(points)
  }

  timeOf(row: number, point: number): number {
    if (point === 0) return 0
    this.#read(row)
    return this.#times[point] as number
  }

  show(row: number, point: number, candle: number): Quote {
    this.#read(row)
    const quote = this.#quotes[point] as MutableQuote
    quote.candle = candle
    return quote
  }

  end(): void {}

  state(): never {
    throw new Error('a market that reads a tape keeps no state')
  }

  #read(row: number): void {
    if (row === this.#row) return
    this.#row = row
    this.#tape.read(row, this.#quotes, this.#times)
  }
}
