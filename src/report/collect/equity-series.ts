import type { PlotPoint } from '../../domain/plot.ts'
import type { AccountFigures, RestingPrices } from '../run-facts.ts'

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

const STEPS_MS = [
  ...[1, 5, 15, 30].map((count) => count * SECOND_MS),
  ...[1, 5, 15, 30].map((count) => count * MINUTE_MS),
  ...[1, 2, 4, 8].map((count) => count * HOUR_MS),
  ...[1, 2, 4, 8, 16].map((count) => count * DAY_MS),
]

const BUCKETS_MAX = 1500

export interface TimeBuckets {
  readonly startAt: number
  readonly stepMs: number
  readonly count: number
}

export function cutIntoBuckets(fromAt: number, toAt: number, givenMs?: number): TimeBuckets {
  const stepMs =
    givenMs ??
    STEPS_MS.find((step) => (toAt - fromAt) / step <= BUCKETS_MAX) ??
    Math.ceil((toAt - fromAt) / BUCKETS_MAX)
  const startAt = Math.floor(fromAt / stepMs) * stepMs
  return { startAt, stepMs, count: Math.max(1, Math.ceil((toAt - startAt) / stepMs)) }
}

function bucketOf({ startAt, stepMs, count }: TimeBuckets, at: number): number {
  return Math.max(0, Math.min(count - 1, Math.floor((at - startAt) / stepMs)))
}

function emptyColumn({ count }: TimeBuckets): number[] {
  return Array.from({ length: count }, () => Number.NaN)
}

/** Margin coin. */
export interface EquityColumns {
  readonly close: readonly number[]
  readonly low: readonly number[]
  readonly high: readonly number[]
  /** A share below the last peak. */
  readonly drawdown: readonly number[]
  /** Shares of the equity; net is long less short. */
  readonly gross: readonly number[]
  readonly net: readonly number[]
}

export interface DayClose {
  readonly startAt: number
  readonly equity: number
}

export interface EquityFacts {
  readonly columns: EquityColumns
  readonly days: readonly DayClose[]
  /** UTC, from Sunday; margin coin. */
  readonly profitByHour: readonly number[]
  readonly profitByWeekday: readonly number[]
  readonly drawdowns: readonly Drawdown[]
  readonly underWater: { readonly totalMs: number; readonly longestMs: number }
  readonly heldMs: number
  readonly exposureMean: number
  readonly exposureMax: number
  readonly equityMean: number
  /** See AccountFigures.marginUse. */
  readonly nearestLiquidation: { readonly at: number; readonly marginUse: number }
}

interface RunSpan {
  readonly startAt: number
  readonly endAt: number
}

const FIRST_WEEKDAY = 4

/** Buckets keep extremes, and drawdowns follow every quote, so no extreme is lost. */
export class EquitySeries {
  readonly #buckets: TimeBuckets
  readonly #columns: Record<keyof EquityColumns, number[]>
  readonly #drawdowns: DrawdownTracker
  readonly #days: DayClose[] = []
  readonly #byHour = zeros(24)
  readonly #byWeekday = zeros(7)
  readonly #startAt: number
  readonly #endAt: number
  #lastAt: number
  #equity: number
  #exposure = 0
  #hour: number
  #hourEquity: number
  #heldMs = 0
  #exposureMs = 0
  #exposureMax = 0
  #equityMs = 0
  #nearest = { at: 0, marginUse: 0 }

