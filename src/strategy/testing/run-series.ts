import { z } from 'zod'
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
import type { FeedReading } from '../../domain/feed.ts'
import type { Instrument } from '../../domain/instrument.ts'
import type { Intent } from '../../domain/intent.ts'
import { FLAT, type Holding } from '../../domain/position.ts'
import type { Snapshot } from '../../domain/snapshot.ts'
import { TICKER_COLUMNS, type TickerColumn, TickerTable } from '../../domain/ticker-table.ts'
import { didYouMean } from '../../lib/did-you-mean.ts'
import { decimal } from '../../lib/decimal.ts'
import { createGrid, stepBelow } from '../../lib/grid.ts'
import type { Strategy } from '../define-strategy.ts'
import { type ResolvedNeeds, resolveNeeds } from '../needs.ts'
import type { IntentDenial } from '../read-intents.ts'
import { StrategyRunner } from '../strategy-runner.ts'

export interface TestInstrument {
  readonly symbol?: string
  readonly tickSize?: string
  readonly lotSize?: string
  readonly minSize?: string
}

export interface TestCandle {
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
}

export interface SeriesOptions {
  readonly strategy: Strategy
  readonly params: unknown
  /** One ticker each: bid and last are the price, the ask is a tick above. */
  readonly prices?: readonly number[]
  /** Four tickers each: open, the nearer extreme, the other one, close. */
  readonly candles?: readonly TestCandle[]
  /** Between two prices, or length of a candle; default `1m`. */
  readonly interval?: string
  /** Intervals without a price before the given index: `{ 40: 30 }` is half an hour of minutes. */
  readonly gaps?: Readonly<Record<number, number>>
  /** Unix ms; default 2024-01-01 00:00 UTC. */
  readonly startAt?: number
  /** Default: BTCUSDT, ticks of 0.1, lots of 0.001. */
  readonly instrument?: TestInstrument
  readonly others?: readonly OtherSeries[]
  /** Further ticker columns: `{ fundingRate: 0.0001 }`. */
  readonly columns?: Readonly<Partial<Record<TickerColumn, number>>>
  /** Ascending by `readAt`, from which each reading is visible. */
  readonly feeds?: Readonly<Record<string, readonly FeedReading[]>>
  /** Equity of the account, margin coin; it stays. Absent: not known, and `lotsForRisk` gives 0. */
  readonly equity?: number
}

export interface OtherSeries {
  readonly instrument: TestInstrument
  readonly prices: readonly number[]
}

export interface SeriesDecision {
  /** Unix ms of the snapshot, and its price. */
  readonly at: number
  readonly price: number
  readonly intents: readonly Intent[]
  readonly denials: readonly IntentDenial[]
  readonly state: unknown
  readonly netLots: number
}

const START_AT = 1_704_067_200_000

/** So many failures in a row halt a strategy. */
const STUCK_MIN = 10

type SeriesResult =
  | { readonly kind: 'decided'; readonly decision: SeriesDecision }
  | { readonly kind: 'failed'; readonly message: string }

interface Ticker {
  readonly at: number
  readonly price: number
  readonly all: readonly number[]
}

interface Part {
  readonly instrument: Instrument
  holding: Holding
  target: number | undefined
}

/**
 * Builds candles and hands on the state as the daemon does. A target is reached at the next price,
 * so that the strategy sees its holding. Quotes and places are not filled; `intentd backtest` does
 * that.
 * @throws Error of the first decision that fails; RangeError for a price that is missing or not
 * above 0
 */
export function runSeries(options: SeriesOptions): readonly SeriesDecision[] {
  const host = new SeriesHost(options)
  return toTickers(options).flatMap((ticker) => {
    const result = host.take(ticker)
    if (result?.kind === 'failed') throw new Error(result.message)
    return result?.decision ?? []
  })
}

export interface TriedSeries {
  readonly decisions: readonly SeriesDecision[]
  readonly failures: readonly string[]
  /** From this decision on each one fails, and none before wanted anything. */
  readonly stuckAt: number | undefined
}

/** Works as {@link runSeries}, but goes on after a decision that fails, which changes nothing. */
export function trySeries(options: SeriesOptions): TriedSeries {
  const host = new SeriesHost(options)
  const results = toTickers(options).flatMap((ticker) => host.take(ticker) ?? [])
  return {
    decisions: results.flatMap((result) => (result.kind === 'decided' ? result.decision : [])),
    failures: results.flatMap((result) => (result.kind === 'failed' ? result.message : [])),
    stuckAt: findStuck(results),
  }
}

