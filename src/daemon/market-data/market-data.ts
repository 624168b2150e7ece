import type { DaemonConfig } from '../../config/load-config.ts'
import type { EngineEvent } from '../../engine/event.ts'
import type { ExchangeClient } from '../../exchange/exchange-client.ts'
import type { TrustedClock } from '../../exchange/clock/exchange-clock.ts'
import type { Limiter } from '../../exchange/limiter/limiter.ts'
import { messageOf } from '../../lib/failure.ts'
import type { Timers } from '../../lib/timers.ts'
import { Calendar } from '../../market/calendar.ts'
import { type Poller, type PollerStats, Pollers, type WatchedLoop } from '../../lib/poller.ts'
import type { ProductType } from '../../domain/instrument.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import type { Feed } from '../../assembly/strategies/strategies.ts'
import { Feeds } from './feeds.ts'
import {
  isOvertaken,
  MarketWatch,
  TickerBuffers,
  type TickerTable,
} from '../../domain/ticker-table.ts'

/** The interval of `timePassed`, and so the precision of the core's waits. */
const TIME_STEP_MS = 50
const CLOCK_RETRY_MS = 1000
/**
 * Beyond the first, the machine has no working time daemon; within the second, it has one again.
 */
const MACHINE_APART_MS = 5000
const MACHINE_AGREES_MS = 1000

export interface MarketDataOptions {
  readonly config: Pick<DaemonConfig, 'polling' | 'calendar'>
  readonly products: readonly Product[]
  readonly client: Pick<ExchangeClient, 'send' | 'readTickers' | 'close' | 'oldestCall'>
  readonly limiter: Limiter
  readonly feeds: readonly Feed[]
  readonly trusted: TrustedClock
  readonly timers: Timers
  readonly logger: Pick<DaemonLogger, 'log'>
}

/**
 * Passes each reading to all accounts concerned, which must handle tickers at once: a later answer
 * overwrites the table.
 *
 *     new ──synchronise()──► synchronised ──start()──► polling ──stop()──► stopped ──close()──► closed
 *     new ──stop()──► stopped
 */
export class MarketData {
  readonly limiter: Limiter
  readonly #options: MarketDataOptions
  readonly #pollers: Pollers
  readonly #products: ReadonlyMap<ProductType, ProductMarket>
  readonly #feeds: Feeds
  readonly #calendar: Calendar
  #timeSteps = 0
  #isMachineApart = false
  #isStopped = false
  #wake = (): void => undefined

  constructor(options: MarketDataOptions) {
    const { client, limiter, feeds, trusted, timers } = options
    const { clock } = trusted
    const onError = (what: string, reason: string) => this.#reportDefect(what, reason)
    this.limiter = limiter
    this.#options = options
    this.#pollers = new Pollers({ clock, timers, onError })
    this.#products = this.#createProducts()
    this.#pollers.add('time', TIME_STEP_MS, () => this.#passTime())
    const dispatch = (event: EngineEvent) => this.#publish(event)
    this.#feeds = new Feeds({ feeds, client, clock, timers, dispatch, onError })
    this.#calendar = this.#createCalendar()
    this.#listenToClock()
  }

  of(productType: ProductType): ProductMarket {
    const product = this.#products.get(productType)
    if (!product) throw new RangeError(`nobody reads ${productType}`)
    return product
  }

  /**
   * Reads tickers, which state the exchange's clock well enough for the first signed reads. False
   * if stopped meanwhile.
   */
  async synchronise(): Promise<boolean> {
    const { trusted } = this.#options
    while (!this.#isStopped && !trusted.isMeasured) {
      const reads = await Promise.all(
        [...this.#products.values()].map((product) => product.readTickers()),
      )
      if (reads.includes(false)) await this.#waitForExchange()
    }
    return !this.#isStopped
  }

  start(): void {
    if (this.#isStopped) return
    this.#pollers.start()
    this.#calendar.start()
    this.#feeds.start()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#wake()
    await Promise.all([this.#calendar.stop(), this.#pollers.stop(), this.#feeds.stop()])
  }

  async close(): Promise<void> {
    await this.#options.client.close()
    await this.limiter.stop()
  }

  get timeSteps(): number {
    return this.#timeSteps
  }

  get loops(): readonly WatchedLoop[] {
    const { client } = this.#options
    return [
      ...this.#pollers.loops.map((loop) => ({
        ...loop,
        isCalling: loop.name.startsWith('tickers'),
      })),
      ...this.#feeds.loops,
      { name: 'calls', intervalMs: 0, isCalling: true, turn: () => client.oldestCall },
    ]
  }

  #passTime(): void {
    this.#publish({ kind: 'timePassed' })
    this.#judgeMachine()
    this.#timeSteps++
  }