  constructor(buckets: TimeBuckets, { startAt, endAt }: RunSpan, opening: number) {
    this.#buckets = buckets
    this.#startAt = startAt
    this.#endAt = endAt
    const column = (): number[] => emptyColumn(buckets)
    this.#columns = {
      close: column(),
      low: column(),
      high: column(),
      drawdown: column(),
      gross: column(),
      net: column(),
    }
    this.#drawdowns = new DrawdownTracker(startAt, opening)
    this.#lastAt = startAt
    this.#equity = opening
    this.#hour = Math.floor(startAt / HOUR_MS)
    this.#hourEquity = opening
  }

  take(at: number, figures: Readonly<AccountFigures>): void {
    this.#passTime(at)
    const { equity, gross, net, marginUse } = figures
    const drawdown = this.#drawdowns.take(at, equity)
    const exposure = equity > 0 ? gross / equity : 0
    this.#equity = equity
    this.#exposure = exposure
    if (exposure > this.#exposureMax) this.#exposureMax = exposure
    if (!(marginUse <= this.#nearest.marginUse)) this.#nearest = { at, marginUse }
    const columns = this.#columns
    const bucket = bucketOf(this.#buckets, at)
    columns.close[bucket] = equity
    columns.gross[bucket] = exposure
    columns.net[bucket] = equity > 0 ? net / equity : 0
    if (!(equity >= (columns.low[bucket] as number))) columns.low[bucket] = equity
    if (!(equity <= (columns.high[bucket] as number))) columns.high[bucket] = equity
    if (!(drawdown <= (columns.drawdown[bucket] as number))) columns.drawdown[bucket] = drawdown
  }

  facts(): EquityFacts {
    this.#closeHour()
    const totalMs = Math.max(1, this.#lastAt - this.#startAt)
    const today = Math.floor(this.#hour / 24) * DAY_MS
    return {
      columns: this.#columns,
      days: [...this.#days, { startAt: today, equity: this.#equity }],
      profitByHour: this.#byHour,
      profitByWeekday: this.#byWeekday,
      drawdowns: this.#drawdowns.worst(),
      underWater: this.#drawdowns.underWater(),
      heldMs: this.#heldMs,
      exposureMean: this.#exposureMs / totalMs,
      exposureMax: this.#exposureMax,
      equityMean: this.#equityMs / totalMs,
      nearestLiquidation: this.#nearest,
    }
  }

  #passTime(at: number): void {
    const passedMs = at - this.#lastAt
    if (this.#exposure > 0) this.#heldMs += passedMs
    this.#exposureMs += this.#exposure * passedMs
    this.#equityMs += this.#equity * passedMs
    this.#lastAt = at
    const within = Math.max(this.#startAt, Math.min(at, this.#endAt - 1))
    const hour = Math.floor(within / HOUR_MS)
    if (hour === this.#hour) return
    this.#closeHour()
    const today = Math.floor(hour / 24)
    for (let day = Math.floor(this.#hour / 24); day < today; day++) {
      this.#days.push({ startAt: day * DAY_MS, equity: this.#equity })
    }
    this.#hour = hour
  }

  #closeHour(): void {
    const profit = this.#equity - this.#hourEquity
    const [hour, weekday] = [this.#hour % 24, (Math.floor(this.#hour / 24) + FIRST_WEEKDAY) % 7]
    this.#byHour[hour] = (this.#byHour[hour] ?? 0) + profit
    this.#byWeekday[weekday] = (this.#byWeekday[weekday] ?? 0) + profit
    this.#hourEquity = this.#equity
  }
}

function zeros(length: number): number[] {
  return Array.from({ length }, () => 0)
}

export interface Drawdown {
  readonly peakAt: number
  readonly troughAt: number
  readonly recoveredAt: number | undefined
  /** A share of the peak: 0.1 is 10 %. */
  readonly depth: number
  readonly amount: number
}

const WORST_KEPT = 5

export class DrawdownTracker {
  readonly #worst: Drawdown[] = []
  #peak: number
  #peakAt: number
  #trough: number
  #troughAt: number
  #lastAt: number
  #underMs = 0
  #longestMs = 0

  constructor(at: number, equity: number) {
    this.#peak = equity
    this.#trough = equity
    this.#peakAt = at
    this.#troughAt = at
    this.#lastAt = at
  }

  take(at: number, equity: number): number {
    if (this.#trough < this.#peak) this.#underMs += at - this.#lastAt
    this.#lastAt = at
    if (equity >= this.#peak) {
      this.#end(at)
      this.#peak = equity
      this.#peakAt = at
      this.#trough = equity
      return 0
    }
    if (equity < this.#trough) {
      this.#trough = equity
      this.#troughAt = at
    }
    return shareBelow(this.#peak, equity)
  }

  worst(): readonly Drawdown[] {
    return ranked([
      ...this.#worst,
      ...(this.#trough < this.#peak ? [this.#current(undefined)] : []),
    ])
  }

  underWater(): { readonly totalMs: number; readonly longestMs: number } {
    const currentMs = this.#trough < this.#peak ? this.#lastAt - this.#peakAt : 0
    return { totalMs: this.#underMs, longestMs: Math.max(this.#longestMs, currentMs) }
  }

  #end(at: number): void {
    if (this.#trough >= this.#peak) return
    this.#longestMs = Math.max(this.#longestMs, at - this.#peakAt)
    const depth = shareBelow(this.#peak, this.#trough)
    if (this.#worst.length === WORST_KEPT && depth <= (this.#worst.at(-1)?.depth ?? 0)) return
    this.#worst.splice(0, WORST_KEPT, ...ranked([...this.#worst, this.#current(at)]))
  }

  #current(recoveredAt: number | undefined): Drawdown {
    return {
      peakAt: this.#peakAt,
      troughAt: this.#troughAt,
      recoveredAt,
      depth: shareBelow(this.#peak, this.#trough),
      amount: this.#peak - this.#trough,
    }
  }
}

function ranked(drawdowns: readonly Drawdown[]): Drawdown[] {
  return drawdowns.toSorted((one, other) => other.depth - one.depth).slice(0, WORST_KEPT)
}

function shareBelow(peak: number, equity: number): number {
  return peak > 0 ? (peak - equity) / peak : 0
}

/** Quote coin; NaN for none. */
export interface PriceColumns {
  readonly low: readonly number[]
  readonly high: readonly number[]
  readonly close: readonly number[]
  readonly restingBuy: readonly number[]
  readonly restingSell: readonly number[]
  /** Base coin. */
  readonly boughtAt: readonly number[]
  readonly bought: readonly number[]
  readonly soldAt: readonly number[]
  readonly sold: readonly number[]
}

export interface PriceFacts {
  readonly columns: PriceColumns
  readonly first: number | undefined
  readonly last: number | undefined
}

export class PriceSeries {
  readonly #buckets: TimeBuckets
  readonly #columns: Record<keyof PriceColumns, number[]>
  readonly #value = { buy: 0, sell: 0 }
  readonly #resting: () => RestingPrices
  #bucket = -1
  #first: number | undefined
  #last: number | undefined

  constructor(buckets: TimeBuckets, resting: () => RestingPrices) {
    this.#buckets = buckets
    this.#resting = resting
    const column = (): number[] => emptyColumn(buckets)
    this.#columns = {
      low: column(),
      high: column(),
      close: column(),
      restingBuy: column(),
      restingSell: column(),
      boughtAt: column(),
      bought: column(),
      soldAt: column(),
      sold: column(),
    }
  }

  take(at: number, price: number): void {
    const bucket = this.#enter(at)
    const { low, high, close } = this.#columns
    close[bucket] = price
    if (!(price >= (low[bucket] as number))) low[bucket] = price
    if (!(price <= (high[bucket] as number))) high[bucket] = price
    this.#first ??= price
    this.#last = price
  }

  trade(
    at: number,
    direction: 'buy' | 'sell',
    { price, size }: { readonly price: number; readonly size: number },
  ): void {
    const bucket = this.#enter(at)
    const { bought, boughtAt, sold, soldAt } = this.#columns
    const [sizes, prices] = direction === 'buy' ? [bought, boughtAt] : [sold, soldAt]
    const before = Number.isNaN(sizes[bucket]) ? 0 : (sizes[bucket] as number)
    if (before === 0) this.#value[direction] = 0
    this.#value[direction] += price * size
    sizes[bucket] = before + size
    prices[bucket] = this.#value[direction] / (before + size)
  }

  facts(): PriceFacts {
    this.#leave()
    return { columns: this.#columns, first: this.#first, last: this.#last }
  }

  #enter(at: number): number {
    const bucket = bucketOf(this.#buckets, at)
    if (bucket > this.#bucket) {
      this.#leave()
      this.#bucket = bucket
    }
    return bucket
  }

  #leave(): void {
    if (this.#bucket < 0) return
    const { buy, sell } = this.#resting()
    this.#columns.restingBuy[this.#bucket] = buy
    this.#columns.restingSell[this.#bucket] = sell
  }
}

/** Bounds the plots of one instrument; charts leave out further ones. */
const COLUMNS_MAX = 16

export class PlotColumns {
  readonly #buckets: TimeBuckets
  readonly #columns = new Map<string, Map<string, number[]>>()

  constructor(buckets: TimeBuckets) {
    this.#buckets = buckets
  }

  take(at: number, strategyId: string, points: readonly PlotPoint[]): void {
    const bucket = bucketOf(this.#buckets, at)
    for (const { symbol, name, value } of points) {
      const column = this.#columnOf(symbol, `${strategyId} ${name}`)
      if (column) column[bucket] = value
    }
  }

  /** A value holds until the next. Undefined if nothing was plotted. */
  facts(): Record<string, Record<string, readonly number[]>> | undefined {
    if (this.#columns.size === 0) return undefined
    return Object.fromEntries(
      [...this.#columns].map(([symbol, columns]) => [
        symbol,
        Object.fromEntries([...columns].map(([name, column]) => [name, carryForward(column)])),
      ]),
    )
  }

  #columnOf(symbol: string, name: string): number[] | undefined {
    const columns = this.#columns.get(symbol) ?? new Map<string, number[]>()
    this.#columns.set(symbol, columns)
    if (!columns.has(name) && columns.size < COLUMNS_MAX)
      columns.set(name, emptyColumn(this.#buckets))
    return columns.get(name)
  }
}

function carryForward(column: readonly number[]): readonly number[] {
  let last = Number.NaN
  return column.map((value) => {
    if (!Number.isNaN(value)) last = value
    return last
  })
}
