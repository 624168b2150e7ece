export interface ReferenceRows {
  /** In the quote coin, at the end of a candle or the time of a quote. */
  readonly mark?: Float64Array
  readonly fundingRate?: Float64Array
}

export interface CandleRows extends ReferenceRows {
  readonly kind: 'candles'
  readonly at: Float64Array
  readonly open: Float64Array
  readonly high: Float64Array
  readonly low: Float64Array
  readonly close: Float64Array
  /** In the base coin. */
  readonly volume: Float64Array
}

export interface QuoteRows extends ReferenceRows {
  readonly kind: 'quotes'
  readonly at: Float64Array
  readonly bid: Float64Array
  readonly ask: Float64Array
  readonly bidSize: Float64Array
  readonly askSize: Float64Array
  readonly last: Float64Array
  /** Traded since the row before, in the base coin; absent without such a column. */
  readonly volume?: Float64Array
}

export interface Recording {
  readonly symbol: string
  readonly market?: 'spot' | 'futures'
  /** Absent if unknown. */
  readonly intervalMs?: number
  readonly source: string
  /**
   * Covers the unpacked CSV, so that a gzipped copy is the same recording; for a price file, its
   * checksum.
   */
  readonly sha256: string
  readonly rows: CandleRows | QuoteRows
  /** True if a simulator made the prices. */
  readonly madeUp?: true
  readonly funding?: RecordedFunding
}

export interface RecordedFunding {
  readonly at: Float64Array
  /** A share of the position, paid by longs. */
  readonly rate: Float64Array
  readonly source: string
  readonly sha256: string
}

export const FIELDS = {
  candles: {
    required: ['at', 'open', 'high', 'low', 'close', 'volume'],
    optional: ['mark', 'fundingRate'],
  },
  quotes: {
    required: ['at', 'bid', 'ask', 'bidSize', 'askSize', 'last'],
    optional: ['volume', 'mark', 'fundingRate'],
  },
} as const

export type Field = (typeof FIELDS)['candles' | 'quotes']['required' | 'optional'][number]

/** The rows are not checked. */
export function toRows(
  kind: keyof typeof FIELDS,
  columns: ReadonlyMap<Field, Float64Array>,
): CandleRows | QuoteRows {
  return { kind, ...Object.fromEntries(columns) } as unknown as CandleRows | QuoteRows
}

export function toColumns(rows: CandleRows | QuoteRows) {
  const { required, optional } = FIELDS[rows.kind]
  const columns = rows as unknown as Readonly<Partial<Record<Field, Float64Array>>>
  return [...required, ...optional].flatMap((field) => {
    const numbers = columns[field]
    return numbers ? [{ field, numbers }] : []
  })
}

export function indexFrom(at: Float64Array, instant: number): number {
  let [low, high] = [0, at.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((at[middle] as number) < instant) low = middle + 1
    else high = middle
  }
  return low
}

/** Without a stated length the shortest step counts, because thin markets leave candles out. */
export function candleLength(at: Float64Array, statedMs?: number): number {
  if (statedMs !== undefined) return statedMs
  let length = Number.POSITIVE_INFINITY
  for (let row = 1; row < at.length; row++)
    length = Math.min(length, (at[row] ?? 0) - (at[row - 1] ?? 0))
  return Number.isFinite(length) ? length : 60_000
}
