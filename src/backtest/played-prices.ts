import { addTick, type CandleRow, openCandle, toRow } from '../domain/candles.ts'
import type { RecordedCandle } from '../engine/settings.ts'
import { Failure } from '../lib/failure.ts'
import type { PriceCoverage, PriceGap } from '../report/run-facts.ts'
import { candleLength, indexFrom, type Recording } from '../prices/recording.ts'
import type { TickerView } from './direct-exchange.ts'

/** Unix ms; `toAt` is excluded. */
export interface PlayedRange {
  readonly fromAt?: number | undefined
  readonly toAt?: number | undefined
}

const MISSING_ROW_STEPS = 1.5
/** Quotes are recorded when they change, so only a silence of this length is a gap. */
const QUOTE_GAP_MS_MIN = 60_000
const GAPS_SHOWN = 5
const DIVISION_ERROR_TICKS_MAX = 1e-4

/** @throws Failure BACKTEST_RANGE_EMPTY */
export function cutRecordings(
  recordings: readonly Recording[],
  { fromAt, toAt }: PlayedRange,
): readonly Recording[] {
  const cut = recordings.flatMap((recording) => {
    const [begin, end] = rowsWithin(recording, { fromAt, toAt })
    return begin < end ? [{ ...recording, rows: cutRows(recording.rows, begin, end) }] : []
  })
  if (cut.length > 0) return cut
  throw emptyRange(
    Object.fromEntries(
      recordings.map(({ source, rows: { at } }) => [
        source,
        `${toTime(at[0])} to ${toTime(at.at(-1))}`,
      ]),
    ),
  )
}

export function describePlace(
  { rows: { at } }: Recording,
  { fromAt = Number.NEGATIVE_INFINITY, toAt = Number.POSITIVE_INFINITY }: PlayedRange,
): string {
  const [firstAt, lastAt] = [at[0], at.at(-1)]
  if ((lastAt ?? 0) < fromAt) return `its prices end before, at ${toTime(lastAt)}`
  if ((firstAt ?? 0) >= toAt) return `its prices begin after, at ${toTime(firstAt)}`
  return 'all of the range lies in a gap of its prices'
}

export function hasRows(recording: Recording, range: PlayedRange): boolean {
  const [begin, end] = rowsWithin(recording, range)
  return begin < end
}

function rowsWithin(
  { rows: { at } }: Recording,
  { fromAt = Number.NEGATIVE_INFINITY, toAt = Number.POSITIVE_INFINITY }: PlayedRange,
): readonly [number, number] {
  return [indexFrom(at, fromAt), indexFrom(at, toAt)]
}

/** @returns the share of prices between two ticks @param tick in the quote coin */
export function shareOffTick({ rows }: Recording, tick: number): number {
  const columns =
    rows.kind === 'candles'
      ? [rows.open, rows.high, rows.low, rows.close]
      : [rows.bid, rows.ask, rows.last]
  let count = 0
  for (const column of columns) {
    for (const price of column) {
      const ticks = price / tick
      if (Math.abs(ticks - Math.round(ticks)) > DIVISION_ERROR_TICKS_MAX) count += 1
    }
  }
  return count / Math.max(1, columns.length * rows.at.length)
}

/** @returns the share of candles without a trade; 0 for quotes */
export function shareWithoutVolume({ rows }: Recording): number {
  if (rows.kind !== 'candles') return 0
  return rows.volume.filter((volume) => !(volume > 0)).length / Math.max(1, rows.volume.length)
}

export function emptyRange(facts: Readonly<Record<string, string>>): Failure {
  return new Failure({
    code: 'BACKTEST_RANGE_EMPTY',
    sentence: 'there are no prices in the range',
    facts,
    hint: '--from and --to are dates such as 2025-06-01 or 2025-06-01T12:00, UTC',
  })
}

/**
 * Includes what the recording lacks. @param stepMs of the whole recording, because how long a price
 * counts as new must not depend on the cut
 */
export function describeRecording(
  recording: Recording,
  stepMs = rowStep(recording),
): PriceCoverage {
  const { symbol, source, sha256, rows, funding, madeUp } = recording
  const { at, kind } = rows
  return {
    symbol,
    source,
    sha256,
    kind,
    ...(madeUp && { madeUp }),
    stepMs,
    fromAt: at[0] ?? 0,
    toAt: (at.at(-1) ?? 0) + stepMs,
    rows: at.length,
    hasMark: rows.mark !== undefined,
    hasFunding: rows.fundingRate !== undefined || funding !== undefined,
    ...(funding && { hasPayments: true }),
    gaps: findGaps(
      at,
      stepMs,
      Math.max(kind === 'quotes' ? QUOTE_GAP_MS_MIN : 0, stepMs * MISSING_ROW_STEPS),
    ),
  }
}

