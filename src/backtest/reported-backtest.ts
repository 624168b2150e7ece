import type { Announcement } from '../engine/effect.ts'
import type { DaemonConfig } from '../config/load-config.ts'
import type { Instrument } from '../domain/instrument.ts'
import type { LiquidationStep } from '../domain/liquidation.ts'
import type { LogEvent } from '../domain/log-events.ts'
import { ACCOUNT, type Restriction } from '../domain/trading-mode.ts'
import { listTraded, type EngineSettings } from '../engine/settings.ts'
import type { EndpointStatistics } from '../exchange/limiter/endpoint-queue.ts'
import { decimal, sumDecimals } from '../lib/decimal.ts'
import { buildRunReport } from '../report/build-report.ts'
import type { Step } from '../interpreter/ports.ts'
import { RunCollector } from '../report/run-collector.ts'
import type {
  LimiterUse,
  RunMoney,
  RunReport,
  TakenStep,
  WorstMoment,
} from '../report/run-report.ts'
import type { ExchangeCore } from '../simulator/futures/exchange-core.ts'
import { Backtest, type BacktestOptions, PassingJournal } from './backtest.ts'
import { showTime } from '../report/text/figures.ts'
import { showDuration } from '../lib/text/show-duration.ts'
import { UID } from './direct-exchange.ts'
import { ExchangeWatch } from './exchange-watch.ts'
import { OrderLog } from './order-log.ts'
import type { KeptRows } from './kept-rows.ts'
import { type ViewedPrices, viewOf } from './played-prices.ts'
import type { JournalRecord } from '../domain/record.ts'
import type { Book } from '../engine/book/book.ts'
import { TradeFold } from '../engine/book/trade-fold.ts'
import type { Booking } from '../journal/booking.ts'
import { type TradesReport, TradeTable } from '../report/collect/trade-table.ts'
import type { PositionReading } from '../domain/position.ts'
import type { TickerTable } from '../domain/ticker-table.ts'
import type { Engine } from '../engine/engine.ts'
import { describeScenario } from '../risk/worst-case.ts'
import { drawCurve } from '../views/move-curve.ts'
import { type AccountPicture, pictureAccount } from '../views/scenario-account.ts'
import { type ClosePurpose, closePurposeOf } from '../engine/book/bookings.ts'

export interface ReportedBacktestOptions {
  readonly config: Pick<DaemonConfig, 'account' | 'risk' | 'simulator'>
  readonly backtest: Omit<BacktestOptions, 'listener' | 'createJournal' | 'exchange'>
  readonly model: string
  readonly coverage: readonly ViewedPrices[]
  /** Strategies may come to trade these. Absent: only the instruments of the settings. */
  readonly instruments?: ReadonlyMap<string, Instrument>
  readonly keptRows?: Pick<KeptRows, 'fill' | 'contracts' | 'market'> | undefined
  readonly toAt: number
  readonly directory: string | undefined
  readonly bucketMs?: number
  readonly onStep?: (step: Step) => void
}

class FailedDecisions {
  readonly #byStrategy = new Map<string, { count: number; readonly reason: string }>()

  hear({ event, fields }: Announcement): void {
    if (event !== 'strategy.failed') return
    const strategy = String(fields['strategy'])
    const known = this.#byStrategy.get(strategy) ?? {
      count: 0,
      reason: String(fields['reason']).replaceAll(/\s*\n\s*/g, '; '),
    }
    known.count++
    this.#byStrategy.set(strategy, known)
  }

  describe(): readonly string[] {
    return [...this.#byStrategy].map(
      ([strategy, { count, reason }]) =>
        `${strategy}: ${count} decisions failed, the first with ${reason}`,
    )
  }
}

class TakenSteps {
  readonly taken: TakenStep[] = []

  hear({ event, fields }: Announcement, at: number): void {
    const step = event === 'liquidation.near' ? 'warn' : STEP_OF_CODE[String(fields['code'])]
    if (step === undefined || !STEP_EVENTS.has(event)) return
    const symbol = String(fields['symbol'] ?? fields['scope'])
    this.taken.push({ at, symbol, step, reason: String(fields['reason']) })
  }
}

