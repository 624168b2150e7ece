import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DirectNetwork } from '../../src/backtest/virtual-wire.ts'
import { VirtualAccount } from '../../src/backtest/backtest.ts'
import type { VirtualPolling } from '../../src/backtest/virtual-pollers.ts'
import { VirtualTime } from '../../src/backtest/virtual-time.ts'
import type { Instrument } from '../../src/domain/instrument.ts'
import type { Book } from '../../src/engine/book/book.ts'
import type { StopPolicy } from '../../src/engine/event.ts'
import type { EngineSettings } from '../../src/engine/settings.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { EventMeter } from './event-meter.ts'
import { createInstruments } from './soak-instruments.ts'
import { openSoakJournal, POSITION_MODE, restoreBook, SALT } from './soak-journal.ts'
import { createLoad } from './soak-strategies.ts'
import { SoakExchange } from './soak-exchange.ts'
import { SoakMarket } from './soak-market.ts'
import { makeLimits, makeOwnLimits } from '../support/made-limits.ts'

const START_AT = Date.UTC(2025, 5, 2, 6)
/** Of one way, ms. */
const LATENCY_MS = 1
/** What the exchange gives on one page of fills. */
const PAGE_FILLS = 100
const STOP_MS_MAX = 600_000
/** From this load on the account is looked at as often as a daemon looks. */
const BUSY_ORDERS = 10
const BUSY: VirtualPolling = { tickersMs: 200, fillsMs: 500, positionsMs: 2000, timeMs: 50 }
/** A month has 52 million steps of 50 ms, in which nothing happens. */
const CALM: VirtualPolling = { tickersMs: 2000, fillsMs: 5000, positionsMs: 20_000, timeMs: 1000 }

/** The daemon's core, limiter and journal on disk, under a load, in virtual time. */
export class SoakAccount {
  readonly meter = new EventMeter()
  readonly exchange: SoakExchange
  readonly file: string
  readonly #folder: string
  readonly #time = new VirtualTime(START_AT)
  readonly #journal: Journal
  readonly #account: VirtualAccount
  #stopped: boolean | undefined

  constructor(ordersPerSecond: number) {
    const instruments = createInstruments()
    this.#folder = mkdtempSync(join(tmpdir(), 'intentd-soak-'))
    this.file = join(this.#folder, 'journal.sqlite')
    this.#journal = openSoakJournal(this.file, () => this.#time.now)
    this.exchange = new SoakExchange({
      instruments,
      market: new SoakMarket(instruments, ordersPerSecond),
      now: () => this.#time.now,
    })
    const strategies = createLoad(ordersPerSecond, this.meter.timeStrategy)
    this.#account = new VirtualAccount({
      strategies,
      time: this.#time,
      clock: this.#time.clock,
      exchange: this.exchange,
      polling: ordersPerSecond < BUSY_ORDERS ? CALM : BUSY,
      network: new DirectNetwork(this.#time, LATENCY_MS),
      settings: createSettings(instruments, [...strategies.keys()]),
      book: restoreBook(this.#journal),
      journal: this.meter.watch(this.#journal),
      pageFills: PAGE_FILLS,
      hasPreviousRun: false,
      environment: {
        gate: {
          isStill: false,
          enter: (happens) => happens(),
          settle: (happens) => happens(),
        },
        isKilled: () => false,
        retreatNote: {
          leave: () => true,
          forget: () => undefined,
        },
        listener: this.meter.listener,
        interruptions: this.meter.interruptions,
        announcements: {
          killState: () => undefined,
          stopped: (clean) => (this.#stopped = clean),
          broken: (error) => {
            throw error
          },
        },
      },
    })
    this.#account.start()
  }

  get book(): Book {
    return this.#account.engine.book
  }

  get denied(): ReadonlyMap<string, number> {
    return this.#account.engine.denied
  }

  /** Unix ms, virtual; our clock and the exchange's. */
  get now(): number {
    return this.#time.now
  }

  /** How long it has run, virtual ms. */
  get elapsedMs(): number {
    return this.#time.now - START_AT
  }

  /** Lets so much virtual time pass. @throws whatever broke the run. */
  run(forMs: number): void {
    this.#time.runUntil(this.#time.now + forMs)
  }

  /** Makes durable what the file does not have yet, as happens every 100 ms. */
  flush(): void {
    this.#journal.flush()
  }

  /** Ends the run in good order; false when what rests or is held could not be proved. */
  stop(policy: StopPolicy): boolean {
    this.#account.dispatch({ kind: 'commanded', command: { kind: 'stop', policy } })
    this.#time.runUntil(this.#time.now + STOP_MS_MAX, () => this.#stopped !== undefined)
    this.#account.end()
    return this.#stopped === true
  }

  /** Closes the journal and removes it. */
  close(): void {
    this.#journal.close()
    rmSync(this.#folder, { recursive: true })
  }
}

function createSettings(
  instruments: ReadonlyMap<string, Instrument>,
  strategyIds: EngineSettings['strategies'] extends ReadonlyMap<infer Id, unknown>
    ? readonly Id[]
    : never,
): EngineSettings {
  const symbols = [...instruments.keys()]
  const limits = makeOwnLimits()
  return {
    salt: SALT,
    version: '0',
    environment: 'simulator',
    configHash: '0',
    productType: 'USDT-FUTURES',
    positionMode: POSITION_MODE,
    marginMode: 'crossed',
    instruments,
    isExclusive: true,
    strategies: new Map(
      strategyIds.map((id) => [
        id,
        {
          id,
          symbols,
          limits: new Map(symbols.map((symbol) => [symbol, limits])),
          feeds: new Map(),
        },
      ]),
    ),
    limits: makeLimits({ dataAgeMaxMs: 6000 }),
    execution: {
      batchOrdersMax: 50,
      fillVisibilityMs: 250,
      acceptanceWindowMs: 35e3,
      unwantedMsMax: 15e3,
      displacedWithinMs: 1e4,
      takerCollarRatio: 0.002,
      matchingLagMs: 0,
      crossedToleranceMs: 5250,
      stopTimeoutMs: 8e4,
    },
    foreignFills: 'halt',
    onRestart: 'adopt',
  }
}
