import type { Clock } from '../../lib/clock.ts'
import type { Timers } from '../../lib/timers.ts'
import type { BeyondCaller } from '../../exchange/readers/candles-reader.ts'
import type { Answer } from '../../domain/answer.ts'
import type { LogEvent } from '../../domain/log-events.ts'
import { type TickerColumn, TickerTable } from '../../domain/ticker-table.ts'
import { ExchangeClock } from '../../exchange/clock/exchange-clock.ts'
import { ExchangeClient } from '../../exchange/exchange-client.ts'
import { Failure } from '../../lib/failure.ts'
import type { ProxyFor } from '../../lib/net/proxy.ts'
import type { ProductType } from '../../domain/instrument.ts'
import type { LiveSource, LiveTicker } from '../../simulator/market/live/live-market.ts'
import type { LogLevel } from '../../logging/logger.ts'

export interface LivePricesOptions {
  readonly baseUrl: string
  readonly pollMs: number
  readonly proxyFor?: ProxyFor | undefined
  readonly productType: ProductType
  readonly clock: Clock
  readonly timers: Timers
  readonly log: (
    level: LogLevel,
    event: LogEvent,
    fields: Readonly<Record<string, unknown>>,
  ) => void
}

const REQUEST_MS_MAX = 5000
const ANSWER_BYTES_MAX = 8 * 1024 * 1024
/** Rows older than this are old at the source, and not shown as new. */
const ROW_AGE_MS_MAX = 5000

/**
 * Trades at another exchange's public tickers, read without keys.
 *
 *     new ──open()──► following ──close()──► closed
 *
 * In an outage, logged once, prices stand still and age.
 */
export class LivePrices implements LiveSource {
  readonly name: string
  readonly #options: LivePricesOptions
  readonly #client: ExchangeClient
  readonly #table = new TickerTable()
  #hear: Parameters<LiveSource['follow']>[0] = () => {}
  #cancel: () => void = () => {}
  #isClosed = false
  #missingSince: number | undefined

  constructor(options: LivePricesOptions) {
    const { baseUrl, clock, timers } = options
    this.name = baseUrl
    this.#options = options
    this.#client = new ExchangeClient({
      baseUrl,
      clock,
      timers,
      proxyFor: options.proxyFor,
      positionMode: 'one_way_mode',
      offset: new ExchangeClock(),
      requestTimeoutMs: REQUEST_MS_MAX,
      answerBytesMax: ANSWER_BYTES_MAX,
      locale: 'en-US',
    })
  }

  get caller(): BeyondCaller {
    return this.#client
  }

  follow(hear: Parameters<LiveSource['follow']>[0]): void {
    this.#hear = hear
  }

  /** Reads once, and then every `pollMs`. @throws Failure LIVE_PRICES_UNREACHABLE */
  async open(): Promise<void> {
    const answer = await this.#read()
    if (answer.kind !== 'accepted') {
      await this.close()
      throw new Failure({
        code: 'LIVE_PRICES_UNREACHABLE',
        sentence: 'the exchange whose prices are to be followed does not show them',
        facts: { url: this.name, problem: problemOf(answer) },
        hint: 'check simulator.market.live.baseUrl and the connection',
      })
    }
    this.#show(answer.data, answer)
    this.#readLater()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancel()
    await this.#client.close()
  }

  #readLater(): void {
    if (this.#isClosed) return
    this.#cancel = this.#options.timers.after(this.#options.pollMs, () => {
      void this.#poll()
    })
  }

  async #poll(): Promise<void> {
    const answer = await this.#read()
    if (this.#isClosed) return
    if (answer.kind === 'accepted') this.#show(answer.data, answer)
    else this.#sayMissing(problemOf(answer))
    this.#readLater()
  }

  #read(): Promise<Answer<TickerTable>> {
    return this.#client.readTickers(this.#table, this.#options.productType)
  }

  #show(
    table: TickerTable,
    { receivedAt, requestTime }: { readonly receivedAt: number; readonly requestTime?: number },
  ): void {
    if (this.#missingSince !== undefined) {
      this.#options.log('info', 'prices.back', {
        url: this.name,
        afterMs: receivedAt - this.#missingSince,
      })
      this.#missingSince = undefined
    }
    const now = requestTime ?? receivedAt
    const tickers = table.symbols.map((symbol) => toLiveTicker(table, symbol))
    const isFresh = ({ symbol }: LiveTicker) =>
      now - (table.columns.ts[table.rowOf(symbol)] as number) <= ROW_AGE_MS_MAX
    this.#hear(tickers.filter(isFresh), receivedAt)
  }

  #sayMissing(reason: string): void {
    if (this.#missingSince !== undefined) return
    this.#missingSince = this.#options.clock.now()
    this.#options.log('warn', 'prices.missing', { url: this.name, reason })
  }
}

function problemOf(answer: Exclude<Answer<unknown>, { readonly kind: 'accepted' }>): string {
  return `${answer.code} ${answer.message}`
}

/** An unreadable row leaves its market without prices; the others have theirs (MKT4). */
function toLiveTicker(table: TickerTable, symbol: string): LiveTicker {
  const row = table.rowOf(symbol)
  const valueOf = (column: TickerColumn): number => table.columns[column][row] ?? Number.NaN
  return {
    symbol,
    bid: valueOf('bidPr'),
    ask: valueOf('askPr'),
    bidSize: valueOf('bidSz'),
    askSize: valueOf('askSz'),
    last: valueOf('lastPr'),
    mark: undefined,
    fundingRate: valueOf('fundingRate'),
  }
}
