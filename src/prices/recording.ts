/** A recording of real prices: candles or quotes of one instrument, as columns. */

/** What a recording may know beside prices. */
export interface ReferenceRows {
  /** The mark price, in quote coin: of a candle at its end, of a quote at its time. */
  readonly mark?: Float64Array
  /** The rate that would be settled then, as a share: 0.0001 is 1 bp. */
  readonly fundingRate?: Float64Array
}

/** Columns of candles, a row each: prices and volume as written, `at` in Unix ms. */
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

/** Columns of quotes, a row each. */
export interface QuoteRows extends ReferenceRows {
  readonly kind: 'quotes'
  readonly at: Float64Array
  readonly bid: Float64Array
  readonly ask: Float64Array
  readonly bidSize: Float64Array
  readonly askSize: Float64Array
  readonly last: Float64Array
  /** Traded since the row before, in the base coin; absent where the file has no such column. */
  readonly volume?: Float64Array
}

export interface Recording {
  readonly symbol: string
  /** Where it is known. */
  readonly market?: 'spot' | 'futures'
  /** How far apart candles stand where none is missing, ms; where it is known. */
  readonly intervalMs?: number
  /** The file's name without its folder, for messages. */
  readonly source: string
  /**
   * SHA-256, hex: of a CSV its unpacked contents, of a price file the sum that it carries. A plain and a gzipped
   * copy are the same recording.
   */
  readonly sha256: string
  readonly rows: CandleRows | QuoteRows
  /** When funding was paid, and how much; absent where nobody recorded it. */
  readonly funding?: RecordedFunding
}

/** Payments of funding in the order of time. */
export interface RecordedFunding {
  /** Unix ms, a whole minute. */
  readonly at: Float64Array
  /** As a share: 0.0001 is 1 bp, paid by longs. */
  readonly rate: Float64Array
  /** The name of the file, for messages. */
  readonly source: string
  /** SHA-256 of times and rates, hex. */
  readonly sha256: string
}

/** Fields of a row, in the order of the file, and those that may be there. */
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

/** A column of {@link FIELDS}. */
export type Field = (typeof FIELDS)['candles' | 'quotes']['required' | 'optional'][number]

/** Columns by the names of their fields become rows; they are not checked. */
export function toRows(
  kind: keyof typeof FIELDS,
  columns: ReadonlyMap<Field, Float64Array>,
): CandleRows | QuoteRows {
  return { kind, ...Object.fromEntries(columns) } as unknown as CandleRows | QuoteRows
}

/** The other way round: the columns of rows, in the order of {@link FIELDS}. */
export function toColumns(rows: CandleRows | QuoteRows) {
  const { required, optional } = FIELDS[rows.kind]
  const columns = rows as unknown as Readonly<Partial<Record<Field, Float64Array>>>
  return [...required, ...optional].flatMap((field) => {
    const numbers = columns[field]
    return numbers ? [{ field, numbers }] : []
  })
}

/** The first row at or after an instant. */
export function indexFrom(at: Float64Array, instant: number): number {
  let [low, high] = [0, at.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((at[middle] as number) < instant) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * How long each candle of a recording is, ms: what the file says, else the shortest way from one to the next, because
 * thin markets leave some out.
 */
export function candleLength(at: Float64Array, statedMs?: number): number {
  if (statedMs !== undefined) return statedMs
  let length = Number.POSITIVE_INFINITY
  for (let row = 1; row < at.length; row++)
    length = Math.min(length, (at[row] ?? 0) - (at[row - 1] ?? 0))
  return Number.isFinite(length) ? length : 60_000
}
