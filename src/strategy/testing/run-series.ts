import {
  addTick,
  appendCandle,
  candleKey,
  type CandleSeries,
  createCandleSeries,
  openCandle,
  type OpenCandle,
  openOf,
  parseInterval,
  toRow,
} from '../../domain/candles.ts'
import { type Instrument } from '../../domain/instrument.ts'
import { type Intent } from '../../domain/intent.ts'
import { FLAT, type Holding } from '../../domain/position.ts'
import { type Snapshot } from '../../domain/snapshot.ts'
import { type TickerColumn, TickerTable } from '../../domain/ticker-table.ts'
import { decimal } from '../../lib/decimal.ts'
import { createGrid, stepBelow } from '../../lib/grid.ts'
import { type Strategy } from '../define-strategy.ts'
import { type ResolvedNeeds, resolveNeeds } from '../needs.ts'
import { type IntentDenial } from '../read-intents.ts'
import { createStrategyRunner, type StrategyRunner } from '../strategy-runner.ts'

/** An instrument of a test, as a configuration writes it. */
export interface TestInstrument {
  readonly symbol?: string
  readonly tickSize?: string
  readonly lotSize?: string
  readonly minSize?: string
}

/** A candle of a test: prices in quote coin. */
export interface TestCandle {
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
}

export interface SeriesOptions {
  readonly strategy: Strategy
  /** As in the strategy file. */
  readonly params: unknown
  /** One ticker each: bid and last are the price, the ask is a tick above. */
  readonly prices?: readonly number[]
  /** Four tickers each: open, the nearer end, the other end, close. */
  readonly candles?: readonly TestCandle[]
  /** Time between two prices, or the length of a candle; default `1m`. */
  readonly interval?: string
  /** Unix ms of the first; default 2024-01-01 00:00 UTC. */
  readonly startAt?: number
  /** Default: BTCUSDT, ticks of 0.1, lots of 0.001. */
  readonly instrument?: TestInstrument
  /** Of the tickers, beside the prices: `{ fundingRate: 0.0001 }`. */
  readonly columns?: Readonly<Partial<Record<TickerColumn, number>>>
}

/** One decision. */
export interface SeriesDecision {
  /** Unix ms of the snapshot, and its price. */
  readonly at: number
  readonly price: number
  readonly intents: readonly Intent[]
  /** Intents that make no sense. */
  readonly denials: readonly IntentDenial[]
  readonly state: unknown
  /** What the strategy held when it decided, in lots. */
  readonly netLots: number
}

/** 2024-01-01 00:00 UTC. */
const START_AT = 1_704_067_200_000

interface Ticker {
  readonly at: number
  readonly price: number
}

/**
 * Asks a strategy along a series of prices as the daemon would: candles are built, the next decision gets the state of
 * the one before. A target is reached at the next price, so that the strategy sees what it holds; quotes and places
 * are not filled: that is what `intentd backtest` is for.
 * @throws Failure of the first decision that fails.
 */
export function runSeries(options: SeriesOptions): readonly SeriesDecision[] {
  const host = new SeriesHost(options)
  return toTickers(options).flatMap((ticker) => host.take(ticker) ?? [])
}

function toTickers({
  prices = [],
  candles = [],
  interval = '1m',
  startAt = START_AT,
}: SeriesOptions): Ticker[] {
  const stepMs = parseInterval(interval)
  if (stepMs === undefined) throw new RangeError(`no interval: ${interval}`)
  const singles = prices.map((price, index) => ({ at: startAt + index * stepMs, price }))
  return singles.concat(
    candles.flatMap(({ open, high, low, close }, index) => {
      const way = close >= open ? [open, low, high, close] : [open, high, low, close]
      return way.map((price, part) => ({ at: startAt + (index + part / 4) * stepMs, price }))
    }),
  )
}

class SeriesHost {
  readonly #options: SeriesOptions
  readonly #instrument: Instrument
  readonly #needs: ResolvedNeeds
  readonly #runner: StrategyRunner
  readonly #series = new Map<string, CandleSeries>()
  readonly #open = new Map<string, OpenCandle>()
  #holding: Holding = FLAT
  #target: number | undefined
  #decisions = 0
  #now = 0

