/** `openAt` is of the exchange's clock, prices are in quote coin, `ticks` counts tickers. */
export type CandleRow = readonly [
  openAt: number,
  open: number,
  high: number,
  low: number,
  close: number,
  ticks: number,
]

export interface CandleColumns {
  readonly openAt: Float64Array
  readonly open: Float64Array
  readonly high: Float64Array
  readonly low: Float64Array
  readonly close: Float64Array
  readonly ticks: Float64Array
}

const CANDLE_COLUMNS = ['openAt', 'open', 'high', 'low', 'close', 'ticks'] as const

/** Closed candles without gaps, in a ring. */
export interface CandleSeries {
  readonly intervalMs: number
  readonly columns: CandleColumns
  /** Only {@link appendCandle} changes these fields. */
  first: number
  length: number
  /** The number of candles without tickers since the series was last empty. */
  filled: number
}

/** Three and a half days of minutes. */
export const CANDLES_MAX = 5000
const DAY_MS = 86_400_000
const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: DAY_MS } as const

/**
 * `1m`, `15m`, `4h`, `1d`, `90s`, `1500ms`. Undefined if it does not divide a day, or is below a
 * second.
 */
export function parseInterval(interval: string): number | undefined {
  const [, count = '', unit = ''] = /^([1-9]\d{0,8})(ms|s|m|h|d)$/.exec(interval) ?? []
  const intervalMs = Number(count) * (UNITS[unit as keyof typeof UNITS] ?? 0)
  return intervalMs >= 1000 && DAY_MS % intervalMs === 0 ? intervalMs : undefined
}

export function formatInterval(intervalMs: number): string {
  const units = Object.entries(UNITS).filter(([, unitMs]) => intervalMs % unitMs === 0)
  const [unit, unitMs] = units.at(-1) ?? ['ms', 1]
  return `${intervalMs / unitMs}${unit}`
}

export function openOf(at: number, intervalMs: number): number {
  return Math.floor(at / intervalMs) * intervalMs
}

export function candleKey(symbol: string, intervalMs: number): string {
  return `${symbol}|${intervalMs}`
}

export function createCandleSeries(intervalMs: number, capacity: number): CandleSeries {
  const columns = Object.fromEntries(
    CANDLE_COLUMNS.map((name) => [name, new Float64Array(capacity)]),
  )
  return {
    intervalMs,
    columns: columns as unknown as CandleColumns,
    first: 0,
    length: 0,
    filled: 0,
  }
}

export function capacityOf({ columns }: CandleSeries): number {
  return columns.openAt.length
}

export function newestOpenAt(series: CandleSeries): number {
  return series.length === 0
    ? Number.NEGATIVE_INFINITY
    : readCandle(series, 'openAt', series.length - 1)
}

/** @param index 0 is the oldest @returns NaN where there is no candle */
export function readCandle(
  series: CandleSeries,
  column: keyof CandleColumns,
  index: number,
): number {
  const { columns, first, length } = series
  if (index < 0 || index >= length) return Number.NaN
  return columns[column][(first + index) % columns[column].length] ?? Number.NaN
}

export function toRows(series: CandleSeries, from = 0): readonly CandleRow[] {
  return Array.from({ length: series.length - from }, (_, index) =>
    CANDLE_COLUMNS.map((column) => readCandle(series, column, from + index)),
  ) as unknown as readonly CandleRow[]
}

/**
 * A gap as long as the series empties it. A candle that is not later than the last one is ignored,
 * because what was known at a close never changes.
 */
export function appendCandle(series: CandleSeries, row: CandleRow): void {
  const [openAt, , , , , ticks] = row
  const { intervalMs } = series
  const newest = newestOpenAt(series)
  if (openAt <= newest) return
  if (series.length > 0 && (openAt - newest) / intervalMs > capacityOf(series)) {
    Object.assign(series, { first: 0, length: 0, filled: 0 })
    if (ticks === 0) return
  }
  if (series.length > 0) {
    const close = readCandle(series, 'close', series.length - 1)
    for (let missing = newest + intervalMs; missing < openAt; missing += intervalMs) {
      push(series, [missing, close, close, close, close, 0])
    }
  }
  push(series, row)
}

function push(series: CandleSeries, row: CandleRow): void {
  const { columns, length, first } = series
  const capacity = capacityOf(series)
  const place = (first + length) % capacity
  for (let field = 0; field < CANDLE_COLUMNS.length; field++) {
    const column = CANDLE_COLUMNS[field]
    if (column) columns[column][place] = row[field] ?? Number.NaN
  }
  if (length < capacity) series.length += 1
  else series.first = (first + 1) % capacity
  if (row[5] === 0) series.filled += 1
}

/** Only {@link addTick} changes it. */
export interface OpenCandle {
  readonly openAt: number
  readonly open: number
  high: number
  low: number
  close: number
  ticks: number
  /** Exchange clock. */
  lastAt: number
}

/** Changes the candle in place, because this happens at each snapshot. */
export function addTick(candle: OpenCandle, price: number, at: number): void {
  if (price > candle.high) candle.high = price
  if (price < candle.low) candle.low = price
  candle.close = price
  candle.ticks += 1
  candle.lastAt = at
}

/** A shorter candle counts as one tick. Its open is given to {@link openCandle}. */
export function addCandle(
  candle: OpenCandle,
  { high, low, close }: Pick<OpenCandle, 'high' | 'low' | 'close'>,
  at: number,
): void {
  for (const price of [high, low, close]) addTick(candle, price, at)
  candle.ticks -= 2
}

export function openCandle(openAt: number, price: number, at: number): OpenCandle {
  return { openAt, open: price, high: price, low: price, close: price, ticks: 1, lastAt: at }
}

export function toRow({ openAt, open, high, low, close, ticks }: OpenCandle): CandleRow {
  return [openAt, open, high, low, close, ticks]
}
