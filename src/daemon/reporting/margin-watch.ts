import type { DaemonConfig } from '../../config/load-config.ts'
import type { Answer } from '../../domain/answer.ts'
import type { TrustedClock } from '../../exchange/clock/exchange-clock.ts'
import type { ExchangeClient } from '../../exchange/exchange-client.ts'
import { PRIORITY } from '../../exchange/limiter/grant.ts'
import {
  MARGIN_SERIES,
  type MarginSeen,
  parseMarginSeen,
  toMarginSeen,
} from '../../journal/curves.ts'
import type { CurveStore } from '../../journal/journal.ts'
import { messageOf } from '../../lib/failure.ts'
import type { Timers } from '../../lib/timers.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import type { CallableName, RequestOf, ResponseOf } from '../../protocol/endpoints.ts'
import { MARGIN_PAGE_MAX } from '../../protocol/margin/open-orders.ts'

export interface MarginWatchOptions {
  readonly config: Pick<DaemonConfig, 'polling'>
  readonly calls: { readonly client: Pick<ExchangeClient, 'call'> }
  readonly journal: CurveStore
  readonly trusted: TrustedClock
  readonly timers: Timers
  readonly logger: Pick<DaemonLogger, 'log'>
}

type WatchedMargin = NonNullable<DaemonConfig['polling']['margin']>
type MarginAccountMode = 'isolated' | 'crossed'
type LiquidationType = 'place_order' | 'swap'
type MarginOrderRow = ResponseOf<'crossedOpenOrders'>['orderList'][number]
type Liquidation = ResponseOf<'crossedLiquidationOrders'>['resultList'][number]

const MODES: readonly MarginAccountMode[] = ['isolated', 'crossed']
const TYPES: readonly LiquidationType[] = ['place_order', 'swap']

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** A record may become readable so long after its own time. */
const LATE_MS = HOUR_MS
/** The document lets 90 days be read at once; the exchange's clock may differ a little. */
const READABLE_MS = 89 * DAY_MS
/**
 * Ten pages of 500 are more than an account makes in a minute, and take less than a second of
 * calls.
 */
const PAGES_MAX = 10

/**
 * Logs each margin order and liquidation of the account once, over restarts too. No strategy uses
 * these, so its calls come after all others:
 *
 *     new ──start()──► reading ──answers──► waiting ──time──► reading
 *                         └──────── stop() ──────► stopped
 */
export class MarginWatch {
  readonly #options: MarginWatchOptions
  readonly #watched: WatchedMargin
  /** Liquidations since then are read each time; exchange clock. */
  #from: number
  /** Earlier orders are not logged: they are from before the first run that watches. */
  readonly #ordersFrom: number
  #seen: ReadonlyMap<string, number>
  #notedAt = 0
  #reading: Promise<void> = Promise.resolve()
  #cancel = (): void => undefined
  #isStopped = false
  #hasFailed = false

  constructor(options: MarginWatchOptions, watched: WatchedMargin) {
    this.#options = options
    this.#watched = watched
    const before = this.#seenBefore()
    const now = this.#now
    this.#from = before?.from ?? now
    this.#ordersFrom = before === undefined ? now : 0
    this.#seen = before?.seen ?? new Map()
  }

  start(): void {
    this.#reading = this.#look()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancel()
    await this.#reading
  }