  #judgeMachine(): void {
    const { trusted, logger } = this.#options
    if (!trusted.isSynchronised) return
    const aheadMs = trusted.aheadOfMachineMs
    if (Math.abs(aheadMs) > MACHINE_APART_MS) {
      if (!this.#isMachineApart) logger.log('warn', 'clock.machineApart', describeMachine(trusted))
      this.#isMachineApart = true
    } else if (this.#isMachineApart && Math.abs(aheadMs) <= MACHINE_AGREES_MS) {
      logger.log('info', 'clock.machineAgrees', describeMachine(trusted))
      this.#isMachineApart = false
    }
  }

  #publish(event: EngineEvent): void {
    for (const product of this.#products.values()) product.publish(event)
  }

  #createProducts(): ReadonlyMap<ProductType, ProductMarket> {
    const { products, config } = this.#options
    return new Map(
      products.map((product, index) => {
        const name = index === 0 ? 'tickers' : `tickers ${product.productType}`
        const poll = (read: () => Promise<boolean>) =>
          this.#pollers.add(name, config.polling.tickersMs, read)
        return [product.productType, new ProductMarket({ ...this.#options, ...product, poll })]
      }),
    )
  }

  #waitForExchange(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isStopped) return resolve()
      const cancel = this.#options.timers.after(CLOCK_RETRY_MS, resolve)
      this.#wake = () => {
        cancel()
        resolve()
      }
    })
  }

  #listenToClock(): void {
    const { trusted, logger } = this.#options
    trusted.listen({
      onUnsynchronised: (movedMs) => {
        logger.log('warn', 'clock.moved', { movedMs })
        this.#publish({
          kind: 'clockUnsynchronised',
          reason: `this machine's clock moved by ${movedMs} ms`,
        })
      },
      onSettled: (verdict, jump) => logger.log('warn', `clock.${verdict}`, { ...jump }),
      onJump: (jump) => logger.log('error', 'clock.jumped', { ...jump }),
      onApart: (apart) =>
        apart === undefined
          ? logger.log('info', 'clock.publicAgrees', {})
          : logger.log('warn', 'clock.publicApart', { ...apart }),
    })
  }

  /** Positions are read at funding times, because funding changes their counters. */
  #createCalendar(): Calendar {
    const { funding, dayRoll, timezone: timeZone } = this.#options.config.calendar
    const job = (name: string, pattern: string, run: () => void) => ({
      name,
      pattern,
      timeZone,
      run,
      onError: (error: unknown) => this.#reportDefect(`calendar ${name}`, messageOf(error)),
    })
    return new Calendar([
      job('funding', funding, () => this.#publish({ kind: 'pollDue', what: 'positions' })),
      job('dayRoll', dayRoll, () => {
        for (const product of this.#products.values()) product.rollDay()
      }),
    ])
  }

  #reportDefect(what: string, reason: string): void {
    this.#options.logger.log('error', 'poll.failed', { what, reason })
  }
}

function describeMachine({
  clock,
  offset,
  aheadOfMachineMs: aheadMs,
}: TrustedClock): Record<string, unknown> {
  const exchangeAt = offset.exchangeNow(clock.now())
  const toText = (at: number): string => new Date(at).toISOString()
  return { aheadMs, exchange: toText(exchangeAt), machine: toText(exchangeAt - aheadMs) }
}

const UNREADABLE_LOGGED_EVERY_MS = 3_600_000

export interface MarketListener {
  /**
   * `readAt`: monotonic ms of the reading of tickers. The listener must be done with the event when
   * it returns.
   */
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
  readonly poll: (read: () => Promise<boolean>) => Poller
}

export class ProductMarket {
  readonly #options: ProductMarketOptions
  readonly #listeners: MarketListener[] = []
  /** The time of the last answer: as it states, by the signing clock, and by ours. */
  #lastAnswer = { statedAt: 0, requestTime: 0, readAt: 0 }
  readonly #buffers = new TickerBuffers()
  readonly #watch = new MarketWatch()
  readonly #poller: Poller
  readonly #unreadableLoggedAt = new Map<string, number>()

  constructor(options: ProductMarketOptions) {
    this.#options = options
    this.#poller = options.poll(() => this.readTickers())
  }

  listen(listener: MarketListener): void {
    this.#listeners.push(listener)
  }

  get polls(): PollerStats {
    return this.#poller.stats
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
    // The cores keep the newer answer, so its table must not be the next to be overwritten.
    const exchangeNow = trusted.offset.exchangeNow(trusted.clock.now())
    if (!isOvertaken(table, this.#buffers.current, exchangeNow)) {
      this.#buffers.publish(table)
      this.#logUnreadable(table, readAt)
      this.publish({ kind: 'snapshotTaken', tickers: table }, readAt)
    }
    return true
  }

  /**
   * An answer with the time of the one before comes from a cache. It is no second witness (MON1),
   * and its prices keep their first time (MKT1).
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
