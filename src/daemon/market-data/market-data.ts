import type { DaemonConfig } from '../../config/load-config.ts'
import type { EngineEvent } from '../../engine/event.ts'
import type { ExchangeClient } from '../../exchange/exchange-client.ts'
import type { TrustedClock } from '../../exchange/clock/exchange-clock.ts'
import type { Limiter } from '../../exchange/limiter/limiter.ts'
import { messageOf } from '../../lib/failure.ts'
import type { Timers } from '../../lib/timers.ts'
import { Calendar } from '../../market/calendar.ts'
import { PollGrids } from '../../market/poll-grids.ts'
import type { ProductType } from '../../domain/instrument.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import type { WatchedLoop } from '../../market/poll-grids.ts'
import type { Feed } from '../../assembly/strategies/strategies.ts'
import { Feeds } from './feeds.ts'
import { type Product, ProductMarket } from './product-market.ts'

/** Interval of `timePassed`: the precision of the core's waits. */
const TIME_STEP_MS = 50
const CLOCK_RETRY_MS = 1000
/** Beyond this, the machine lacks a working time daemon; within the second, it has one again. */
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
  readonly #grids: PollGrids
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
    this.#grids = new PollGrids({ clock, timers, onError })
    this.#products = this.#createProducts()
    this.#grids.add('time', TIME_STEP_MS, () => this.#passTime())
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
   * Tickers tell the exchange's clock well enough for the first signed reads. False if stopped
   * meanwhile.
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
    this.#grids.start()
    this.#calendar.start()
    this.#feeds.start()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#wake()
    await Promise.all([this.#calendar.stop(), this.#grids.stop(), this.#feeds.stop()])
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
      ...this.#grids.loops.map((loop) => ({ ...loop, isCalling: loop.name.startsWith('tickers') })),
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
          this.#grids.add(name, config.polling.tickersMs, read)
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

  /** A loss is published at once, a recovery with the next tickers. */
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

  /**
   * Funding changes the counters of positions, so these are read at its times. Days end here too.
   */
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
