import {
  candleKey,
  type CandleSeries,
  capacityOf,
  newestOpenAt,
  readCandle,
  toRows,
} from '../../domain/candles.ts'
import type { Instrument } from '../../domain/instrument.ts'
import type { FeedReading } from '../../domain/feed.ts'
import type { AccountMoment, InstrumentMoment, Snapshot } from '../../domain/snapshot.ts'
import { type MarketAggregates, TICKER_COLUMNS } from '../../domain/ticker-table.ts'
import {
  type CrossingAccount,
  type CrossingCandles,
  type CrossingInstrument,
  type CrossingMoment,
  EXCHANGE_TIME,
  FILLS_READ_AT,
  HEADER_LENGTH,
  type Question,
  READ_AT,
  REQUEST_TIME,
  ROW_LENGTH,
  SEQUENCE,
  TAKEN_AT,
  toCrossingInstrument,
  toCrossingMoney,
} from './thread-messages.ts'

/** Runs in the daemon: writes into shared memory, and returns what else changed. */
export class MomentWriter {
  readonly #numbers: Float64Array
  readonly #fixed: readonly string[]
  readonly #intervals: readonly number[]
  #symbols: (string | undefined)[]
  readonly #members = new Map<string, Instrument>()
  #order: readonly number[] | undefined
  #keys: readonly string[]
  #moments: (InstrumentMoment | undefined)[] = []
  #feeds: ReadonlyMap<string, FeedReading> = new Map()
  readonly #series = new CandleChanges()
  #account = new AccountChanges()
  #market: MarketAggregates | undefined

  constructor(numbers: SharedArrayBuffer, symbols: readonly string[], intervals: Iterable<number>) {
    this.#numbers = new Float64Array(numbers)
    this.#fixed = symbols
    this.#symbols = Array.from(symbols)
    this.#intervals = [...intervals]
    this.#keys = this.#listKeys()
  }

