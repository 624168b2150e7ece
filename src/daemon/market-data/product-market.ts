import { isOvertaken, TickerBuffers, type TickerTable } from '../../domain/ticker-table.ts'
import type { EngineEvent } from '../../engine/event.ts'
import type { ExchangeClient } from '../../exchange/exchange-client.ts'
import type { TrustedClock } from '../../exchange/clock/exchange-clock.ts'
import { MarketWatch } from '../../market/market-watch.ts'
import type { PollGrid, PollGridStats } from '../../market/poll-grid.ts'
import type { ProductType } from '../../domain/instrument.ts'
import type { DaemonLogger } from '../../logging/logger.ts'

const UNREADABLE_LOGGED_EVERY_MS = 3_600_000

export interface MarketListener {
  /** Must handle the event before returning. `readAt`: monotonic ms of the read of tickers. */
  hear(event: EngineEvent, readAt?: number): void
  rollDay(): void
}

export interface Product {
  readonly productType: ProductType
  readonly symbols: readonly string[]
}

export interface ProductMarketOptions extends Product {
  readonly client: Pick<ExchangeClient, 'readTickers'>
  readonly trusted: TrustedClock
  readonly logger: Pick<DaemonLogger, 'log'>
  readonly poll: (read: () => Promise<boolean>) => PollGrid
}

export class ProductMarket {
  readonly #options: ProductMarketOptions
  readonly #listeners: MarketListener[] = []
  /** As stated, by the signing clock, and by ours. */
  #lastAnswer = { statedAt: 0, requestTime: 0, readAt: 0 }
  readonly #buffers = new TickerBuffers()
  readonly #watch = new MarketWatch()
  readonly #grid: PollGrid
  readonly #unreadableLoggedAt = new Map<string, number>()

  constructor(options: ProductMarketOptions) {
    this.#options = options
    this.#grid = options.poll(() => this.readTickers())
  }

  listen(listener: MarketListener): void {
    this.#listeners.push(listener)
  }

  get polls(): PollGridStats {
    return this.#grid.stats
  }

  get tickers(): TickerTable | undefined {
    return this.#buffers.current
  }

  async readTickers(): Promise<boolean> {
    const { client, productType, trusted } = this.#options
    const table = this.#buffers.spare()
    const answer = await client.readTickers(table, productType)
    if (answer.kind !== 'accepted') {
      const reason = `${answer.kind} ${answer.code}: ${answer.message}`
      this.publish({ kind: 'readFailed', what: 'tickers', reason, status: answer.status })
      return false
    }
    const readAt = trusted.clock.monotonic()
    this.#publishClock(readAt)
    this.#dateAnswer(table)
    table.market = this.#watch.follow(table)
    // The cores keep the newer answer, whose table must not be overwritten next.
    const exchangeNow = trusted.offset.exchangeNow(trusted.clock.now())
    if (!isOvertaken(table, this.#buffers.current, exchangeNow)) {
      this.#buffers.publish(table)
      this.#logUnreadable(table, readAt)
      this.publish({ kind: 'snapshotTaken', tickers: table }, readAt)
    }
    return true
  }

  /**
   * An answer with the previous time comes from a cache: no second witness, and its prices keep
   * their first time (MKT1, MON1).
   */
  #dateAnswer(table: TickerTable): void {
    const statedAt = table.requestTime
    const last = this.#lastAnswer
    if (statedAt > 0 && statedAt === last.statedAt) {
      table.requestTime = last.requestTime
      table.readAt = last.readAt
      return
    }
    table.requestTime = this.#options.trusted.offset.fromPublic(statedAt)
    this.#lastAnswer = { statedAt, requestTime: table.requestTime, readAt: table.readAt }
  }

  publish(event: EngineEvent, readAt?: number): void {
    for (const listener of this.#listeners) listener.hear(event, readAt)
  }

  rollDay(): void {
    for (const listener of this.#listeners) listener.rollDay()
  }

  #logUnreadable({ unreadable }: TickerTable, now: number): void {
    if (unreadable.size === 0) return
    for (const symbol of this.#options.symbols) {
      const reason = unreadable.get(symbol)
      const loggedAt = this.#unreadableLoggedAt.get(symbol) ?? Number.NEGATIVE_INFINITY
      if (reason === undefined || now - loggedAt < UNREADABLE_LOGGED_EVERY_MS) continue
      this.#unreadableLoggedAt.set(symbol, now)
      this.#options.logger.log('warn', 'ticker.unreadable', { symbol, reason })
    }
  }

  #publishClock(readAt: number): void {
    const { trusted } = this.#options
    const { offsetMs } = trusted.offset
    if (trusted.isSynchronised) return this.publish({ kind: 'clockSynchronised', offsetMs }, readAt)
    if (trusted.isMeasured)
      return this.publish({ kind: 'clockSynchronised', offsetMs, isPublic: true }, readAt)
    this.publish(
      { kind: 'clockUnsynchronised', reason: "the exchange's time is not confirmed yet" },
      readAt,
    )
  }
}
