import { appendCandle, type CandleSeries, createCandleSeries } from '../../domain/candles.ts'
import type { FeedReading } from '../../domain/feed.ts'
import type { Instrument } from '../../domain/instrument.ts'
import type { Money } from '../../domain/fill-money.ts'
import type { AccountMoment, InstrumentMoment, Snapshot } from '../../domain/snapshot.ts'
import { type MarketAggregates, TICKER_COLUMNS, TickerTable } from '../../domain/ticker-table.ts'
import { decimal } from '../../lib/decimal.ts'
import { deepFreeze } from '../../lib/plain-data.ts'
import {
  type CrossingCandles,
  type CrossingInstrument,
  type CrossingMoment,
  type CrossingMoney,
  EXCHANGE_TIME,
  FILLS_READ_AT,
  HEADER_LENGTH,
  type Question,
  READ_AT,
  REQUEST_TIME,
  ROW_LENGTH,
  SEQUENCE,
  TAKEN_AT,
  type StrategyThreadData,
} from './thread-messages.ts'

const NOTHING: AccountMoment = {
  equity: undefined,
  capital: undefined,
  money: new Map(),
  funding: new Map(),
  marks: new Map(),
  holdings: new Map(),
  distances: new Map(),
  fundingMinutes: [],
}

export class ShownMoment {
  readonly #numbers: Float64Array
  readonly #instruments: (Instrument | undefined)[]
  #order: readonly number[] | undefined
  readonly #moments: (InstrumentMoment | undefined)[]
  readonly #tickers: TickerTable
  readonly #columns: readonly Float64Array[]
  readonly #candles = new Map<string, CandleSeries>()
  #account = NOTHING
  #market: MarketAggregates | undefined
  #feeds: ReadonlyMap<string, FeedReading> = new Map()

  constructor({ numbers, instruments, membersMax }: StrategyThreadData) {
    this.#numbers = new Float64Array(numbers)
    this.#instruments = instruments.map(fromCrossing)
    this.#moments = this.#instruments.map(() => undefined)
    this.#tickers = new TickerTable(Math.max(1, instruments.length + membersMax))
    this.#columns = TICKER_COLUMNS.map((column) => this.#tickers.columns[column])
  }

  take(question: Question): void {
    const { instruments = [], order, moments = [], account, feeds, candles = [], market } = question
    if (market !== undefined) this.#market = market ?? undefined
    for (const [place, instrument] of instruments) {
      this.#instruments[place] = instrument && fromCrossing(instrument)
      this.#moments[place] = undefined
    }
    this.#order = order ?? this.#order
    for (const [place, moment] of moments) {
      const instrument = this.#instruments[place]
      this.#moments[place] = instrument && moment && toMoment(moment, instrument)
    }
    if (account) {
      const { capital, money, funding, ...rest } = account
      this.#account = {
        ...rest,
        capital: capital === undefined ? undefined : decimal(capital),
        money: new Map([...money].map(([pair, one]) => [pair, toMoney(one)])),
        funding: new Map([...funding].map(([symbol, text]) => [symbol, decimal(text)])),
      }
    }
    if (feeds)
      this.#feeds = new Map([...feeds].map(([name, reading]) => [name, deepFreeze(reading)]))
    for (const one of candles) this.#takeCandles(one)
  }

  #takeCandles({ key, intervalMs, capacity, filled, isAnew, rows }: CrossingCandles): void {
    if (capacity === 0) return void this.#candles.delete(key)
    const known = isAnew ? undefined : this.#candles.get(key)
    const series = known ?? createCandleSeries(intervalMs, capacity)
    for (const row of rows) appendCandle(series, row)
    series.filled = filled
    this.#candles.set(key, series)
  }

  snapshot(): Snapshot {
    const numbers = this.#numbers
    const at = (place: number): number => numbers[place] ?? 0
    this.#readTickers()
    return {
      sequence: at(SEQUENCE),
      takenAt: at(TAKEN_AT),
      exchangeTime: at(EXCHANGE_TIME),
      fillsReadAt: at(FILLS_READ_AT),
      tickers: this.#tickers,
      instruments: this.#inOrder().filter((moment) => moment !== undefined),
      feeds: this.#feeds,
      candles: this.#candles,
      account: this.#account,
      ...(this.#market && { market: this.#market }),
    }
  }

  #inOrder(): readonly (InstrumentMoment | undefined)[] {
    return this.#order === undefined
      ? this.#moments
      : this.#order.map((place) => this.#moments[place])
  }

  #readTickers(): void {
    const tickers = this.#tickers
    tickers.clear()
    tickers.readAt = this.#numbers[READ_AT] ?? 0
    tickers.requestTime = this.#numbers[REQUEST_TIME] ?? 0
    const columns = this.#columns
    let start = HEADER_LENGTH
    for (const instrument of this.#instruments) {
      if (instrument && this.#numbers[start] === 1) {
        const row = tickers.claimRow(instrument.symbol)
        for (let field = 0; field < columns.length; field++) {
          const column = columns[field]
          if (column) column[row] = this.#numbers[start + 1 + field] ?? Number.NaN
        }
      }
      start += ROW_LENGTH
    }
  }
}

function fromCrossing({ notionalMin, ...rest }: CrossingInstrument): Instrument {
  return { ...rest, notionalMin: decimal(notionalMin) }
}

function toMoment({ money, ...moment }: CrossingMoment, instrument: Instrument): InstrumentMoment {
  return { ...moment, instrument, money: money && toMoney(money) }
}

function toMoney({ profit, fees, ...rest }: CrossingMoney): Money {
  return { profit: decimal(profit), fees: decimal(fees), ...rest }
}
