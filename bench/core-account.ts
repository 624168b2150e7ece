// The account of bench/core.ts: the daemon's core, interpreter, limiter, readers and strategies in virtual time, on
// the small exchange of the soak and with a journal that writes each record as text and keeps none.

import { DirectNetwork } from '../src/backtest/virtual-wire.ts'
import { VirtualAccount, type VirtualStrategy } from '../src/backtest/backtest.ts'
import { VirtualTime } from '../src/backtest/virtual-time.ts'
import { type StrategyId, toStrategyId } from '../src/domain/ids.ts'
import { type Instrument } from '../src/domain/instrument.ts'
import { TickerTable } from '../src/domain/ticker-table.ts'
import { type Book, createBook } from '../src/engine/book/book.ts'
import { type EngineSettings } from '../src/engine/settings.ts'
import { type JournalPort } from '../src/interpreter/ports.ts'
import { createRandom } from '../src/lib/random.ts'
import grid from '../strategies/grid.ts'
import trend from '../strategies/trend.ts'
import { SoakExchange } from '../test/soak/soak-exchange.ts'
import { madeInstrument } from '../test/support/market-moment.ts'
import { makeLimits, makeOwnLimits } from '../test/support/made-limits.ts'

/** What one line of the table runs. */
export interface CoreLine {
  readonly name: string
  readonly instruments: number
  /** In turn; each trades all instruments, unless `isApart`: then each has one instrument. */
  readonly strategies: readonly ('grid' | 'trend')[]
  readonly isApart?: boolean
  /** Levels of a grid on each side. Default 8. */
  readonly levels?: number
  /** How fast the market goes by: 60 is an hour in a minute. Default 1. */
  readonly speed?: number
  /** Virtual minutes before it is measured. Default 1. */
  readonly minutesBefore?: number
}

const START_AT = Date.UTC(2025, 5, 2, 6)
/** As in `config/paper.yaml`; time passes as in the daemon. */
const POLLING = { tickersMs: 100, fillsMs: 200, positionsMs: 1000, timeMs: 100 }
const LATENCY_MS = 1
const PAGE_FILLS = 100
/** Prices of 1000 in ticks of 0.1. */
const MIDDLE_TICKS = 10_000
/** Steps of the price: an hour, there and back again. */
const STEPS = 36_000
/** Of a price that moves 60 % a year, in 100 ms, as a share of it. */
const STEP_SHARE = 3.4e-5

export class CoreAccount {
  readonly exchange: SoakExchange
  snapshots = 0
  journalBytes = 0
  readonly #time = new VirtualTime(START_AT)
  readonly #account: VirtualAccount
  readonly #instruments: ReadonlyMap<string, Instrument>