function findStuck(results: readonly SeriesResult[]): number | undefined {
  const succeeded = results.findLastIndex(({ kind }) => kind === 'decided')
  const wanted = results.some(
    (result) =>
      result.kind === 'decided' &&
      result.decision.intents.length + result.decision.denials.length > 0,
  )
  const failed = results.length - 1 - succeeded
  const isStuck = !wanted && failed >= (succeeded < 0 ? 1 : STUCK_MIN)
  return isStuck ? succeeded + 1 : undefined
}

function toTickers({
  prices = [],
  candles = [],
  others = [],
  interval = '1m',
  gaps = {},
  startAt = START_AT,
}: SeriesOptions): Ticker[] {
  const stepMs = parseInterval(interval)
  if (stepMs === undefined) throw new RangeError(`no interval: ${interval}`)
  const placeOf = (index: number) =>
    Object.entries(gaps).reduce(
      (place, [before, steps]) => place + (index >= Number(before) ? steps : 0),
      index,
    )
  const singles = prices.map((price, index) => {
    const all = [price, ...others.map((other) => other.prices[index] ?? Number.NaN)]
    return { at: startAt + placeOf(index) * stepMs, price, all }
  })
  const tickers = singles.concat(
    candles.flatMap(({ open, high, low, close }, index) => {
      const way = close >= open ? [open, low, high, close] : [open, high, low, close]
      return way.map((price, part) => ({
        at: startAt + (placeOf(index) + part / 4) * stepMs,
        price,
        all: [price, ...others.map(() => Number.NaN)],
      }))
    }),
  )
  const wrong = tickers.findIndex(
    ({ all }) => !all.every((price) => price > 0 && Number.isFinite(price)),
  )
  if (wrong >= 0) {
    throw new RangeError(
      `price ${wrong + 1} of ${tickers.length} is ${tickers[wrong]?.all.join(', ')}: prices are numbers above 0`,
    )
  }
  return tickers
}

class SeriesHost {
  readonly #options: SeriesOptions
  readonly #parts: readonly Part[]
  readonly #needs: ResolvedNeeds
  readonly #runner: StrategyRunner
  readonly #series = new Map<string, CandleSeries>()
  readonly #open = new Map<string, OpenCandle>()
  #decisions = 0
  #signals = 0
  #now = 0