const STEP_EVENTS: ReadonlySet<LogEvent> = new Set(['liquidation.near', 'limits.reached'])
const STEP_OF_CODE: Readonly<Partial<Record<string, LiquidationStep>>> = {
  liquidationNear: 'reduce',
  liquidationFlatten: 'flatten',
}

export class ReportedBacktest {
  readonly #options: ReportedBacktestOptions
  readonly #core: ExchangeCore
  readonly #backtest: Backtest
  readonly #watch: ExchangeWatch
  readonly #orders: OrderLog
  readonly #collector: RunCollector
  readonly #trades: TradeLog
  readonly #failures = new FailedDecisions()
  readonly #steps = new TakenSteps()
  readonly #moments: WorstMomentWatch

  constructor(options: ReportedBacktestOptions) {
    const { backtest, config, toAt, directory, coverage, onStep, keptRows } = options
    const { marginCoin: coin, productType } = config.account
    const { core, settings, startAt } = backtest
    this.#options = options
    this.#core = core
    const collector = new RunCollector({
      bucketMs: options.bucketMs,
      directory,
      coin,
      fromAt: startAt,
      toAt,
      instruments: options.instruments ?? settings.instruments,
      opening: Number(coinOf(core, coin).opening),
      resting: (symbol) => this.#watch.resting(symbol),
    })
    this.#collector = collector
    this.#orders = new OrderLog({
      book: () => this.#backtest.book,
      onEnded: (order) => collector.order(order),
      onDenied: (strategyId, symbol, count) => collector.denied(strategyId, symbol, count),
    })
    this.#trades = new TradeLog({ directory, book: () => this.#backtest.book })
    this.#watch = new ExchangeWatch(core, coin, {
      onPrice: (at, symbol, last) => collector.price(at, symbol, last),
      onFill: (fill) => collector.fill(fill, this.#orders.fill(fill)),
      onFunding: (payment) => collector.funding(payment),
      onFigures: (at, figures) => collector.figures(at, figures),
    })
    this.#backtest = new Backtest({
      ...backtest,
      settings: { ...settings, forgetsStates: true },
      exchange: {
        productType,
        marginCoin: coin,
        view: viewOf(coverage),
        keptRows,
        statesNumbers: true,
        onPlayed: () => this.#watch.look(),
      },
      createJournal: () => new PassingJournal((...taken) => this.#trades.take(...taken)),
      onAnnounced: (announcement) => {
        this.#failures.hear(announcement)
        this.#steps.hear(announcement, this.now)
      },
      listener: {
        recorded: (record) => this.#orders.observe(record),
        plotted: (strategyId, points) => this.#collector.plots.take(this.now, strategyId, points),
        stepped: (step) => {
          this.#moments.hear(step)
          onStep?.(step)
        },
      },
    })
    this.#moments = new WorstMomentWatch(this.#backtest.engine, settings, config)
  }

  /** Exchange clock. */
  get now(): number {
    return this.#backtest.now
  }

  /** @returns whether there is more to play @throws the error that broke the run */
  runUntil(at: number): boolean {
    const { toAt } = this.#options
    this.#backtest.runUntil(Math.min(at, toAt))
    return this.now < toAt
  }

  /** The equity that strategies saw last. The report uses the exchange's ledger instead. */
  get equity(): number | undefined {
    return this.#backtest.equity?.equity
  }

  finish(): RunReport {
    const { model, toAt, config } = this.#options
    const coin = config.account.marginCoin
    // Each call plays a part of what is due, and the last one returns true.
    while (!this.#core.advance(this.now));
    this.#watch.look()
    this.#collector.figures(this.now, this.#watch.figures())
    this.#orders.close()
    const silent = [...this.#options.backtest.strategies.keys()].filter(
      (id) => !this.#orders.strategies.has(id),
    )
    const { positions, counts } = this.#core.ledger(UID)
    const worstMoment = this.#moments.report()
    return buildRunReport(this.#collector, {
      model,
      toAt: this.now,
      isCut: this.now < toAt,
      trades: this.#trades.finish(),
      liquidations: counts.liquidations,
      liquidation: {
        nearest: [...this.#backtest.engine.nearestDistances.values()],
        steps: this.#steps.taken,
        ...(worstMoment && { worstMoment }),
      },
      tradedSymbols: listTraded(this.#options.backtest.settings),
      money: this.#readMoney(),
      marks: this.#watch.marks(),
      denials: this.#orders.denials,
      denialsByStrategy: this.#orders.denialsByStrategy,
      rejections: this.#orders.rejections,
      limiter: this.#backtest.limiter.filter(({ granted }) => granted > 0).map(toLimiterUse),
      restrictions: describeRestrictions([...this.#backtest.book.restrictions.values()], {
        fromAt: this.#options.backtest.startAt,
        toAt: this.now,
      }),
      notes: [
        ...this.#failures.describe(),
        ...this.#backtest.engine.missingCandles.map(
          (line) => `at the end it still waited for candles: ${line}`,
        ),
        ...silent.map((id) => `${id} wanted no order in all of the run`),
      ],
      openPositions: positions.map(
        ({ symbol, holdSide, size, openPriceAvg, unrealised }) =>
          `${symbol} ${holdSide} ${size} at ${shorten(openPriceAvg)}, unrealised ${shorten(unrealised)} ${coin}`,
      ),
    })
  }

  #readMoney(): RunMoney {
    const { opening, realisedProfit, fees, funding, insurance, balance } = coinOf(
      this.#core,
      this.#options.config.account.marginCoin,
    )
    const { positions } = this.#core.ledger(UID)
    const unrealised = sumDecimals(positions.map((position) => decimal(position.unrealised)))
    return {
      opening,
      realised: realisedProfit,
      unrealised: unrealised.toString(),
      fees,
      funding,
      insurance,
      final: decimal(balance).plus(unrealised).toString(),
    }
  }
}