  constructor(line: CoreLine) {
    const instruments = createInstruments(line.instruments)
    const strategies = createStrategies(line)
    this.#instruments = instruments
    this.exchange = new SoakExchange({
      instruments,
      market: createMarket([...instruments.keys()], line.speed ?? 1),
      now: () => this.#time.now,
    })
    this.#account = new VirtualAccount({
      strategies,
      time: this.#time,
      clock: this.#time.clock,
      exchange: this.exchange,
      polling: POLLING,
      network: new DirectNetwork(this.#time, LATENCY_MS),
      settings: createSettings(line, [...instruments.values()], [...strategies.keys()]),
      book: createBook('one_way_mode'),
      journal: this.#createJournal(),
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
        listener: {
          stepped: ({ event }) => (this.snapshots += event.kind === 'snapshotTaken' ? 1 : 0),
        },
        announcements: {
          killState: () => undefined,
          stopped: () => undefined,
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

  /** Lets so much virtual time pass. */
  run(forMs: number): void {
    this.#time.runUntil(this.#time.now + forMs)
  }

  /** What looking at the same columns alone costs: each snapshot is read and the middle of each instrument summed. */
  runBare(snapshots: number): number {
    let sum = 0
    const table = new TickerTable(this.#instruments.size)
    for (let snapshot = 0; snapshot < snapshots; snapshot++) {
      this.#time.runUntil(this.#time.now + POLLING.tickersMs)
      this.exchange.readTickers(table)
      const { bidPr, askPr } = table.columns
      for (let row = 0; row < this.#instruments.size; row++)
        sum += ((bidPr[row] ?? 0) + (askPr[row] ?? 0)) / 2
    }
    return sum
  }

  /** The virtual process ends: nothing falls due any more. */
  end(): void {
    this.#account.end()
  }

  #createJournal(): JournalPort {
    return {
      recordsSinceCheckpoint: 0,
      append: (record) => (this.journalBytes += JSON.stringify(record).length),
      commit: (done) => done(),
      flush: () => undefined,
      usedKeys: () => [],
      prepareCheckpoint: () => false,
      saveCheckpoint: (changes) => {
        for (const change of changes) this.journalBytes += JSON.stringify(change).length
      },
    }
  }
}

function createInstruments(count: number): ReadonlyMap<string, Instrument> {
  const symbols = Array.from({ length: count }, (_, index) => `S${index}USDT`)
  return new Map(
    symbols.map((symbol) => [
      symbol,
      madeInstrument({ symbol, tick: '0.1', lot: '0.001', lotsMin: 10 }),
    ]),
  )
}

/** One random walk, which each instrument enters at another place. */
function createMarket(symbols: readonly string[], speed: number) {
  const random = createRandom('core')
  const size = STEP_SHARE * Math.sqrt(12 * speed) * MIDDLE_TICKS
  const walk = new Int32Array(2 * STEPS)
  let price = MIDDLE_TICKS
  for (let step = 0; step < STEPS; step++) {
    price = Math.max(MIDDLE_TICKS / 2, price + size * (random.integer(10_001) / 10_000 - 0.5))
    walk[step] = walk[2 * STEPS - 1 - step] = Math.round(price)
  }
  const shifts = new Map(symbols.map((symbol, place) => [symbol, place * 7919]))
  return {
    bidTicksAt: (symbol: string, at: number) =>
      walk[(Math.floor((at - START_AT) / 100) + (shifts.get(symbol) ?? 0)) % walk.length] ??
      MIDDLE_TICKS,
  }
}

function createStrategies({
  strategies,
  levels = 8,
}: CoreLine): ReadonlyMap<StrategyId, VirtualStrategy> {
  return new Map(
    strategies.map((kind, index): [StrategyId, VirtualStrategy] => {
      const id = toStrategyId(`${kind}-${index}`)
      // No two of them agree in all they want.
      if (kind === 'grid') {
        return [
          id,
          { strategy: grid, params: { spacingBps: 5 + (index % 20), levels, size: '0.02' } },
        ]
      }
      const params = {
        fastSeconds: 60 + index,
        slowSeconds: 300 + index,
        size: '0.1',
        thresholdBps: 2,
      }
      return [id, { strategy: trend, params: { ...params, allowShort: true } }]
    }),
  )
}

function createSettings(
  { isApart = false }: CoreLine,
  instruments: readonly Instrument[],
  strategyIds: readonly StrategyId[],
): EngineSettings {
  const limits = makeOwnLimits({ positionMax: 1_000_000 })
  return {
    salt: 'salt',
    version: '0',
    environment: 'simulator',
    configHash: '0',
    productType: 'USDT-FUTURES',
    positionMode: 'one_way_mode',
    marginMode: 'crossed',
    isExclusive: true,
    instruments: new Map(instruments.map((instrument) => [instrument.symbol, instrument])),
    strategies: new Map(
      strategyIds.map((id, index) => {
        const own = isApart
          ? instruments.slice(index % instruments.length).slice(0, 1)
          : instruments
        const symbols = own.map(({ symbol }) => symbol)
        return [
          id,
          {
            id,
            symbols,
            limits: new Map(symbols.map((symbol) => [symbol, limits])),
            feeds: new Map(),
          },
        ]
      }),
    ),
    limits: makeLimits({ priceCollarRatio: 0.2, openOrdersMax: 1e5 }),
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
