import type { RecordedFeeds } from '../../assembly/recordings/recorded-feeds.ts'
import { describeRestrictions } from '../backtest-run.ts'
import { OrderLog } from '../order-log.ts'
import type { PlayedFeed } from '../virtual-pollers.ts'
import { medianStep, type ViewedPrices } from '../played-prices.ts'
import {
  addFill,
  describeUncounted,
  feeOf,
  NO_MONEY,
  profitOf,
  uncountedOf,
} from '../../domain/fill-money.ts'
import { type Fill, isLiquidation } from '../../domain/fill.ts'
import { isInverse } from '../../domain/instrument.ts'
import { netLots, type PositionReading } from '../../domain/position.ts'
import type { JournalRecord } from '../../domain/record.ts'
import type { TickerTable } from '../../domain/ticker-table.ts'
import { applyRecord } from '../../engine/book/apply-record.ts'
import { parseCore } from '../../engine/replay/core-image.ts'
import { parseEvent } from '../../engine/replay/event-text.ts'
import { type EngineSettings, listTraded } from '../../engine/settings.ts'
import { type Decimal, decimal, ZERO } from '../../lib/decimal.ts'
import { parseValue } from '../../lib/value-text.ts'
import { writePrices } from '../../prices/import/import-prices.ts'
import type { PriceTable } from '../../prices/import/price-table.ts'
import type { SegmentFile } from '../../recording/recordings.ts'
import { openSegment } from '../../recording/segment-reader.ts'
import { buildRunReport } from '../../report/build-report.ts'
import { RunCollector } from '../../report/run-collector.ts'
import type { PriceCoverage, RunFill } from '../../report/run-facts.ts'
import type { RunReport } from '../../report/run-report.ts'

interface RecordedFrame {
  readonly fromAt: number
  readonly toAt: number
  readonly opening: string
  readonly coin: string
  readonly directory: string
}

/** Values positions at the mark prices that came with them. */
export function reportRecorded(segments: readonly SegmentFile[], frame: RecordedFrame): RunReport {
  const { settings, book } = parseCore(openSegment(segments[0]?.file ?? '').image)
  const run = new RecordedRun(settings, book, frame)
  for (const { file } of segments) {
    for (const { event, effects } of openSegment(file).steps()) {
      if (event.startsWith('{"kind":"snapshotTaken"')) {
        const parsed = parseEvent(event)
        if (parsed.kind === 'snapshotTaken') run.priced(parsed.tickers)
      }
      if (event.startsWith('{"kind":"positionRead"')) {
        const parsed = parseEvent(event)
        if (parsed.kind === 'positionRead') run.marked(parsed.reading)
      }
      for (const effect of effects) {
        if (effect.startsWith('{"kind":"record"'))
          run.recorded((parseValue(effect) as { readonly record: JournalRecord }).record)
      }
    }
  }
  return run.finish()
}

class RecordedRun {
  readonly #settings: EngineSettings
  readonly #book: ReturnType<typeof parseCore>['book']
  readonly #frame: RecordedFrame
  readonly #collector: RunCollector
  readonly #orders: OrderLog
  #money = NO_MONEY
  #funding = ZERO
  readonly #liquidations = new Set<string>()
  readonly #prices = new Map<string, number>()
  readonly #marks = new Map<string, number>()

