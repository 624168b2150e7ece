/** Minutes without a trade also have a bucket, so figures depend only on steps and elapsed time. */
import {
  FairPrice,
  type FairPriceFigures,
  type FairPriceState,
  type FundingSettlement,
} from './fair-price.ts'
import type { MarketInstrument, MarketReference, MinuteBar, Quote } from './market.ts'

/** Prices are in ticks, sizes in lots, changes are shares of 1. */
export interface TickerFigures extends FairPriceFigures {
  readonly high24hTicks: number
  readonly low24hTicks: number
  readonly open24hTicks: number
  readonly openUtcTicks: number
  readonly change24h: number
  readonly changeUtc24h: number
  readonly baseLots: number
  readonly quoteVolume: number
}

export interface Bucket {
  readonly minute: number
  readonly figures: readonly number[]
}

export interface DayStatisticsState {
  readonly minute: number
  readonly buckets: readonly Bucket[]
  readonly lastTicks: number
  readonly fair: FairPriceState
}

export interface DayStatisticsOptions {
  readonly instrument: MarketInstrument
  readonly seed: number | string
  readonly speed: number
  readonly past: readonly MinuteBar[] | undefined
  readonly state?: DayStatisticsState | undefined
}

interface DaySums {
  high: number
  low: number
  lots: number
  quoteVolume: number
}

interface HourSums extends DaySums {
  readonly startMinute: number
}

const MINUTE_MS = 60_000
export const BUCKETS = 1440
const HOUR = 60
const FIELDS = 5
const [OPEN, HIGH, LOW, LOTS, QUOTE_VOLUME] = [0, 1, 2, 3, 4] as const

export class DayStatistics {
  readonly #tick: number
  readonly #lot: number
  readonly #fair: FairPrice
  readonly #ring = new Float64Array(BUCKETS * FIELDS)
  #minute = -1
  #oldest = -1
  #lastTicks = 0
  /** Buckets before this minute have not changed since the last {@link takeChanged}. */
  #takenMinute = -1
  #closed: DaySums | undefined
  readonly #hours: HourSums[] = []

