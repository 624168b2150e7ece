/**
 * The latest ticker of every instrument of one product type, as columns of float64: one row per
 * instrument, one column per field. An answer is read into the spare one of two tables, so that the
 * other stays unchanged while a snapshot is in use. A missing value is NaN.
 */

/** Columns in the order of the document (Futures ticker). Prices in quote coin, sizes and volumes in coins. */
export const TICKER_COLUMNS = [
  'lastPr',
  'askPr',
  'bidPr',
  'bidSz',
  'askSz',
  'high24h',
  'low24h',
  /** Unix ms, exchange clock. */
  'ts',
  'change24h',
  'baseVolume',
  'quoteVolume',
  'usdtVolume',
  'openUtc',
  'changeUtc24h',
  'indexPrice',
  'fundingRate',
  'holdingAmount',
  'open24h',
  'deliveryStartTime',
  'deliveryTime',
  /** An index into {@link DELIVERY_STATES}; NaN for a contract without delivery. */
  'deliveryStatus',
] as const

export type TickerColumn = (typeof TICKER_COLUMNS)[number]

export const DELIVERY_STATES = [
  'delivery_config_period',
  'delivery_normal',
  'delivery_before',
  'delivery_period',
] as const

export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** How wrong our estimate of the exchange's clock may be. */
const CLOCK_ERROR_MS = 1000

/**
 * Whether a newer answer is already known. Answers overtake each other by less than the wait for
 * one. A known time further ahead of our estimate of the exchange's clock was wrong, and would make
 * every later answer look old until the clock had caught up.
 * @param exchangeNow Unix ms.
 */
export function isOvertaken(
  { requestTime }: Pick<TickerTable, 'requestTime'>,
  latest: Pick<TickerTable, 'requestTime'> | undefined,
  exchangeNow: number,
): boolean {
  const latestAt = latest?.requestTime ?? 0
  return requestTime < latestAt && latestAt <= exchangeNow + CLOCK_ERROR_MS
}

/**
 * Maximum number of instruments in a table; the exchange lists some six hundred per product type.
 */
const TICKER_ROWS_MAX = 4096

export class TickerTable {
  readonly columns: Readonly<Record<TickerColumn, Float64Array>>
  /** The last row of each symbol, usually also its next. */
  readonly #rows = new Map<string, number>()
  #symbols: string[] = []
  /**
   * Unix ms, our clock: when the last byte of the answer arrived, or for another daemon's answer
   * when that daemon requested it. Zero before the first answer.
   */
  readAt = 0
  /** Unix ms, exchange clock, when it received the request; our `readAt` if the answer has none. */
  requestTime = 0
  /**
   * Rows of the answer that do not match the document, by symbol, with the reason: all their values
   * are NaN.
   */
  unreadable: ReadonlyMap<string, string> = new Map()

  constructor(capacity: number = TICKER_ROWS_MAX) {
    this.columns = createColumns(capacity)
  }

  /** Maximum number of rows. */
  get capacity(): number {
    return this.columns.lastPr.length
  }

  get symbols(): readonly string[] {
    return this.#symbols
  }

  /** The row of a symbol, or -1. */
  rowOf(symbol: string): number {
    const row = this.#rows.get(symbol) ?? -1
    return this.#symbols[row] === symbol ? row : -1
  }

  /**
   * The row of a symbol, created if it is new.
   * @throws RangeError when the table is full.
   */
  claimRow(symbol: string): number {
    const known = this.#rows.get(symbol)
    if (known !== undefined && this.#symbols[known] === symbol) return known
    const row = this.#symbols.length
    if (row >= this.columns.lastPr.length)
      throw new RangeError(`more than ${row} instruments in one answer`)
    if (known !== row) this.#rows.set(symbol, row)
    this.#symbols.push(symbol)
    return row
  }

  /** Forgets all rows; the next reader claims them again. */
  clear(): void {
    // Rows of symbols that are no longer listed would be kept for ever.
    if (this.#rows.size > this.columns.lastPr.length) this.#rows.clear()
    this.#symbols = []
  }

  /** A field of a symbol; NaN when there is no such row or value. */
  read(symbol: string, column: TickerColumn): number {
    return this.columns[column][this.rowOf(symbol)] ?? Number.NaN
  }
}

function createColumns(capacity: number): Record<TickerColumn, Float64Array> {
  const columns: Partial<Record<TickerColumn, Float64Array>> = {}
  for (const column of TICKER_COLUMNS) columns[column] = new Float64Array(capacity).fill(Number.NaN)
  return columns as Record<TickerColumn, Float64Array>
}

/**
 * The two ticker tables of one product type, used in turn: a reader fills the spare one with an answer and publishes
 * it. So the newest table is never overwritten.
 *
 *     spare ──publish()──► current ──publish() of the other──► spare
 */
export class TickerBuffers {
  readonly #tables = [new TickerTable(), new TickerTable()] as const
  #current: TickerTable | undefined

  /** The newest published table; undefined before the first. */
  get current(): TickerTable | undefined {
    return this.#current
  }

  /**
   * The table to fill: the same one until it is published. It still holds an older answer, so that
   * rows of the same instruments can keep their places; a reader must leave either its own answer
   * in it or nothing.
   */
  spare(): TickerTable {
    const [one, other] = this.#tables
    return one === this.#current ? other : one
  }

  /**
   * Makes the filled spare the newest table.
   * @throws RangeError for a table that is not the spare of this buffer.
   */
  publish(table: TickerTable): void {
    if (!this.#tables.includes(table) || table === this.#current) {
      throw new RangeError('only the spare table of these buffers can be published')
    }
    this.#current = table
  }
}
