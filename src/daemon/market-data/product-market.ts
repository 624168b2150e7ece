import { isOvertaken, TickerBuffers, type TickerTable } from '../../domain/ticker-table.ts'
import type { EngineEvent } from '../../engine/event.ts'
import type { ExchangeClient } from '../../exchange/exchange-client.ts'
import type { TrustedClock } from '../../exchange/clock/trusted-clock.ts'
import type { PollGrid, PollGridStats } from '../../market/poll-grid.ts'
import type { ProductType } from '../../domain/instrument.ts'
import type { DaemonLogger } from '../../logging/logger.ts'

/** An instrument whose ticker stays unreadable is logged once in this time, in ms. */
const UNREADABLE_LOGGED_EVERY_MS = 3_600_000

/** An account that trades on these prices. */
export interface MarketListener {
  /** Handles the event before it returns. `readAt`: with tickers, when they were read, monotonic ms. */
  hear(event: EngineEvent, readAt?: number): void
  rollDay(): void
}

export interface Product {
  readonly productType: ProductType
  /** The instruments that any account trades. */
  readonly symbols: readonly string[]
}

export interface ProductMarketOptions extends Product {
  readonly client: Pick<ExchangeClient, 'readTickers'>
  readonly trusted: TrustedClock
  readonly logger: Pick<DaemonLogger, 'log'>
  /** Creates the grid that calls `read` again and again. */
  readonly poll: (read: () => Promise<boolean>) => PollGrid
}

/** The tickers of one product type, and the accounts that trade on them. */
export class ProductMarket {
  readonly #options: ProductMarketOptions
  readonly #listeners: MarketListener[] = []
  /** The times of the last answer: as it stated it, on the clock that signs, and on our clock; Unix ms. */
  #lastAnswer = { statedAt: 0, requestTime: 0, readAt: 0 }
  readonly #buffers = new TickerBuffers()
  readonly #grid: PollGrid
  /** When the unreadable ticker of an instrument was logged, monotonic ms. */
  readonly #unreadableLoggedAt = new Map<string, number>()

  constructor(options: ProductMarketOptions) {
    this.#options = options
    this.#grid = options.poll(() => this.readTickers())
  }

  /** From now on the listener hears every event. */
  listen(listener: MarketListener): void {
    this.#listeners.push(listener)
  }

  /** How punctual the ticker grid is, which wakes the strategies. */
  get polls(): PollGridStats {
    return this.#grid.stats
  }

  /** The newest tickers; undefined before the first. */
  get tickers(): TickerTable | undefined {
    return this.#buffers.current
  }

  /** Reads all tickers once, into the spare table, and publishes first what that says of the clock, then the prices. */
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
    // The cores keep the later answer and still look at its table, which would be the next to be filled.
    const exchangeNow = trusted.offset.exchangeNow(trusted.clock.now())
    if (!isOvertaken(table, this.#buffers.current, exchangeNow)) {
      this.#buffers.publish(table)
      this.#logUnreadable(table, readAt)
      this.publish({ kind: 'snapshotTaken', tickers: table }, readAt)
    }
    return true
  }

  /**
   * An answer that names the time of the one before is that answer once more, from a cache in between: it is no second
   * witness, and its prices are as old as when they first came (MKT1, MON1).
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

  /** MKT4: an instrument that we trade has no prices now; the others have. */
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