  constructor({ instrument, seed, speed, past, state }: DayStatisticsOptions) {
    this.#tick = Number(instrument.tickSize)
    this.#lot = Number(instrument.lotSize)
    this.#fair = new FairPrice({
      instrument,
      seed,
      speed,
      isReal: past === undefined,
      state: state?.fair,
    })
    if (state) this.#restore(state)
    else this.#addPast(past ?? [])
  }

  apply(at: number, quote: Quote, reference?: MarketReference): void {
    if (this.#lastTicks === 0) this.#lastTicks = quote.lastTicks
    this.#roll(Math.floor(at / MINUTE_MS))
    const base = this.#slot(this.#minute)
    const ring = this.#ring
    if (quote.isUnseen !== true) {
      this.#fair.apply(at, (quote.bidTicks + quote.askTicks) / 2)
      if (reference !== undefined) this.#fair.refer(reference)
      this.#lastTicks = quote.lastTicks
      const { candleHighTicks: high = quote.lastTicks, candleLowTicks: low = quote.lastTicks } =
        quote
      if (high > (ring[base + HIGH] as number)) ring[base + HIGH] = high
      if (low < (ring[base + LOW] as number)) ring[base + LOW] = low
    }
    if (quote.tradedLots === 0) return
    ring[base + LOTS] = (ring[base + LOTS] as number) + quote.tradedLots
    const traded = this.#lastTicks * this.#tick * quote.tradedLots * this.#lot
    ring[base + QUOTE_VOLUME] = (ring[base + QUOTE_VOLUME] as number) + traded
  }

  read(now: number): TickerFigures | undefined {
    if (this.#lastTicks === 0) return undefined
    this.#roll(Math.floor(now / MINUTE_MS))
    const closed = (this.#closed ??= this.#sumClosed())
    const base = this.#slot(this.#minute)
    const field = (index: number) => this.#ring[base + index] as number
    const open24hTicks = this.#ring[this.#slot(this.#oldest) + OPEN] as number
    const midnight = Math.floor(this.#minute / BUCKETS) * BUCKETS
    const openUtcTicks = this.#ring[this.#slot(Math.max(midnight, this.#oldest)) + OPEN] as number
    return {
      high24hTicks: Math.max(closed.high, field(HIGH)),
      low24hTicks: Math.min(closed.low, field(LOW)),
      open24hTicks,
      openUtcTicks,
      change24h: (this.#lastTicks - open24hTicks) / open24hTicks,
      changeUtc24h: (this.#lastTicks - openUtcTicks) / openUtcTicks,
      baseLots: closed.lots + field(LOTS),
      quoteVolume: closed.quoteVolume + field(QUOTE_VOLUME),
      ...this.#fair.figures(),
    }
  }

  markTicks(now: number): number | undefined {
    if (this.#lastTicks === 0) return undefined
    this.#roll(Math.floor(now / MINUTE_MS))
    return this.#fair.markTicks()
  }

  settlements(): readonly FundingSettlement[] {
    return this.#fair.settlements()
  }

  state(): Omit<DayStatisticsState, 'buckets'> {
    return { minute: this.#minute, lastTicks: this.#lastTicks, fair: this.#fair.state() }
  }

  takeChanged(): Bucket[] {
    const changed = this.buckets(this.#takenMinute)
    this.#takenMinute = this.#minute
    return changed
  }

  buckets(from = 0): Bucket[] {
    if (this.#minute < 0 || this.#oldest < 0) return []
    const first = Math.max(this.#oldest, from)
    return Array.from({ length: this.#minute - first + 1 }, (_, index) => {
      const base = this.#slot(first + index)
      return { minute: first + index, figures: [...this.#ring.subarray(base, base + FIELDS)] }
    })
  }

  #restore({ minute, buckets, lastTicks }: DayStatisticsState): void {
    this.#lastTicks = lastTicks
    this.#minute = minute
    this.#takenMinute = minute
    this.#oldest = buckets.length === 0 ? -1 : minute - buckets.length + 1
    for (const bucket of buckets) this.#ring.set(bucket.figures, this.#slot(bucket.minute))
  }

  #addPast(past: readonly MinuteBar[]): void {
    for (const bar of past.slice(-BUCKETS)) this.#addBar(bar)
    const last = past.at(-1)
    if (last) this.#fair.apply(last.startAt + MINUTE_MS, last.closeTicks)
  }

  #addBar(bar: MinuteBar): void {
    this.#lastTicks ||= bar.openTicks
    this.#roll(Math.floor(bar.startAt / MINUTE_MS))
    const typical = (bar.openTicks + bar.highTicks + bar.lowTicks + bar.closeTicks) / 4
    const volume = typical * this.#tick * bar.lots * this.#lot
    const bucket = [bar.openTicks, bar.highTicks, bar.lowTicks, bar.lots, volume]
    this.#ring.set(bucket, this.#slot(this.#minute))
    this.#lastTicks = bar.closeTicks
  }

  #roll(minute: number): void {
    if (minute <= this.#minute) return
    const first = Math.max(this.#minute < 0 ? minute : this.#minute + 1, minute - BUCKETS + 1)
    if (this.#oldest < 0) this.#oldest = first
    for (let opened = first; opened <= minute; opened++) {
      this.#ring.set([this.#lastTicks, this.#lastTicks, this.#lastTicks, 0, 0], this.#slot(opened))
      this.#fair.openMinute(opened)
    }
    this.#minute = minute
    this.#oldest = Math.max(this.#oldest, minute - BUCKETS + 1)
    this.#closed = undefined
  }

  /** Sums up anew, because a running sum of floats would drift over months. */
  #sumClosed(): DaySums {
    const sums = { high: 0, low: Number.POSITIVE_INFINITY, lots: 0, quoteVolume: 0 }
    for (let minute = this.#oldest; minute < this.#minute;) {
      const isHour = minute % HOUR === 0 && minute + HOUR <= this.#minute
      if (isHour) addHour(sums, this.#sumHour(minute))
      else this.#addBucket(sums, minute)
      minute += isHour ? HOUR : 1
    }
    return sums
  }

  #sumHour(startMinute: number): HourSums {
    const place = (startMinute / HOUR) % (BUCKETS / HOUR)
    const known = this.#hours[place]
    if (known?.startMinute === startMinute) return known
    const hour = { startMinute, high: 0, low: Number.POSITIVE_INFINITY, lots: 0, quoteVolume: 0 }
    for (let minute = startMinute; minute < startMinute + HOUR; minute++)
      this.#addBucket(hour, minute)
    this.#hours[place] = hour
    return hour
  }

  #addBucket(sums: DaySums, minute: number): void {
    const ring = this.#ring
    const base = this.#slot(minute)
    if ((ring[base + HIGH] as number) > sums.high) sums.high = ring[base + HIGH] as number
    if ((ring[base + LOW] as number) < sums.low) sums.low = ring[base + LOW] as number
    sums.lots += ring[base + LOTS] as number
    sums.quoteVolume += ring[base + QUOTE_VOLUME] as number
  }

  #slot(minute: number): number {
    return (minute % BUCKETS) * FIELDS
  }
}

function addHour(sums: DaySums, { high, low, lots, quoteVolume }: HourSums): void {
  if (high > sums.high) sums.high = high
  if (low < sums.low) sums.low = low
  sums.lots += lots
  sums.quoteVolume += quoteVolume
}