  constructor(options: SeriesOptions) {
    const { strategy } = options
    const params = parseParams(strategy, options.params)
    for (const column of Object.keys(options.columns ?? {})) assertColumn(column)
    this.#options = options
    const given = [
      options.instrument ?? {},
      ...(options.others ?? []).map(({ instrument }) => instrument),
    ]
    const instruments = given.map(toInstrument)
    this.#parts = instruments.map((instrument) => ({
      instrument,
      holding: FLAT,
      target: undefined,
    }))
    this.#needs = resolveNeeds(strategy, params)
    this.#runner = new StrategyRunner({
      strategyId: strategy.name,
      strategy,
      params,
      instruments,
      clock: {
        now: () => this.#now,
        monotonic: () => 0,
      },
    })
  }

  take(ticker: Ticker): SeriesResult | undefined {
    this.#now = ticker.at
    const hasFilled = this.#fill()
    const hasClosed = this.#parts
      .map((part, index) => this.#close(part, ticker.at, ticker.all[index] ?? 0))
      .includes(true)
    const { decides = ['snapshot'] } = this.#needs
    const isAsked =
      this.#decisions === 0 ||
      decides.includes('snapshot') ||
      (hasClosed && decides.includes('candle')) ||
      (hasFilled && decides.includes('fill')) ||
      (decides.includes('signal') && this.#hasNewSignal(ticker.at))
    return isAsked ? this.#ask(ticker) : undefined
  }

  #fill(): boolean {
    return this.#parts.map(fillTarget).includes(true)
  }

  #close({ instrument }: Part, at: number, price: number): boolean {
    let hasClosed = false
    for (const [intervalMs, count] of this.#needs.candles) {
      const key = candleKey(instrument.symbol, intervalMs)
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

  #ask(ticker: Ticker): SeriesResult {
    this.#decisions += 1
    const { at, price } = ticker
    const { longLots, shortLots } = this.#parts[0]?.holding ?? FLAT
    const result = this.#runner.decide(this.#snapshot(ticker))
    if (result.kind === 'failed') return { kind: 'failed', message: result.message }
    const { intents, denials, state } = result
    for (const intent of intents) {
      const part = this.#parts.find(({ instrument }) => instrument.symbol === intent.symbol)
      if (part && intent.kind === 'target') part.target = intent.lots
    }
    const netLots = longLots - shortLots
    return { kind: 'decided', decision: { at, price, intents, denials, state, netLots } }
  }

  #snapshot({ at, all }: Ticker): Snapshot {
    const tickers = new TickerTable(all.length)
    Object.assign(tickers, { readAt: at, requestTime: at })
    const moments = this.#parts.map(({ instrument, holding }, index) => {
      this.#writeRow(tickers, instrument, { at, price: all[index] ?? 0 })
      return { instrument, holding, accountHolding: holding, positionReadAt: at, orders: [] }
    })
    return {
      sequence: this.#decisions,
      takenAt: at,
      exchangeTime: at,
      fillsReadAt: at,
      tickers,
      instruments: moments,
      feeds: this.#feedsAt(at),
      candles: this.#series,
      account: {
        capital: undefined,
        equity: this.#options.equity,
        money: new Map(),
        funding: new Map(),
        marks: new Map(),
        holdings: new Map(),
        distances: new Map(),
        fundingMinutes: [0, 480, 960],
      },
    }
  }

  #feedsAt(now: number): Snapshot['feeds'] {
    const feeds = Object.entries(this.#options.feeds ?? {}).flatMap(([name, readings]) => {
      const last = readings.findLast(({ readAt }) => readAt <= now)
      return last === undefined ? [] : [[name, last] as const]
    })
    return new Map(feeds)
  }

  #hasNewSignal(now: number): boolean {
    const readings = Object.values(this.#options.feeds ?? {}).flat()
    const heard = readings.filter(({ id, readAt }) => id !== undefined && readAt <= now).length
    const isNew = heard > this.#signals
    this.#signals = heard
    return isNew
  }

  #writeRow(
    tickers: TickerTable,
    { symbol, tick }: Instrument,
    { at, price }: { readonly at: number; readonly price: number },
  ): void {
    const values: Readonly<Partial<Record<TickerColumn, number>>> = {
      lastPr: price,
      bidPr: price,
      askPr: price + Number(tick.step),
      bidSz: 1,
      askSz: 1,
      ts: at,
      indexPrice: price,
      fundingRate: 0,
      ...this.#options.columns,
    }
    const row = tickers.claimRow(symbol)
    for (const [column, value] of Object.entries(values)) {
      tickers.columns[column as TickerColumn][row] = value
    }
  }
}

/** @throws Error that names the parameter, in the words of the strategy's own schema */
function parseParams({ name, params }: Strategy, given: unknown): unknown {
  try {
    return params.parse(given)
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error
    const problems = error.issues.map(
      ({ path, message }) => `${path.join('.') || 'params'}: ${message}`,
    )
    throw new Error(`params of ${name}: ${problems.join('; ')}`, { cause: error })
  }
}

function assertColumn(column: string): void {
  if ((TICKER_COLUMNS as readonly string[]).includes(column)) return
  const guess = didYouMean(column, TICKER_COLUMNS)
  const hint =
    guess === undefined ? `there are ${TICKER_COLUMNS.join(', ')}` : `did you mean ${guess}?`
  throw new Error(`columns: no column ${column}; ${hint}`)
}

function fillTarget(part: Part): boolean {
  const { target: lots, holding } = part
  part.target = undefined
  if (lots === undefined || lots === holding.longLots - holding.shortLots) return false
  part.holding = { longLots: Math.max(0, lots), shortLots: Math.max(0, -lots) }
  return true
}

function toInstrument({
  symbol = 'BTCUSDT',
  tickSize = '0.1',
  lotSize = '0.001',
  minSize = lotSize,
}: TestInstrument): Instrument {
  const lot = createGrid(lotSize)
  return {
    symbol,
    productType: 'USDT-FUTURES',
    marginCoin: 'USDT',
    tick: createGrid(tickSize),
    lot,
    lotsMin: stepBelow(lot, Number(minSize)),
    notionalMin: decimal('5'),
  }
}
