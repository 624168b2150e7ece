/**
 * In the order of the document (Futures ticker). Prices are in quote coin, sizes and volumes in
 * coins; a missing value is NaN.
 */
export const TICKER_COLUMNS = [
  'lastPr',
  'askPr',
  'bidPr',
  'bidSz',
  'askSz',
  'high24h',
  'low24h',
  /** Exchange clock. */
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

const CLOCK_ERROR_MS = 1000

/**
 * An answer overtakes another by less than the wait for one. If the known time is further ahead, it
 * was wrong, and must not make later answers look old.
 */
export function isOvertaken(
  { requestTime }: Pick<TickerTable, 'requestTime'>,
  latest: Pick<TickerTable, 'requestTime'> | undefined,
  exchangeNow: number,
): boolean {
  const latestAt = latest?.requestTime ?? 0
  return requestTime < latestAt && latestAt <= exchangeNow + CLOCK_ERROR_MS
}

export interface MarketAggregates {
  /** Exchange clock, of the answer. */
  readonly at: number
  readonly count: number
  readonly advance: number
  readonly decline: number
  /** Over 24 hours: 0.01 is one per cent. */
  readonly medianChange: number
}

/** The exchange lists some six hundred for a product type. */
const TICKER_ROWS_MAX = 4096

export class TickerTable {
  readonly columns: Readonly<Record<TickerColumn, Float64Array>>
  readonly #rows = new Map<string, number>()
  #symbols: string[] = []
  /** Unix ms, our clock; 0 before the first answer. */
  readAt = 0
  /** When the exchange received the request, or `readAt` if the answer does not state it. */
  requestTime = 0
  /** Keyed by symbol: why the row could not be read; its values are NaN. */
  unreadable: ReadonlyMap<string, string> = new Map()
  /** Undefined where the rows are not the whole market's. */
  market: MarketAggregates | undefined

  constructor(capacity: number = TICKER_ROWS_MAX) {
    this.columns = createColumns(capacity)
  }

  get capacity(): number {
    return this.columns.lastPr.length
  }

  get symbols(): readonly string[] {
    return this.#symbols
  }

  rowOf(symbol: string): number {
    const row = this.#rows.get(symbol) ?? -1
    return this.#symbols[row] === symbol ? row : -1
  }

  /** @throws RangeError when the table is full */
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

  clear(): void {
    // The table is full of symbols that are no longer listed.
    if (this.#rows.size > this.columns.lastPr.length) this.#rows.clear()
    this.#symbols = []
    this.market = undefined
  }

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
 * A reader fills the spare table and publishes it, so a snapshot's table is never overwritten.
 *
 *     spare ──publish()──► current ──publish() of the other──► spare
 */
export class TickerBuffers {
  readonly #tables = [new TickerTable(), new TickerTable()] as const
  #current: TickerTable | undefined

  get current(): TickerTable | undefined {
    return this.#current
  }

  spare(): TickerTable {
    const [one, other] = this.#tables
    return one === this.#current ? other : one
  }

  /** @throws RangeError for a table that is not the spare */
  publish(table: TickerTable): void {
    if (!this.#tables.includes(table) || table === this.#current) {
      throw new RangeError('only the spare table of these buffers can be published')
    }
    this.#current = table
  }
}

const PERIOD_MS = 60_000

/**
 * The market is computed once a minute, so that a recording with one answer a minute gives the same
 * as four answers a second.
 */
export class MarketWatch {
  #minute = Number.NaN
  #last: MarketAggregates | undefined

  /** @returns the same object until it is computed anew; undefined: no row says enough */
  follow(
    table: Pick<TickerTable, 'symbols' | 'columns' | 'requestTime'>,
  ): MarketAggregates | undefined {
    const minute = Math.floor(table.requestTime / PERIOD_MS)
    // One answer's wrong time must not hold the next ones back.
    if (minute !== this.#minute) this.#last = buildMarketAggregates(table)
    this.#minute = minute
    return this.#last
  }
}

/** Ignores rows that lack their change of 24 hours. */
export function buildMarketAggregates({
  symbols,
  columns,
  requestTime,
}: Pick<TickerTable, 'symbols' | 'columns' | 'requestTime'>): MarketAggregates | undefined {
  const changes = columns.change24h
    .subarray(0, symbols.length)
    .filter((change) => Number.isFinite(change))
    .toSorted()
  const count = changes.length
  if (count === 0) return undefined
  const [low, high] = [changes[(count - 1) >> 1] ?? 0, changes[count >> 1] ?? 0]
  return Object.freeze({
    at: requestTime,
    count,
    advance: changes.filter((change) => change > 0).length,
    decline: changes.filter((change) => change < 0).length,
    medianChange: (low + high) / 2,
  })
}