export interface ViewedPrices extends Pick<PriceCoverage, 'symbol' | 'fromAt' | 'toAt' | 'stepMs'> {
  /** The first price has stood since then; absent: it is new. */
  readonly firstAt?: number
}

/**
 * Lists an instrument from the beginning of its recording to its end. A price counts as new until
 * the next.
 */
export function viewOf(coverage: readonly ViewedPrices[]): TickerView {
  const bySymbol = new Map(coverage.map((one) => [one.symbol, one]))
  return {
    isListed: (symbol, at) => {
      const known = bySymbol.get(symbol)
      return known !== undefined && at >= known.fromAt && at < known.toAt
    },
    currentAt: (symbol, shownAt, now) => {
      const { fromAt = 0, firstAt, stepMs = 0 } = bySymbol.get(symbol) ?? {}
      const sinceAt = firstAt !== undefined && shownAt <= fromAt ? firstAt : shownAt
      return Math.min(now, sinceAt + stepMs)
    },
  }
}

/**
 * Intervals of less than whole rows have no candles, because the prices within a row are made up.
 * @param toAt the end of the run: nothing is known of what closes later
 */
export function readRecordedCandles(
  recordings: readonly Recording[],
  toAt: number,
): RecordedCandle {
  const known = new Map(
    recordings.map(({ symbol, rows, intervalMs }) => [
      symbol,
      { rows, stepMs: rows.kind === 'candles' ? candleLength(rows.at, intervalMs) : 0 },
    ]),
  )
  return (symbol, intervalMs, openAt) => {
    const { rows, stepMs = 0 } = known.get(symbol) ?? {}
    if (rows === undefined || (stepMs > 0 && intervalMs % stepMs !== 0)) return undefined
    const closeAt = openAt + intervalMs
    if (closeAt > toAt) return undefined
    const [from, until] = [indexFrom(rows.at, openAt), indexFrom(rows.at, closeAt)]
    // A row that reaches beyond the end contains what comes after it.
    const isWithin = from < until && (rows.at[until - 1] ?? 0) + stepMs <= closeAt
    return isWithin ? joinRows(rows, { openAt, from, until }) : undefined
  }
}

interface RowRange {
  readonly openAt: number
  readonly from: number
  readonly until: number
}

function joinRows(rows: Recording['rows'], { openAt, from, until }: RowRange): CandleRow {
  const opens = rows.kind === 'candles' ? rows.open : rows.last
  const others = rows.kind === 'candles' ? [rows.high, rows.low, rows.close] : [rows.last]
  const candle = openCandle(openAt, opens[from] ?? Number.NaN, openAt)
  for (let row = from; row < until; row++) {
    for (const column of others) addTick(candle, column[row] ?? Number.NaN, openAt)
  }
  candle.ticks = until - from
  return toRow(candle)
}

function cutRows(rows: Recording['rows'], begin: number, end: number): Recording['rows'] {
  const columns = Object.entries(rows).map(([name, column]: [string, Float64Array | string]) => [
    name,
    typeof column === 'string' ? column : column.subarray(begin, end),
  ])
  return Object.fromEntries(columns) as Recording['rows']
}

/** Candles have the shortest step, quotes the median one. */
export function rowStep({ rows, intervalMs }: Pick<Recording, 'rows' | 'intervalMs'>): number {
  return rows.kind === 'candles' ? candleLength(rows.at, intervalMs) : medianStep(rows.at)
}

export function medianStep(at: Float64Array): number {
  const steps = Float64Array.from({ length: Math.max(0, at.length - 1) }, (_, row) =>
    stepAt(at, row),
  ).sort()
  return steps[steps.length >> 1] ?? 60_000
}

function stepAt(at: Float64Array, row: number): number {
  return (at[row + 1] as number) - (at[row] as number)
}

function findGaps(at: Float64Array, stepMs: number, longerThanMs: number): PriceCoverage['gaps'] {
  const gaps: PriceGap[] = []
  for (let row = 0; row + 1 < at.length; row++) {
    if (stepAt(at, row) > longerThanMs)
      gaps.push({ fromAt: (at[row] as number) + stepMs, toAt: at[row + 1] as number })
  }
  const lengthOf = ({ fromAt, toAt }: PriceGap): number => toAt - fromAt
  return {
    count: gaps.length,
    totalMs: gaps.reduce((sum, gap) => sum + lengthOf(gap), 0),
    longest: gaps
      .toSorted((one, other) => lengthOf(other) - lengthOf(one))
      .slice(0, GAPS_SHOWN)
      .toSorted((one, other) => one.fromAt - other.fromAt),
  }
}

function toTime(at: number | undefined): string {
  return new Date(at ?? 0).toISOString()
}