  #listKeys(): readonly string[] {
    return this.#intervals.flatMap((intervalMs) =>
      this.#symbols.flatMap((symbol) =>
        symbol === undefined ? [] : [candleKey(symbol, intervalMs)],
      ),
    )
  }

  forget(): void {
    this.#symbols = Array.from(this.#fixed)
    this.#members.clear()
    this.#order = undefined
    this.#keys = this.#listKeys()
    this.#moments = []
    this.#feeds = new Map()
    this.#series.forget()
    this.#account = new AccountChanges()
    this.#market = undefined
  }

  write(snapshot: Snapshot): Question | undefined {
    const roster = this.#followMembers(snapshot)
    this.#writeNumbers(snapshot)
    const moments = this.#changedMoments(snapshot)
    const account = this.#account.changed(snapshot.account)
    const feeds = this.#changedFeeds(snapshot)
    const candles = this.#series.changed(this.#keys, snapshot.candles)
    const isMarketNew = snapshot.market !== this.#market
    this.#market = snapshot.market
    const isQuiet = moments.length === 0 && !account && !feeds && candles.length === 0
    if (isQuiet && !roster && !isMarketNew) return undefined
    return {
      ...roster,
      ...(moments.length > 0 && { moments }),
      ...(account && { account }),
      ...(feeds && { feeds }),
      ...(candles.length > 0 && { candles }),
      ...(isMarketNew && { market: snapshot.market ?? null }),
    }
  }

  /** Undefined while no member has come or gone. */
  #followMembers({ instruments }: Snapshot): Pick<Question, 'instruments' | 'order'> | undefined {
    if (instruments.length <= this.#fixed.length && this.#members.size === 0) return undefined
    const shown = new Map(instruments.map(({ instrument }) => [instrument.symbol, instrument]))
    const changed: [number, CrossingInstrument | undefined][] = []
    for (const [symbol, instrument] of Array.from(this.#members))
      if (shown.get(symbol) !== instrument) changed.push([this.#release(symbol), undefined])
    for (const [symbol, instrument] of shown) {
      if (this.#symbols.includes(symbol)) continue
      changed.push([this.#claim(symbol, instrument), toCrossingInstrument(instrument)])
    }
    const order = instruments.map(({ instrument }) => this.#symbols.indexOf(instrument.symbol))
    const isSame =
      this.#order?.length === order.length &&
      order.every((place, index) => place === this.#order?.[index])
    if (changed.length === 0 && isSame) return undefined
    this.#order = order
    this.#keys = this.#listKeys()
    return { instruments: changed, order }
  }

  #release(symbol: string): number {
    const place = this.#symbols.indexOf(symbol)
    this.#symbols[place] = undefined
    this.#moments[place] = undefined
    this.#members.delete(symbol)
    return place
  }

  #claim(symbol: string, instrument: Instrument): number {
    const free = this.#symbols.indexOf(undefined)
    const place = free < 0 ? this.#symbols.length : free
    if (HEADER_LENGTH + (place + 1) * ROW_LENGTH > this.#numbers.length)
      throw new RangeError(`a strategy is shown more than ${place} instruments`)
    this.#symbols[place] = symbol
    this.#moments[place] = undefined
    this.#members.set(symbol, instrument)
    return place
  }

  #writeNumbers({ sequence, takenAt, exchangeTime, fillsReadAt, tickers }: Snapshot): void {
    const numbers = this.#numbers
    numbers[SEQUENCE] = sequence
    numbers[TAKEN_AT] = takenAt
    numbers[EXCHANGE_TIME] = exchangeTime
    numbers[FILLS_READ_AT] = fillsReadAt
    numbers[READ_AT] = tickers.readAt
    numbers[REQUEST_TIME] = tickers.requestTime
    for (let index = 0; index < this.#symbols.length; index++) {
      const start = HEADER_LENGTH + index * ROW_LENGTH
      const row = tickers.rowOf(this.#symbols[index] ?? '')
      numbers[start] = row < 0 ? 0 : 1
      if (row < 0) continue
      for (let field = 0; field < TICKER_COLUMNS.length; field++) {
        const column = TICKER_COLUMNS[field]
        numbers[start + 1 + field] = (column && tickers.columns[column][row]) ?? Number.NaN
      }
    }
  }

  #changedMoments({ instruments }: Snapshot): (readonly [number, CrossingMoment | undefined])[] {
    const changed: (readonly [number, CrossingMoment | undefined])[] = []
    for (let place = 0; place < this.#symbols.length; place++) {
      if (this.#symbols[place] === undefined) continue
      const moment = findMoment(instruments, place, this.#symbols[place])
      if (this.#moments[place] === moment) continue
      this.#moments[place] = moment
      changed.push([place, moment && toCrossing(moment)])
    }
    return changed
  }

  #changedFeeds({ feeds }: Snapshot): ReadonlyMap<string, FeedReading> | undefined {
    const isSame =
      feeds.size === this.#feeds.size &&
      [...feeds].every(([name, one]) => this.#feeds.get(name) === one)
    if (isSame) return undefined
    this.#feeds = new Map(feeds)
    return this.#feeds
  }
}

function findMoment(
  instruments: Snapshot['instruments'],
  place: number,
  symbol: string | undefined,
): InstrumentMoment | undefined {
  const guess = instruments[place]
  if (guess?.instrument.symbol === symbol) return guess
  return instruments.find(({ instrument }) => instrument.symbol === symbol)
}

function toCrossing(moment: InstrumentMoment): CrossingMoment {
  const { instrument: _known, money, ...rest } = moment
  return { ...rest, money: money && toCrossingMoney(money) }
}

class CandleChanges {
  readonly #known = new Map<string, { readonly series: CandleSeries; readonly newestAt: number }>()
  #keys: readonly string[] | undefined

  forget(): void {
    this.#known.clear()
  }

  changed(keys: readonly string[], candles: Snapshot['candles']): readonly CrossingCandles[] {
    const changed: CrossingCandles[] = []
    if (keys !== this.#keys) {
      this.#keys = keys
      for (const key of Array.from(this.#known.keys()))
        if (!keys.includes(key)) changed.push(this.#drop(key))
    }
    for (const key of keys) {
      const series = candles.get(key)
      const known = this.#known.get(key)
      if (series === undefined) {
        if (this.#known.has(key)) changed.push(this.#drop(key))
        continue
      }
      const newestAt = newestOpenAt(series)
      if (known?.series === series && known.newestAt === newestAt) continue
      this.#known.set(key, { series, newestAt })
      const from = known?.series === series ? placeAfter(series, known.newestAt) : 0
      const { intervalMs, filled } = series
      const rows = toRows(series, from)
      changed.push({
        key,
        intervalMs,
        capacity: capacityOf(series),
        filled,
        isAnew: from === 0,
        rows,
      })
    }
    return changed
  }

  #drop(key: string): CrossingCandles {
    this.#known.delete(key)
    return { key, intervalMs: 0, capacity: 0, filled: 0, isAnew: true, rows: [] }
  }
}

function placeAfter(series: CandleSeries, at: number): number {
  let place = series.length
  while (place > 0 && readCandle(series, 'openAt', place - 1) > at) place -= 1
  return place
}

/** Maps are changed in place; a changed entry is another object. */
class AccountChanges {
  readonly #known = new Map<unknown, ReadonlyMap<string, unknown>>()
  #equity: number | undefined

  changed(account: AccountMoment): CrossingAccount | undefined {
    const { money, funding, marks, holdings, distances, equity } = account
    const parts: readonly ReadonlyMap<string, unknown>[] = [
      money,
      funding,
      marks,
      holdings,
      distances,
    ]
    const isSame = parts.every((part, index) => isSameMap(this.#known.get(index), part))
    if (isSame && equity === this.#equity) return undefined
    this.#equity = equity
    for (const [index, part] of parts.entries()) this.#known.set(index, new Map(part))
    return {
      capital: account.capital?.toString(),
      equity,
      ownCapital: account.ownCapital,
      money: new Map([...money].map(([pair, one]) => [pair, toCrossingMoney(one)])),
      funding: new Map([...funding].map(([symbol, amount]) => [symbol, amount.toString()])),
      marks: new Map(marks),
      holdings: new Map(holdings),
      distances: new Map(distances),
      fundingMinutes: account.fundingMinutes,
    }
  }
}

function isSameMap(
  known: ReadonlyMap<string, unknown> | undefined,
  part: ReadonlyMap<string, unknown>,
): boolean {
  if (known?.size !== part.size) return false
  for (const [key, value] of part) if (known.get(key) !== value) return false
  return true
}
