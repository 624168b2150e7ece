import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import type { Answer } from '../../domain/answer.ts'
import { formatInterval, openOf } from '../../domain/candles.ts'
import {
  type BeyondCaller,
  type ExchangeCandle,
  readCandles,
} from '../../exchange/readers/candles-reader.ts'
import {
  type FundingPayment,
  readFundingRates,
} from '../../exchange/readers/funding-rates-reader.ts'
import { Failure } from '../../lib/failure.ts'
import type { Timers } from '../../lib/timers.ts'
import { buildFunding } from '../../prices/funding.ts'
import { loadRecording } from '../../prices/load-recording.ts'
import { buildPriceFile } from '../../prices/price-file.ts'
import type { CandleRows, RecordedFunding } from '../../prices/recording.ts'
import { writeNewFile } from '../../prices/write-new-file.ts'
import {
  type Granularity,
  GRANULARITIES,
  HISTORY_CANDLES_PAGE_MAX,
} from '../../protocol/beyond/candles.ts'
import type { ProductType } from '../../domain/instrument.ts'

export interface DownloadRequest {
  readonly caller: BeyondCaller
  readonly productType: ProductType
  readonly symbol: string
  readonly granularity: Granularity
  readonly fromAt: number
  /** Excluded, and not later than now. */
  readonly toAt: number
  readonly file: string
  readonly source: string
  /** The file says that a simulator makes the prices. */
  readonly isMadeUp: boolean
  readonly timers: Timers
  readonly onProgress: (share: number, label: string) => void
  readonly stopReason: () => string | undefined
}

export interface DownloadResult {
  readonly symbol: string
  readonly file: string
  readonly rows: number
  readonly added: number
  readonly payments: number
  /**
   * The candles between the first and the last row that the exchange did not show, even when asked
   * again.
   */
  readonly missing: number
  readonly fromAt: number
  readonly toAt: number
}

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const SPAN_MS_MAX = 90 * DAY_MS
/** When a file is continued, so many of its last rows are read again and compared. */
const OVERLAP_ROWS = 100
/** Reading so many rows takes some tens of seconds. */
const SAVED_EVERY_ROWS = 20_000
const RETRY_MS = [1000, 5000, 15_000, 30_000]
const FUNDING_PAGES_MAX = 10_000
/** The maximum of holes that are read again at each download: the exchange never fills some. */
const HOLE_CALLS_MAX = 100

const CANDLE_COLUMNS = ['open', 'high', 'low', 'close', 'volume'] as const
const COLUMNS = ['at', ...CANDLE_COLUMNS] as const

/**
 * Reads closed candles and funding into a price file, which is continued if the exchange still shows
 * its last rows.
 * @throws Failure DOWNLOAD_DIFFERS, DOWNLOAD_OTHER_FILE, DOWNLOAD_BEGINS_LATER, DOWNLOAD_EMPTY,
 * DOWNLOAD_REFUSED, DOWNLOAD_INTERRUPTED, and those of reading and writing price files
 */
export async function downloadPrices(request: DownloadRequest): Promise<DownloadResult> {
  const { file, symbol, toAt } = request
  const lengthMs = lengthOf(request)
  const download = new Download(request)
  const known = existsSync(file) ? await loadCandles(request) : undefined
  const begin = Math.ceil(request.fromAt / lengthMs) * lengthMs
  if (known === undefined) await download.readFrom(await download.findFirst(begin))
  else {
    download.adopt(known)
    await download.assertSame()
    await download.assertBegins(begin)
    await download.fillHoles()
    await download.readFrom(download.endAt)
  }
  if (download.rows === 0) throw nothingThere(request)
  await download.readFunding()
  download.save()
  const fromAt = download.beginAt
  return {
    symbol,
    file,
    rows: download.rows,
    added: download.rows - (known?.rows.at.length ?? 0),
    payments: download.payments.length,
    missing: (download.endAt - fromAt) / lengthMs - download.rows,
    fromAt,
    toAt: Math.min(toAt, download.endAt),
  }
}

function lengthOf({ granularity }: DownloadRequest): number {
  return GRANULARITIES[granularity].lengthMs
}

