import type { AccountFigures } from '../run-facts.ts'
import { type Drawdown, DrawdownTracker } from './drawdowns.ts'
import { bucketOf, emptyColumn, DAY_MS, type TimeBuckets } from './time-buckets.ts'

/** The last value per bucket and its extremes. Margin coin. */
export interface EquityColumns {
  readonly close: readonly number[]
  readonly low: readonly number[]
  readonly high: readonly number[]
  /** The deepest below the last peak, a share. */
  readonly drawdown: readonly number[]
  /** At the bucket's end: all positions, and long less short, over the equity. */
  readonly gross: readonly number[]
  readonly net: readonly number[]
}

export interface DayClose {
  /** The UTC day. */
  readonly startAt: number
  readonly equity: number
}

export interface EquityFacts {
  readonly columns: EquityColumns
  readonly days: readonly DayClose[]
  /** Margin coin, by hour and by weekday from Sunday, UTC. */
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

export interface RunSpan {
  readonly startAt: number
  readonly endAt: number
}

const HOUR_MS = DAY_MS / 24
/** 1 January 1970 was a Thursday. */
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

  /** @param endAt excluded: a value then belongs to the hour and day that end */
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

  /** @param at not earlier than the last */
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

  /** Closes hours and days that are over. */
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