/**
 * A backtest releases nothing, so each restriction says when and why trading of its scope ended.
 */
export function describeRestrictions(
  restrictions: readonly Restriction[],
  { fromAt, toAt }: { readonly fromAt: number; readonly toAt: number },
): readonly string[] {
  // A limit that flattens restricts twice; the other restriction names the limit.
  const isSaid = ({ scope, code }: Restriction): boolean =>
    code === 'flatten' &&
    restrictions.some((other) => other.scope === scope && other.code !== 'flatten')
  return restrictions
    .filter((restriction) => !isSaid(restriction))
    .toSorted((one, other) => one.at - other.at)
    .map(({ scope, mode, code, reason, at }) => {
      const what = scope === ACCOUNT ? 'trading' : `trading of ${scope.replace(/^strategy:/, '')}`
      const tradedMs = Math.max(0, at - fromAt)
      const share = Math.round((tradedMs / Math.max(1, toAt - fromAt)) * 100)
      const traded = `${showDuration(tradedMs)} of ${showDuration(toAt - fromAt)} (${share} %) were traded`
      return `${what} ended ${showTime(at)} UTC, ${mode} (${code}): ${reason}; ${traded}, the figures count the whole time`
    })
}

function coinOf(core: ExchangeCore, coin: string) {
  const found = core.ledger(UID).coins.find(({ marginCoin }) => marginCoin === coin)
  if (found === undefined) throw new Error(`the account has no ${coin}`)
  return found
}

function toLimiterUse(endpoint: EndpointStatistics): LimiterUse {
  const { calls, perMs, made, usedShare, windowMax, waitedMsP50, waitedMsP99, rateLimited } =
    endpoint
  return {
    endpoint: endpoint.endpoint,
    made,
    usedShare,
    windowMax,
    waitedMsP50,
    waitedMsP99,
    rateLimited,
    limit: `${calls} in ${perMs} ms`,
  }
}

/** Enough for a price of 0.00000248 and one of 101,010.5. */
const DIGITS = 8

function shorten(text: string): string {
  return decimal(text).prec(DIGITS).toString()
}

class TradeLog {
  readonly #book: () => Book
  readonly #table: TradeTable
  readonly #purposes = new Map<string, ClosePurpose>()
  /** Undefined before the first record, because the book knows no instrument until then. */
  #fold: TradeFold | undefined

  constructor(options: { readonly book: () => Book; readonly directory: string | undefined }) {
    this.#book = options.book
    this.#table = new TradeTable(options.directory)
  }