  constructor(options: SeriesOptions) {
    const { strategy } = options
    const params: unknown = strategy.params.parse(options.params)
    this.#options = options
    this.#instrument = toInstrument(options.instrument ?? {})
    this.#needs = resolveNeeds(strategy, params)
    this.#runner = createStrategyRunner({
      ...{ strategyId: strategy.name, strategy, params, instruments: [this.#instrument] },
      clock: { now: () => this.#now, monotonic: () => 0 },
    })
  }

  take(ticker: Ticker): SeriesDecision | undefined {
    this.#now = ticker.at
    const hasFilled = this.#fill()
    const hasClosed = this.#close(ticker)
    const { decides = ['snapshot'] } = this.#needs
    const isAsked =
      this.#decisions === 0 ||
      decides.includes('snapshot') ||
      (hasClosed && decides.includes('candle')) ||
      (hasFilled && decides.includes('fill'))
    return isAsked ? this.#ask(ticker) : undefined
  }

  #fill(): boolean {
    const lots = this.#target
    this.#target = undefined
    if (lots === undefined || lots === this.#holding.longLots - this.#holding.shortLots) return false
    this.#holding = { longLots: Math.max(0, lots), shortLots: Math.max(0, -lots) }
    return true
  }

  /** As the core does it: a candle closes when a ticker of a later interval is there. */
  #close({ at, price }: Ticker): boolean {
    let hasClosed = false
    for (const [intervalMs, count] of this.#needs.candles) {
      const key = candleKey(this.#instrument.symbol, intervalMs)
      const openAt = openOf(at, intervalMs)
      const open = this.#open.get(key)
      if (open?.openAt === openAt) {
        addTick(open, price, at)
        continue
      }
      const series = this.#series.get(key) ?? createCandleSeries(intervalMs, count)
      this.#series.set(key, series)
      this.#open.set(key, openCandle(openAt, price, at))
      if (open === undefined) continue
      appendCandle(series, toRow(open))
      hasClosed = true
    }
    return hasClosed
  }

  #ask(ticker: Ticker): SeriesDecision {
    this.#decisions += 1
    const netLots = this.#holding.longLots - this.#holding.shortLots
    const result = this.#runner.decide(this.#snapshot(ticker))
    if (result.kind === 'failed') throw new Error(result.message)
    const { intents, denials, state } = result
    for (const intent of intents) if (intent.kind === 'target') this.#target = intent.lots
    return { ...ticker, intents, denials, state, netLots }
  }

  #snapshot({ at, price }: Ticker): Snapshot {
    const { symbol, tick } = this.#instrument
    const tickers = new TickerTable(1)
    Object.assign(tickers, { readAt: at, requestTime: at })
    const values: Readonly<Partial<Record<TickerColumn, number>>> = {
      ...{ lastPr: price, bidPr: price, askPr: price + Number(tick.step), bidSz: 1, askSz: 1, ts: at },
      ...{ indexPrice: price, fundingRate: 0 },
      ...this.#options.columns,
    }
    const row = tickers.claimRow(symbol)
    for (const [column, value] of Object.entries(values)) {
      tickers.columns[column as TickerColumn][row] = value
    }
    const holding = this.#holding
    const moment = {
      instrument: this.#instrument,
      holding,
      accountHolding: holding,
      positionReadAt: at,
      orders: [],
    }
    return {
      ...{ sequence: this.#decisions, takenAt: at, exchangeTime: at, fillsReadAt: at, tickers },
      ...{ instruments: [moment], feeds: new Map(), candles: this.#series },
      account: {
        capital: undefined,
        ...{ money: new Map(), funding: new Map(), marks: new Map(), holdings: new Map() },
        fundingMinutes: [0, 480, 960],
      },
    }
  }
}

function toInstrument({
  symbol = 'BTCUSDT',
  tickSize = '0.1',
  lotSize = '0.001',
  minSize = lotSize,
}: TestInstrument): Instrument {
  const lot = createGrid(lotSize)
  return {
    ...({ symbol, productType: 'USDT-FUTURES', marginCoin: 'USDT' } as const),
    ...{
      tick: createGrid(tickSize),
      lot,
      lotsMin: stepBelow(lot, Number(minSize)),
      notionalMin: decimal('5'),
    },
  }
}