  constructor(
    settings: EngineSettings,
    book: ReturnType<typeof parseCore>['book'],
    frame: RecordedFrame,
  ) {
    this.#settings = settings
    this.#book = book
    this.#frame = frame
    const { coin, directory, fromAt, toAt, opening } = frame
    const collector = new RunCollector({
      coin,
      directory,
      fromAt,
      toAt,
      opening: Number(opening),
      instruments: settings.instruments,
      resting: () => ({
        buy: Number.NaN,
        sell: Number.NaN,
      }),
    })
    this.#collector = collector
    this.#orders = new OrderLog({
      book: () => this.#book,
      onEnded: (order) => collector.order(order),
      onDenied: (strategyId, symbol, count) => collector.denied(strategyId, symbol, count),
    })
  }

  priced(tickers: TickerTable): void {
    const at = tickers.requestTime
    if (at < this.#frame.fromAt || at >= this.#frame.toAt) return
    for (const symbol of this.#settings.instruments.keys()) {
      const last = tickers.read(symbol, 'lastPr')
      if (Number.isNaN(last)) continue
      this.#prices.set(symbol, last)
      this.#collector.price(at, symbol, last)
      this.#collector.mark(symbol, this.#marks.get(symbol) ?? last)
    }
    this.#collector.figures(at, this.#figures())
  }

  marked({ symbol, rows }: PositionReading): void {
    const mark = rows.find(({ markPrice }) => markPrice > 0)?.markPrice
    if (mark === undefined) this.#marks.delete(symbol)
    else this.#marks.set(symbol, mark)
    const price = mark ?? this.#prices.get(symbol)
    if (price !== undefined) this.#collector.mark(symbol, price)
  }

  recorded(record: JournalRecord): void {
    applyRecord(this.#book, record)
    this.#orders.observe(record)
    if (record.kind === 'fills') for (const fill of record.fills) this.#fill(fill)
    if (record.kind !== 'funding') return
    const { symbol, holdSide, change, at } = record
    const slot = this.#book.positionMode === 'hedge_mode' ? holdSide : 'net'
    this.#funding = this.#funding.plus(decimal(change))
    this.#collector.funding({ symbol, slot, amount: decimal(change), at })
  }

  finish(): RunReport {
    const { profit: realised, fees } = this.#money
    const funding = this.#funding
    const { opening, fromAt, toAt, coin } = this.#frame
    this.#orders.close()
    const unrealised = decimal(this.#unrealised().toFixed(8))
    const final = decimal(opening).plus(realised).minus(fees).plus(funding).plus(unrealised)
    return buildRunReport(this.#collector, {
      model: 'recorded',
      toAt,
      isCut: false,
      limiter: [],
      marks: new Map(),
      liquidations: this.#liquidations.size,
      liquidation: { nearest: [], steps: [] },
      tradedSymbols: listTraded(this.#settings),
      money: {
        opening,
        realised: textOf(realised),
        unrealised: textOf(unrealised),
        fees: textOf(fees),
        funding: textOf(funding),
        insurance: '0',
        final: textOf(final),
      },
      denials: this.#orders.denials,
      denialsByStrategy: this.#orders.denialsByStrategy,
      rejections: this.#orders.rejections,
      restrictions: describeRestrictions([...this.#book.restrictions.values()], { fromAt, toAt }),
      notes: [describeUncounted(uncountedOf(this.#money))].filter((note) => note !== ''),
      openPositions: [...this.#book.account].flatMap(([symbol, { longLots, shortLots }]) =>
        longLots + shortLots === 0
          ? []
          : [`${symbol}: ${longLots} lots long, ${shortLots} short (${coin})`],
      ),
    })
  }

  #fill(fill: Fill): void {
    const {
      symbol,
      ticks,
      lots,
      scope,
      source,
      filledAt: at,
      tradeId,
      orderId,
      side,
      tradeSide,
    } = fill
    const clientOid = this.#book.byOrderId.get(orderId) ?? ''
    const [fee, profit] = [feeOf(fill), profitOf(fill)]
    const isHedge = this.#book.positionMode === 'hedge_mode'
    const turned = side === 'buy' ? 'sell' : 'buy'
    const ownSlot = side === 'buy' ? 'long' : 'short'
    const shown: RunFill = {
      tradeId,
      orderId,
      clientOid,
      symbol,
      ticks,
      lots,
      scope,
      fee,
      profit,
      at,
      direction: isHedge && tradeSide === 'close' ? turned : side,
      slot: isHedge ? ownSlot : 'net',
      isSystem: source === 'SYS',
      isLiquidation: isLiquidation(fill),
      bidTicks: 0,
      askTicks: 0,
    }
    this.#money = addFill(this.#money, fill)
    if (isLiquidation(fill)) this.#liquidations.add(orderId)
    this.#collector.fill(shown, this.#orders.fill(shown))
  }

  #unrealised(): number {
    const own = [...this.#collector.strategies.values()].reduce(
      (sum, { realised }) => sum + realised,
      0,
    )
    return own + this.#collector.unrealisedOf({}) - Number(this.#money.profit.toString())
  }

  #figures() {
    const { profit, fees } = this.#money
    const made = profit.minus(fees).plus(this.#funding)
    const balance = Number(this.#frame.opening) + Number(made.toString())
    const unrealised = this.#unrealised()
    let [gross, net] = [0, 0]
    for (const [symbol, holding] of this.#book.account) {
      const instrument = this.#settings.instruments.get(symbol)
      const price = this.#prices.get(symbol)
      if (instrument === undefined || price === undefined) continue
      const { lot } = instrument
      const perLot = (lot.units / lot.scale) * (isInverse(instrument) ? 1 : price)
      gross += (holding.longLots + holding.shortLots) * perLot
      net += netLots(holding) * perLot
    }
    return { balance, unrealised, equity: balance + unrealised, gross, net, marginUse: Number.NaN }
  }
}

function textOf(value: Decimal): string {
  return value.toString()
}

type Quotes = readonly PriceTable[]

/** Maximum step of the prices repeated before the first quote. */
const LEAD_STEP_MS_MAX = 100

interface QuotesRange {
  readonly fromAt: number
  readonly toAt: number
}

export function writeRecordedPrices(
  tables: ReadonlyMap<string, Quotes>,
  directory: string,
  range: QuotesRange,
): readonly string[] {
  const options = { directory, market: 'futures', isStrict: false, isReplacing: true } as const
  return [...tables].flatMap(([symbol, quotes]) =>
    [
      ...writePrices(new Map([[undefined, standStill(quotes, range)]]), { symbol, options }),
    ].flatMap(({ written }) => (written ? [`${symbol}=${written.file}`] : [])),
  )
}

/** A recording holds changes only, so quotes are extended at constant prices. */
export function standStill(quotes: Quotes, { fromAt, toAt }: QuotesRange): Quotes {
  const first = quotes[0]
  const last = quotes.at(-1)
  if (first === undefined || last === undefined) return quotes
  const [firstAt = fromAt, lastAt = toAt] = [timesOf(first)[0], timesOf(last).at(-1)]
  const stepMs = Math.max(1, Math.min(LEAD_STEP_MS_MAX, medianStep(timesOf(first))))
  const lead = Array.from(
    { length: Math.max(0, Math.ceil((firstAt - fromAt) / stepMs)) },
    (_, index) => fromAt + index * stepMs,
  )
  const shown = quotes.findLast((table) => (timesOf(table)[0] ?? 0) <= fromAt)
  return [
    ...(shown === undefined
      ? [repeatRow(first, 0, lead)]
      : [
          repeatRow(
            shown,
            timesOf(shown).findLastIndex((at) => at <= fromAt),
            [fromAt],
          ),
        ]),
    ...quotes,
    repeatRow(last, timesOf(last).length - 1, lastAt < toAt ? [toAt] : []),
  ].filter((table) => timesOf(table).length > 0)
}

/** Keeps the recorded times, so a price counts as no newer and closes candles no sooner. */
export function asRecorded(
  coverage: readonly PriceCoverage[],
  tables: ReadonlyMap<string, Quotes>,
): readonly ViewedPrices[] {
  return coverage.map(({ symbol, fromAt, toAt }) => {
    const firstAt = (tables.get(symbol) ?? [])
      .flatMap((table) => [...timesOf(table)])
      .findLast((at) => at <= fromAt)
    return { symbol, fromAt, toAt, stepMs: 0, ...(firstAt !== undefined && { firstAt }) }
  })
}

function timesOf({ columns }: PriceTable): Float64Array {
  return columns.get('at') ?? new Float64Array(0)
}

function repeatRow(table: PriceTable, row: number, times: readonly number[]): PriceTable {
  const columns = new Map(
    [...table.columns].map(([field, numbers]) => [
      field,
      field === 'at'
        ? Float64Array.from(times)
        : new Float64Array(times.length).fill(numbers[row] ?? Number.NaN),
    ]),
  )
  return { ...table, columns }
}

interface PricesRead {
  /** Exchange clock, ascending: all readings of the recorded run. */
  readonly readsAt: readonly number[]
  readonly latencyMs: number
}

/** Each reading stays between the same two price readings, so that decisions see the same. */
export function playRecordedFeeds(feeds: RecordedFeeds, prices: PricesRead): readonly PlayedFeed[] {
  return [...feeds].map(([feed, recorded]) => ({
    feed,
    heardAt: recorded.map(({ reading: { readAt }, after }) => placeBetween(readAt, after, prices)),
    reading: (index) => {
      const found = recorded[index]
      if (found === undefined) throw new RangeError(`feed ${feed} has no reading ${index}`)
      return found.reading
    },
  }))
}

function placeBetween(readAt: number, after: number, { readsAt, latencyMs }: PricesRead): number {
  const before = (readsAt[after - 1] ?? Number.NEGATIVE_INFINITY) + latencyMs + 1
  const next = (readsAt[after] ?? Number.POSITIVE_INFINITY) + latencyMs - 1
  return Math.min(Math.max(readAt, before), next)
}