  take(record: JournalRecord, bookings: readonly Booking[]): void {
    if (record.kind === 'send')
      for (const terms of record.orders) {
        const purpose = closePurposeOf(terms)
        if (purpose !== undefined) this.#purposes.set(terms.clientOid, purpose)
      }
    const isMove = record.kind === 'adopt' || record.kind === 'assigned'
    if (bookings.length === 0 && !isMove) return
    const fold = (this.#fold ??= this.#begin())
    for (const booking of bookings) fold.add(booking)
    if (isMove) fold.add(record)
  }

  finish(): TradesReport {
    this.#fold?.finish()
    return this.#table.finish()
  }

  #begin(): TradeFold {
    return new TradeFold({
      book: this.#book(),
      purposeOf: (clientOid) => this.#purposes.get(clientOid),
      onClosed: (trade) => this.#table.add(trade),
    })
  }
}

type MomentFigure = Pick<WorstMoment, 'measure' | 'figure' | 'subject'>

/** These events come at each look and change neither figure. */
const MEASURES_NOTHING: ReadonlySet<Step['event']['kind']> = new Set([
  'pollDue',
  'decided',
  'clockSynchronised',
])

/**
 * Keeps the moment at which a move would have hurt most, judged by `risk.survives` if it is set and by the nearest liquidation otherwise.
 */
export class WorstMomentWatch {
  readonly #engine: Engine
  readonly #settings: EngineSettings
  readonly #config: Pick<DaemonConfig, 'risk' | 'simulator'>
  readonly #positions = new Map<string, PositionReading>()
  #tickers: TickerTable | undefined
  #worst: (MomentFigure & AccountPicture & { readonly at: number }) | undefined

  constructor(
    engine: Engine,
    settings: EngineSettings,
    config: Pick<DaemonConfig, 'risk' | 'simulator'>,
  ) {
    this.#engine = engine
    this.#settings = settings
    this.#config = config
  }

  hear({ at, event }: Pick<Step, 'at' | 'event'>): void {
    if (MEASURES_NOTHING.has(event.kind)) return
    if (event.kind === 'snapshotTaken') this.#tickers = event.tickers
    if (event.kind === 'positionRead') this.#positions.set(event.reading.symbol, event.reading)
    const found = this.#settings.survives ? this.#findUsed() : this.#findDistance()
    if (found !== undefined) this.#worst = { ...found, at, ...this.#picture() }
  }

  /** Undefined if nothing was held, or figures were not known. */
  report(): WorstMoment | undefined {
    if (this.#worst === undefined) return undefined
    const { measure, figure, subject, at, account, notCounted } = this.#worst
    const drawing = drawCurve(account)
    let drawn = drawing.next()
    while (!drawn.done) drawn = drawing.next()
    return {
      at,
      measure,
      figure,
      subject,
      equity: account.equity,
      held: account.instruments.flatMap(({ symbol, price, legs, orders }) =>
        legs.map(({ holdSide, size, entryPrice }) => ({
          symbol,
          holdSide,
          size,
          entryPrice,
          price,
          resting: orders.length,
        })),
      ),
      notCounted,
      curve: drawn.value,
    }
  }

  #findUsed(): MomentFigure | undefined {
    const worst = this.#engine.worstCase
    if (worst === undefined || worst.used <= (this.#worst?.figure ?? 0)) return undefined
    return { measure: 'worstCase', figure: worst.used, subject: describeScenario(worst.scenario) }
  }

  #findDistance(): MomentFigure | undefined {
    const known = this.#worst?.figure ?? Number.POSITIVE_INFINITY
    for (const { symbol, holdSide, distance } of this.#engine.nearestDistances.values())
      if (distance < known)
        return { measure: 'distance', figure: distance, subject: `${symbol} ${holdSide}` }
    return undefined
  }

  #picture(): AccountPicture {
    const { equityNow, book } = this.#engine
    const shown = {
      settings: this.#settings,
      config: this.#config,
      engine: this.#engine,
      book,
      state: 'begun',
      tickers: this.#tickers,
      positions: this.#positions,
    } as const
    return pictureAccount(shown, equityNow?.equity ?? Number.NaN)
  }
}