  get #now(): number {
    const { clock, offset } = this.#options.trusted
    return offset.exchangeNow(clock.now())
  }

  #seenBefore(): MarginSeen | undefined {
    const { journal, logger } = this.#options
    try {
      const [last] = [...journal.curve({ series: MARGIN_SERIES })].slice(-1)
      return last && parseMarginSeen(last)
    } catch (error) {
      logger.log('warn', 'curve.unread', { reason: messageOf(error) })
      return undefined
    }
  }

  async #look(): Promise<void> {
    const { logger, timers } = this.#options
    const reason = await this.#read().catch(messageOf)
    if (this.#isStopped) return
    if (reason !== undefined && !this.#hasFailed) logger.log('warn', 'margin.notRead', { reason })
    if (reason === undefined && this.#hasFailed) logger.log('info', 'margin.read')
    this.#hasFailed = reason !== undefined
    this.#cancel = timers.after(this.#watched.everyMs, () => {
      this.#reading = this.#look()
    })
  }

  /** @returns why not everything could be read; what was read before that is logged */
  async #read(): Promise<string | undefined> {
    const beganAt = this.#now
    this.#from = Math.max(this.#from, beganAt - READABLE_MS)
    const listed = new Set<string>()
    for (const mode of MODES) {
      for (const type of TYPES) {
        const reason = await this.#readLiquidations(mode, type)
        if (reason !== undefined) return reason
      }
      for (const symbol of this.#watched.symbols) {
        const reason = await this.#readOrders(mode, { symbol, listed })
        if (reason !== undefined) return reason
      }
    }
    if (!this.#isStopped) this.#forget(Math.max(this.#from, beganAt - LATE_MS), listed)
    return undefined
  }

  async #readLiquidations(
    mode: MarginAccountMode,
    type: LiquidationType,
  ): Promise<string | undefined> {
    let idLessThan: string | undefined
    for (let page = 0; page < PAGES_MAX && !this.#isStopped; page++) {
      const answer = await this.#call(`${mode}LiquidationOrders`, {
        type,
        startTime: String(Math.floor(this.#from)),
        limit: String(MARGIN_PAGE_MAX),
        ...(idLessThan !== undefined && { idLessThan }),
      })
      if (answer.kind !== 'accepted') return describe(`${mode} liquidations`, answer)
      const { resultList } = answer.data
      this.#note(
        resultList.map((record) => ({
          key: toKey(mode, type, record.orderId),
          at: Number(record.cTime ?? this.#now),
          log: () => this.#logLiquidation(mode, record),
        })),
      )
      idLessThan = answer.data.idLessThan
      if (resultList.length < MARGIN_PAGE_MAX || idLessThan === undefined) return undefined
    }
    return this.#isStopped ? undefined : `there are too many ${mode} liquidations to read`
  }

  /** Reads one page, because the document has no cursor for isolated orders. */
  async #readOrders(
    mode: MarginAccountMode,
    { symbol, listed }: { readonly symbol: string; readonly listed: Set<string> },
  ): Promise<string | undefined> {
    if (this.#isStopped) return undefined
    const answer = await this.#call(`${mode}OpenOrders`, {
      symbol,
      startTime: String(Math.floor(this.#now - READABLE_MS)),
      limit: String(MARGIN_PAGE_MAX),
    })
    if (answer.kind !== 'accepted') return describe(`${mode} orders`, answer)
    const orders = answer.data.orderList.map((order) => ({
      key: toKey(mode, 'open', order.orderId),
      at: Number(order.cTime ?? this.#now),
      log: () => this.#logOrder(mode, order),
    }))
    for (const { key } of orders) listed.add(key)
    this.#note(orders)
    return undefined
  }

  /** A record is logged before it is noted: a crash in between repeats a line, and loses none. */
  #note(found: readonly { readonly key: string; readonly at: number; log: () => void }[]): void {
    const fresh = found.filter(({ key }) => !this.#seen.has(key))
    if (this.#isStopped || fresh.length === 0) return
    for (const { key, at, log } of fresh.toReversed())
      if (!isOrder(key) || at >= this.#ordersFrom) log()
    this.#seen = new Map([...this.#seen, ...fresh.map(({ key, at }) => [key, at] as const)])
    this.#write()
  }

  /** Forgets what cannot appear again: liquidations before `from`, and orders that are gone. */
  #forget(from: number, listed: ReadonlySet<string>): void {
    this.#from = from
    this.#seen = new Map(
      [...this.#seen].filter(([key, at]) => (isOrder(key) ? listed.has(key) : at >= from)),
    )
    if (from - this.#notedAt >= HOUR_MS) this.#write()
  }

  #write(): void {
    const { journal, trusted } = this.#options
    this.#notedAt = this.#from
    const value = toMarginSeen({ from: this.#from, seen: this.#seen })
    journal.notePoints([{ series: MARGIN_SERIES, at: Math.round(trusted.clock.now()), value }])
  }

  #logLiquidation(marginMode: MarginAccountMode, record: Liquidation): void {
    const { fromCoin, fromSize, toCoin, toSize } = record
    const isSwap = fromCoin !== undefined || toCoin !== undefined
    this.#options.logger.log('error', 'margin.liquidated', {
      marginMode,
      symbol: record.symbol,
      side: record.side?.replace('liquidation-', ''),
      size: record.fillSize,
      price: record.priceAvg,
      converted: isSwap ? `${fromSize ?? '?'} ${fromCoin ?? '?'}` : undefined,
      into: isSwap ? `${toSize ?? '?'} ${toCoin ?? '?'}` : undefined,
      orderId: record.orderId,
      createdAt: toIso(record.cTime),
    })
  }

  #logOrder(marginMode: MarginAccountMode, order: MarginOrderRow): void {
    const { baseSize, quoteSize, price } = order
    const isBySystem = order.enterPointSource === 'SYS' || order.side?.includes('-') === true
    this.#options.logger.log(isBySystem ? 'warn' : 'info', 'margin.order', {
      marginMode,
      symbol: order.symbol,
      side: order.side,
      size: isAmount(baseSize) ? baseSize : undefined,
      quoteSize: isAmount(baseSize) ? undefined : quoteSize,
      price: isAmount(price) ? price : undefined,
      source: order.enterPointSource,
      isBySystem: isBySystem ? true : undefined,
      orderId: order.orderId,
      createdAt: toIso(order.cTime),
    })
  }

  #call<Name extends CallableName>(
    endpoint: Name,
    request: RequestOf<Name>,
  ): Promise<Answer<ResponseOf<Name>>> {
    return this.#options.calls.client.call(endpoint, request, { priority: PRIORITY.background })
  }
}

export function openMarginWatch(options: MarginWatchOptions): MarginWatch | undefined {
  const { margin } = options.config.polling
  return margin && new MarginWatch(options, margin)
}

function describe(
  what: string,
  { code, message }: { readonly code: string; readonly message: string },
): string {
  return `${what}: ${code} ${message}`.trim()
}

function toKey(mode: MarginAccountMode, list: LiquidationType | 'open', orderId: string): string {
  return `${mode}/${list}/${encodeURIComponent(orderId)}`
}

function isOrder(key: string): boolean {
  return key.includes('/open/')
}

function isAmount(text: string | undefined): boolean {
  return text !== undefined && Number(text) !== 0
}

function toIso(millis: string | undefined): string | undefined {
  const at = Number(millis ?? Number.NaN)
  return Number.isFinite(at) && Math.abs(at) < 8.64e15 ? new Date(at).toISOString() : undefined
}
