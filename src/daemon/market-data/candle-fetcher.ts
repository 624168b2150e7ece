import type { Answer } from '../../domain/answer.ts'
import {
  addCandle,
  candleKey,
  type CandleRow,
  formatInterval,
  newestOpenAt,
  openCandle,
  openOf,
  toRow,
} from '../../domain/candles.ts'
import type { Book } from '../../engine/book/book.ts'
import type { EngineEvent, FetchedCandles } from '../../engine/event.ts'
import type { EngineSettings } from '../../engine/settings.ts'
import { toNeededCandles } from '../../engine/state/candles.ts'
import type { NeededCandles } from '../../engine/state/core.ts'
import {
  type BeyondCaller,
  type ExchangeCandle,
  readCandles,
} from '../../exchange/readers/candles-reader.ts'
import { messageOf } from '../../lib/failure.ts'
import type { Timers } from '../../lib/timers.ts'
import {
  CANDLES_PAGE_MAX,
  type Granularity,
  GRANULARITIES,
  granularityOf,
  HISTORY_CANDLES_PAGE_MAX,
} from '../../protocol/beyond/candles.ts'
import type { ProductType } from '../../domain/instrument.ts'
import type { DaemonLogger } from '../../logging/logger.ts'

export interface CandleFetcherOptions {
  /** `exchange.beyondDocument` of the configuration; without it nothing is fetched. */
  readonly isAllowed: boolean
  readonly caller: BeyondCaller
  readonly productType: ProductType
  readonly settings: Pick<EngineSettings, 'strategies'>
  readonly book: Pick<Book, 'candles'>
  /** Exchange clock. */
  readonly exchangeNow: () => number
  readonly timers: Timers
  readonly dispatch: (event: EngineEvent) => void
  readonly logger: Pick<DaemonLogger, 'log'>
}

/** Leaves time for the first prices and the candles of files. */
const FIRST_MS = 1000
/** With this pause, half of the calls that the exchange allows an address are made. */
const BETWEEN_CALLS_MS = 100
/** Pauses after failed calls. After the last one the rest is given up. */
const RETRY_MS = [2000, 10_000, 30_000]
const MINUTE_MS = 60_000
/** With smaller pages the fetching would not end. */
const PAGE_LEAST = HISTORY_CANDLES_PAGE_MAX / 4
const PAGES_SPARE = 20

/**
 * Fetches the closed candles that strategies need, a call at a time:
 *
 *     new ──start()──► waiting ──► fetching ──► done ──follow()──► waiting
 *                         └──────── stop() ──────► done
 *
 * If the rest is given up, that is logged once, and strategies wait for their candles.
 */
export class CandleFetcher {
  readonly #options: CandleFetcherOptions
  readonly #ended = Promise.withResolvers<void>()
  #cancel = (): void => undefined
  #wake = (): void => undefined
  #isStopped = false
  #isFetching = false
  #work: Promise<void> = Promise.resolve()
  #isBehind = false
  readonly #tried = new Set<string>()

  constructor(options: CandleFetcherOptions) {
    this.#options = options
  }

  get ended(): Promise<void> {
    return this.#ended.promise
  }

  start(): void {
    if (this.#isStopped || this.#isFetching) return
    this.#isFetching = true
    this.#work = this.#fetchAll().finally(() => this.#ended.resolve())
  }

  follow(): void {
    if (!this.#isFetching || this.#isStopped || this.#isBehind) return
    this.#isBehind = true
    this.#work = this.#work.then(() => {
      this.#isBehind = false
      return this.#fetchAll()
    })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancel()
    this.#wake()
    await this.#work
  }

