import { type CandleSeries, newestOpenAt, read } from '../../domain/candles.ts'
import type { HourlyCloses } from '../../domain/liquidation.ts'
import { own } from '../../lib/own.ts'
import { exchangeNow } from './clock-state.ts'
import type { Core } from './core.ts'

/*
 * How far the price of an instrument moves in an hour, as a rule: the median of the moves from the close of one hour to
 * that of the next, whatever their direction, of the last 24 hours or as many as are known. A mean would follow one jump.
 */

const HOUR_MS = 3_600_000
/** So many moves have one close more than hours, and the hour of now is kept beside them. */
const CLOSES_MAX = 24 + 2
/** The median of fewer is one hour's chance. */
const MOVES_MIN = 3

/** Takes in the price at which a position is judged. It costs a comparison, and a count when another hour begins. */
export function noteHourlyPrice(core: Core, symbol: string, price: number): void {
  if (!(price > 0)) return
  const hour = Math.floor(exchangeNow(core) / HOUR_MS)
  const known = core.hours.get(symbol)
  const next = known === undefined || hour > known.hour ? beginHour(core, symbol, hour) : known
  // A clock that was set back has another hour: its price belongs to no close that is kept.
  if (hour === next.hour) takeClose(next, price)
}

function takeClose(hours: HourlyCloses, price: number): void {
  own(hours.closes)[hours.closes.length - 1] = price
}

/** A share of the price; NaN while fewer than three moves are known. */
export function typicalMoveOf(core: Core, symbol: string): number {
  return core.hours.get(symbol)?.typical ?? Number.NaN
}

function beginHour(core: Core, symbol: string, hour: number): HourlyCloses {
  const known = core.hours.get(symbol)
  const passed = known ? Math.min(hour - known.hour, CLOSES_MAX) : CLOSES_MAX
  const closes = [...(known?.closes ?? []), ...Array.from({ length: passed }, () => Number.NaN)]
  const kept = closes.slice(-CLOSES_MAX)
  fillFromCandles(core, symbol, kept, hour)
  const begun = { hour, closes: kept, typical: medianMove(kept.slice(0, -1)) }
  own(core.hours).set(symbol, begun)
  return begun
}

/** Closed candles of strategies survive a restart: they know the hours before this run. */
function fillFromCandles(core: Core, symbol: string, closes: number[], hour: number): void {
  for (const [key, series] of core.book.candles) {
    if (!key.startsWith(`${symbol}|`) || HOUR_MS % series.intervalMs !== 0) continue
    for (let place = 0; place < closes.length - 1; place++) {
      if (!Number.isNaN(closes[place])) continue
      const endAt = (hour - (closes.length - 1 - place) + 1) * HOUR_MS
      closes[place] = closeAt(series, endAt)
    }
  }
}

/** NaN where the candle that ends there is not kept, or was seen by nobody. */
function closeAt(series: CandleSeries, endAt: number): number {
  const { intervalMs, length } = series
  const place = length - 1 - (newestOpenAt(series) + intervalMs - endAt) / intervalMs
  return read(series, 'ticks', place) > 0 ? read(series, 'close', place) : Number.NaN
}

function medianMove(closes: readonly number[]): number {
  const moves = closes
    .slice(1)
    .map((close, index) => Math.abs(close / (closes[index] ?? Number.NaN) - 1))
    .filter((move) => !Number.isNaN(move))
    .toSorted((one, other) => one - other)
  if (moves.length < MOVES_MIN) return Number.NaN
  const middle = moves.length / 2
  return ((moves[Math.ceil(middle) - 1] ?? 0) + (moves[Math.floor(middle)] ?? 0)) / 2
}
