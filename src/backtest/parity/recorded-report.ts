import { describeRestrictions } from '../reported-backtest.ts'
import { OrderLog } from '../order-log.ts'
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
import type { SegmentFile } from '../../recording/recordings.ts'
import { openSegment } from '../../recording/segment-reader.ts'
import { buildRunReport } from '../../report/build-report.ts'
import { RunCollector } from '../../report/run-collector.ts'
import type { RunFill } from '../../report/run-facts.ts'
import type { RunReport } from '../../report/run-report.ts'

interface RecordedFrame {
  readonly fromAt: number
  readonly toAt: number
  readonly opening: string
  readonly coin: string
  readonly directory: string
}

export function reportRecorded(segments: readonly SegmentFile[], frame: RecordedFrame): RunReport {
  const { settings, book } = parseCore(openSegment(segments[0]?.file ?? '').image)
  const run = new RecordedFigures(settings, book, frame)
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

class RecordedFigures {
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