  async #fetchAll(): Promise<void> {
    const { isAllowed, logger } = this.#options
    await this.#pause(FIRST_MS)
    const lacking = this.#listLacking()
    const failed: NeededCandles[] = []
    let reason = ''
    for (const series of isAllowed ? lacking : []) {
      if (this.#isStopped) return
      const problem = reason === '' ? await this.#fetchSeries(series).catch(messageOf) : reason
      if (problem === undefined) continue
      failed.push(series)
      // The exchange has no candles for this length, which says nothing about other series.
      if (sourceOf(series.intervalMs) !== undefined) reason = problem
      else this.#sayNotFetched([series], problem)
    }
    if (this.#isStopped) return
    const unread = failed.filter(({ intervalMs }) => sourceOf(intervalMs) !== undefined)
    if (unread.length > 0) this.#sayNotFetched(unread, reason)
    for (const facts of this.#listEnded(isAllowed ? failed : lacking))
      logger.log('warn', 'history.ends', facts)
  }

  #sayNotFetched(series: readonly NeededCandles[], reason: string): void {
    const names = series.map(({ symbol, intervalMs }) => `${symbol} ${formatInterval(intervalMs)}`)
    this.#options.logger.log('warn', 'history.notFetched', { series: names, reason })
  }

  #listLacking(): readonly NeededCandles[] {
    const { settings, book, exchangeNow } = this.#options
    const needed = toNeededCandles(settings)
    for (const key of this.#tried) if (!needed.has(key)) this.#tried.delete(key)
    return [...needed].flatMap(([key, series]) => {
      if (this.#tried.has(key)) return []
      this.#tried.add(key)
      const known = book.candles.get(key)
      const present = openOf(exchangeNow(), series.intervalMs)
      const isWhole =
        known !== undefined &&
        known.length >= series.capacity &&
        known.filled === 0 &&
        newestOpenAt(known) >= present - 2 * series.intervalMs
      return isWhole ? [] : [series]
    })
  }

  /** @returns why it could not be fetched */
  async #fetchSeries(series: NeededCandles): Promise<string | undefined> {
    const granularity = sourceOf(series.intervalMs)
    if (granularity === undefined)
      return `the exchange has no candles that make up ${formatInterval(series.intervalMs)}`
    for (const retryMs of [...RETRY_MS, undefined]) {
      const fetched = await this.#readSeries(series, granularity)
      if (this.#isStopped) return undefined
      if (typeof fetched !== 'string') {
        this.#options.dispatch({ kind: 'candlesFetched', ...fetched })
        return undefined
      }
      if (retryMs === undefined) return fetched
      await this.#pause(retryMs)
    }
    return undefined
  }

  /** The newest page has the running candle; older ones follow back to the first that is needed. */
  async #readSeries(
    { symbol, intervalMs, capacity }: NeededCandles,
    granularity: Granularity,
  ): Promise<FetchedCandles | string> {
    const { caller, productType, exchangeNow } = this.#options
    const { lengthMs } = GRANULARITIES[granularity]
    const presentAt = openOf(exchangeNow(), intervalMs)
    const fromAt = presentAt - capacity * intervalMs
    const wanted = Math.ceil((exchangeNow() - fromAt) / lengthMs) + 1
    const common = { productType, symbol, granularity }
    const recent = await readCandles(caller, {
      ...common,
      endpoint: 'candles',
      limit: Math.min(CANDLES_PAGE_MAX, wanted),
    })
    if (recent.kind !== 'accepted') return reasonOf(recent)
    let candles = recent.data
    let isEmpty = false
    let pagesLeft = PAGES_SPARE + Math.ceil(wanted / PAGE_LEAST)
    for (let oldest = candles[0]?.openAt ?? presentAt; oldest > fromAt;) {
      if (pagesLeft-- === 0) return 'more pages than the candles can fill'
      await this.#pause(BETWEEN_CALLS_MS)
      if (this.#isStopped) return 'stopped'
      const page = await readCandles(caller, {
        ...common,
        endpoint: 'historyCandles',
        fromAt: Math.max(fromAt, oldest - HISTORY_CANDLES_PAGE_MAX * lengthMs),
        untilAt: oldest,
        limit: HISTORY_CANDLES_PAGE_MAX,
      })
      if (page.kind !== 'accepted') return reasonOf(page)
      // After two empty pages the exchange has no older candles.
      if (page.data.length === 0 && isEmpty) break
      isEmpty = page.data.length === 0
      if (isEmpty) continue
      candles = [...page.data, ...candles]
      oldest = page.data[0]?.openAt ?? fromAt
    }
    await this.#pause(BETWEEN_CALLS_MS)
    const joined = joinCandles(candles, intervalMs)
    return {
      symbol,
      intervalMs,
      rows: joined.filter(([openAt]) => openAt >= fromAt && openAt < presentAt),
      running: joined.find(([openAt]) => openAt === presentAt),
    }
  }

  /** Lists series that begin with candles of files which end before the present. */
  #listEnded(series: readonly NeededCandles[]) {
    const { settings, exchangeNow } = this.#options
    return [...settings.strategies].flatMap(([strategy, { symbols, candles, history }]) =>
      series.flatMap(({ symbol, intervalMs }) => {
        if (!symbols.includes(symbol) || candles?.has(intervalMs) !== true) return []
        const newest = history?.get(candleKey(symbol, intervalMs))?.at(-1)?.[0]
        const closedAt = newest === undefined ? undefined : newest + intervalMs
        if (closedAt === undefined || closedAt >= openOf(exchangeNow(), intervalMs)) return []
        const since = new Date(closedAt).toISOString()
        return [{ strategy, symbol, interval: formatInterval(intervalMs), since }]
      }),
    )
  }

  #pause(ms: number): Promise<void> {
    if (this.#isStopped) return Promise.resolve()
    return new Promise((resolve) => {
      this.#wake = resolve
      this.#cancel = this.#options.timers.after(ms, resolve)
    })
  }
}

/** @returns the longest candles of the exchange that make up the interval */
function sourceOf(intervalMs: number): Granularity | undefined {
  for (let parts = 1; intervalMs / parts >= MINUTE_MS; parts++) {
    const granularity = intervalMs % parts === 0 ? granularityOf(intervalMs / parts) : undefined
    if (granularity !== undefined) return granularity
  }
  return undefined
}

/** Leaves out a first candle whose beginning is missing. */
function joinCandles(candles: readonly ExchangeCandle[], intervalMs: number): readonly CandleRow[] {
  const joined: CandleRow[] = []
  let present: ReturnType<typeof openCandle> | undefined
  const close = (): void => {
    if (present) joined.push(toRow(present))
  }
  for (const candle of candles) {
    const { openAt: at, open } = candle
    const openAt = openOf(at, intervalMs)
    if (present?.openAt !== openAt) {
      close()
      const isWhole = present !== undefined || at === openAt
      present = isWhole ? { ...openCandle(openAt, open, at), ticks: 0 } : undefined
    }
    if (present !== undefined) addCandle(present, candle, at)
  }
  close()
  return joined
}

function reasonOf(answer: Exclude<Answer<unknown>, { readonly kind: 'accepted' }>): string {
  const what = answer.kind === 'unknown' ? `unknown (${answer.cause})` : answer.kind
  return `${what} ${answer.code}: ${answer.message}`.replace(/ ?: $/, '')
}