class Download {
  readonly #request: DownloadRequest
  readonly #lengthMs: number
  readonly #pageMs: number
  readonly #columns: Readonly<Record<(typeof COLUMNS)[number], number[]>> = {
    at: [],
    open: [],
    high: [],
    low: [],
    close: [],
    volume: [],
  }
  /** Keyed by hour since 1970, because exchanges add some milliseconds. */
  readonly #payments = new Map<number, FundingPayment>()
  #savedRows = 0

  constructor(request: DownloadRequest) {
    this.#request = request
    this.#lengthMs = lengthOf(request)
    this.#pageMs = Math.min(HISTORY_CANDLES_PAGE_MAX * this.#lengthMs, SPAN_MS_MAX)
  }

  get rows(): number {
    return this.#columns.at.length
  }

  get beginAt(): number {
    return this.#columns.at[0] ?? this.#request.fromAt
  }

  get payments(): readonly FundingPayment[] {
    return [...this.#payments.values()]
      .filter(({ at }) => at >= this.beginAt && at <= this.endAt)
      .toSorted((one, other) => one.at - other.at)
  }

  get endAt(): number {
    return (this.#columns.at.at(-1) ?? this.#request.fromAt) + this.#lengthMs
  }

  adopt({ rows, funding }: KnownCandles): void {
    for (const [row, at] of (funding?.at ?? []).entries())
      this.#addPayment({ at, rate: funding?.rate[row] ?? 0 })
    for (const name of COLUMNS) for (const value of rows[name]) this.#columns[name].push(value)
    this.#savedRows = this.rows
  }

  /** @throws Failure DOWNLOAD_DIFFERS */
  async assertSame(): Promise<void> {
    const first = Math.max(0, this.rows - OVERLAP_ROWS)
    const fromAt = Math.max(this.#columns.at[first] ?? 0, this.endAt - this.#pageMs)
    const page = await this.#read(fromAt, this.endAt)
    const shown = new Map(page.map((candle) => [candle.openAt, candle]))
    for (let row = first; row < this.rows; row++) {
      const at = this.#columns.at[row] ?? 0
      if (at < fromAt) continue
      const candle = shown.get(at)
      const differing = CANDLE_COLUMNS.filter((name) => candle?.[name] !== this.#columns[name][row])
      if (differing.length > 0) throw differs(this.#request, { at, candle, columns: differing })
    }
  }

  /** @throws Failure DOWNLOAD_BEGINS_LATER */
  async assertBegins(fromAt: number): Promise<void> {
    const firstAt = this.beginAt
    if (firstAt <= fromAt) return
    const before = Math.max(fromAt, firstAt - HISTORY_CANDLES_PAGE_MAX * this.#lengthMs)
    if ((await this.#read(before, firstAt)).length === 0) return
    throw new Failure({
      code: 'DOWNLOAD_BEGINS_LATER',
      sentence: 'the file begins later than --from, and is only continued at its end',
      facts: { file: this.#request.file, begins: toDate(firstAt), from: toDate(fromAt) },
      hint: `leave it as it is with --from ${toDate(firstAt)}, or name another --out`,
    })
  }

  /** Daily candles tell on which day the instrument began. */
  async findFirst(fromAt: number): Promise<number> {
    const { toAt } = this.#request
    for (let at = openOf(fromAt, DAY_MS); at < toAt; at += SPAN_MS_MAX) {
      const days = await this.#read(at, at + SPAN_MS_MAX, '1Dutc')
      const [first] = days
      if (first !== undefined) return Math.max(fromAt, first.openAt)
    }
    // Today is no closed day yet.
    return Math.max(fromAt, openOf(toAt - 1, DAY_MS))
  }

  async readFrom(fromAt: number): Promise<void> {
    const { toAt, symbol, onProgress } = this.#request
    for (let at = fromAt; at < toAt; at += this.#pageMs) {
      for (const candle of await this.#read(at, Math.min(toAt, at + this.#pageMs)))
        this.#insert(candle, this.rows)
      onProgress(
        Math.min(1, (at + this.#pageMs - fromAt) / (toAt - fromAt)),
        `${symbol} ${toDate(at)}`,
      )
      if (this.rows - this.#savedRows >= SAVED_EVERY_ROWS) this.save()
    }
  }

  async fillHoles(): Promise<void> {
    for (let row = 1, calls = 0; row < this.rows && calls < HOLE_CALLS_MAX; row++) {
      const at = (this.#columns.at[row - 1] ?? 0) + this.#lengthMs
      const nextAt = this.#columns.at[row] ?? 0
      if (at >= nextAt) continue
      calls += 1
      const found = await this.#read(at, Math.min(nextAt, at + this.#pageMs))
      for (const [index, candle] of found.entries()) this.#insert(candle, row + index)
    }
  }

  #insert({ openAt, ...candle }: ExchangeCandle, row: number): void {
    this.#columns.at.splice(row, 0, openAt)
    for (const name of CANDLE_COLUMNS) this.#columns[name].splice(row, 0, candle[name])
  }

  async readFunding(): Promise<void> {
    const { productType, symbol, caller, onProgress } = this.#request
    for (let page = 1, oldest = Number.POSITIVE_INFINITY; page <= FUNDING_PAGES_MAX; page++) {
      onProgress(1, `${symbol} funding`)
      const read = () => this.#ask(() => readFundingRates(caller, { productType, symbol, page }))
      const first = await read()
      // One empty page is not yet the end.
      const rates = first.length > 0 ? first : await read()
      for (const payment of rates) this.#addPayment(payment)
      const last = Math.min(...rates.map(({ at }) => at))
      // The exchange has no older payments.
      if (!(last < oldest) || last < this.beginAt) return
      oldest = last
    }
  }

  #addPayment(payment: FundingPayment): void {
    const hour = Math.round(payment.at / HOUR_MS)
    if (!this.#payments.has(hour)) this.#payments.set(hour, payment)
  }

  save(): void {
    const { payments } = this
    const { symbol, file, source, isMadeUp } = this.#request
    const columns = COLUMNS.map((name) => [name, Float64Array.from(this.#columns[name])] as const)
    const rows = { kind: 'candles', ...Object.fromEntries(columns) } as unknown as CandleRows
    const paid = {
      at: Float64Array.from(payments, ({ at }) => at),
      rate: Float64Array.from(payments, ({ rate }) => rate),
      source,
    }
    const funding = buildFunding(paid, (row) => `${source}, payment ${row + 1}`)
    const bytes = buildPriceFile({
      symbol,
      market: 'futures',
      intervalMs: this.#lengthMs,
      rows,
      sources: [source],
      ...(isMadeUp && { madeUp: true }),
      ...(payments.length > 0 && { funding }),
    })
    writeNewFile(file, bytes, { isReplacing: true })
    this.#savedRows = this.rows
  }

  /** Reads a page that lacks candles once more, because the exchange may have left them out. */
  async #read(
    fromAt: number,
    untilAt: number,
    granularity = this.#request.granularity,
  ): Promise<readonly ExchangeCandle[]> {
    const page = await this.#readPage(fromAt, untilAt, granularity)
    const isWhole = page.length * GRANULARITIES[granularity].lengthMs >= untilAt - fromAt
    // The first days of an instrument do not fill a page.
    const isEnough = granularity === this.#request.granularity ? isWhole : page.length > 0
    if (isEnough) return page
    const again = await this.#readPage(fromAt, untilAt, granularity)
    const both = new Map([...page, ...again].map((candle) => [candle.openAt, candle]))
    return [...both.values()].toSorted((one, other) => one.openAt - other.openAt)
  }

  #readPage(
    fromAt: number,
    untilAt: number,
    granularity: Granularity,
  ): Promise<readonly ExchangeCandle[]> {
    const { caller, productType, symbol } = this.#request
    return this.#ask(() =>
      readCandles(caller, {
        endpoint: 'historyCandles',
        productType,
        symbol,
        granularity,
        fromAt,
        untilAt,
        limit: HISTORY_CANDLES_PAGE_MAX,
      }),
    )
  }

  /**
   * Repeats a failed call. If all fail, what was read is saved. @throws Failure
   * DOWNLOAD_INTERRUPTED
   */
  async #ask<Data>(call: () => Promise<Answer<Data>>): Promise<Data> {
    let reason = this.#request.stopReason()
    for (const pauseMs of [0, ...RETRY_MS]) {
      if (reason !== undefined && pauseMs > 0) await this.#pause(pauseMs)
      if (this.#request.stopReason() !== undefined) break
      const answer = await call()
      if (answer.kind === 'accepted') return answer.data
      reason = `${answer.code}: ${answer.message}`
      if (answer.kind === 'refused' && answer.class === 'definite') {
        this.#saveNew()
        throw refused(this.#request, reason)
      }
    }
    this.#saveNew()
    throw this.#interrupted(this.#request.stopReason() ?? reason ?? '')
  }

  #saveNew(): void {
    if (this.rows > this.#savedRows) this.save()
  }

  #interrupted(reason: string): Failure {
    const { symbol, file } = this.#request
    return new Failure({
      code: 'DOWNLOAD_INTERRUPTED',
      sentence: 'the exchange could not be read to the end',
      facts: {
        symbol,
        reason,
        ...(this.#savedRows > 0 && { file, rows: this.#savedRows, until: toDate(this.endAt) }),
      },
      hint: 'repeat the command: it goes on after the last whole row',
    })
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#request.timers.after(ms, resolve))
  }
}

interface KnownCandles {
  readonly rows: CandleRows
  readonly funding: RecordedFunding | undefined
}

async function loadCandles(request: DownloadRequest): Promise<KnownCandles> {
  const { file, symbol, granularity, isMadeUp } = request
  const recording = await loadRecording(file)
  const { rows, intervalMs, funding } = recording
  if (recording.madeUp && !isMadeUp) throw madeUpBefore(request)
  if (rows.kind === 'candles' && intervalMs === lengthOf(request) && recording.symbol === symbol)
    return { rows, funding }
  throw new Failure({
    code: 'DOWNLOAD_OTHER_FILE',
    sentence: 'the file that would be continued is of something else',
    facts: {
      file,
      holds: `${rows.kind} of ${recording.symbol}${intervalMs === undefined ? '' : ` of ${formatInterval(intervalMs)}`}`,
      wanted: `candles of ${symbol} of ${granularity}`,
    },
    hint: 'name another --out, or remove the file',
  })
}

function madeUpBefore({ file, source }: DownloadRequest): Failure {
  return new Failure({
    code: 'DOWNLOAD_OTHER_FILE',
    sentence: 'the file that would be continued has prices that a simulator made up',
    facts: { file, 'would be continued from': source },
    hint: 'name another --out, or remove the file',
  })
}

interface CandleDifference {
  readonly at: number
  readonly candle: ExchangeCandle | undefined
  readonly columns: readonly string[]
}

function differs(
  { file, symbol }: DownloadRequest,
  { at, candle, columns }: CandleDifference,
): Failure {
  const found = candle === undefined ? 'no such candle' : `another ${columns.join(', ')}`
  return new Failure({
    code: 'DOWNLOAD_DIFFERS',
    sentence: 'the exchange shows a candle of the file otherwise than it is in the file',
    facts: { file, symbol, candle: toDate(at), 'the exchange shows': found },
    hint: 'the file is of another exchange, or was changed: name another --out',
  })
}

function refused({ symbol, productType }: DownloadRequest, reason: string): Failure {
  return new Failure({
    code: 'DOWNLOAD_REFUSED',
    sentence: 'the exchange does not show these candles',
    facts: { symbol, 'product type': productType, reason },
    hint: `check the symbol: \`intentd call contracts --product-type ${productType}\` lists them`,
  })
}

function nothingThere({
  symbol,
  granularity,
  fromAt,
  toAt,
  productType,
}: DownloadRequest): Failure {
  return new Failure({
    code: 'DOWNLOAD_EMPTY',
    sentence: 'the exchange has no candles of this time',
    facts: { symbol, candles: granularity, from: toDate(fromAt), to: toDate(toAt) },
    hint: `check --from and --to, and the symbol: \`intentd call contracts --product-type ${productType}\` lists them`,
  })
}

function toDate(at: number): string {
  const text = new Date(at).toISOString()
  return text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : text.slice(0, 16)
}

export function nameDownload(symbol: string, lengthMs: number): string {
  return basename(`${symbol}-futures-${formatInterval(lengthMs)}.prices`)
}
