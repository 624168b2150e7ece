import type { AccountStatusView } from '../../control/views.ts'
import {
  ACCOUNT_SERIES,
  CURVE_STEPS_MS,
  toAccountPoint,
  toAccountValue,
  type AccountMark,
  MARK_SERIES,
  toAccountMark,
  toMarkValue,
  type PlotSeries,
  PLOTS_MAX,
  toPlotSeries,
} from '../../journal/curves.ts'
import type { CurveStore } from '../../journal/journal.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/failure.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import type { DaemonConfig } from '../../config/load-config.ts'
import { isOtherCapital } from '../../assembly/settings/changed-capital.ts'
import { capitalOf } from '../../engine/book/book.ts'
import { startOfDay } from '../../lib/start-of-day.ts'
import { viewProfit } from '../../views/money-view.ts'
import type { ShownAccount } from '../../views/shown-account.ts'
import type { StrategyId } from '../../domain/ids.ts'
import type { PlotPoint } from '../../domain/plot.ts'
import type { EngineSettings } from '../../engine/settings.ts'

const DAY_MS = 86_400_000
const WEEK_MS = 7 * DAY_MS

export interface AccountCurveOptions {
  readonly journal: CurveStore
  /** Undefined before the run has begun and after its end. */
  readonly read: () => Pick<AccountStatusView, 'profit' | 'equity' | 'peak'> | undefined
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Pick<DaemonLogger, 'log'>
}

interface KnownEquity {
  readonly at: number
  readonly equity: string
}

/**
 * Notes equity, net profit and peak in the journal once a minute, and keeps the last week's equity
 * by hour in memory.
 */
export class AccountCurve {
  readonly #options: AccountCurveOptions
  #week: KnownEquity[] = []
  #minute = 0

  constructor(options: AccountCurveOptions) {
    const { journal, clock, logger } = options
    this.#options = options
    try {
      const since = clock.now() - WEEK_MS - CURVE_STEPS_MS.hour
      const everyMs = CURVE_STEPS_MS.hour
      for (const point of journal.curve({ series: ACCOUNT_SERIES, since, everyMs }))
        this.#note(toAccountPoint(point))
    } catch (error) {
      logger.log('warn', 'curve.unread', { reason: messageOf(error) })
    }
  }

  look(): void {
    if (this.#thisMinute() > this.#minute) this.noteLast()
  }

  /** Replaces the point of this minute. The next start judges another capital by it. */
  noteLast(): void {
    const { read, journal } = this.#options
    const minute = this.#thisMinute()
    const found = read()
    if (found === undefined) return
    const { equity, peak, profit } = found
    const { netWithUnrealised } = profit.total
    if (equity === null && netWithUnrealised === null) return
    this.#minute = minute
    const value = toAccountValue({ equity, netWithUnrealised, peak })
    journal.notePoints([{ series: ACCOUNT_SERIES, at: minute, value }])
    this.#note({ at: minute, equity })
  }

  #thisMinute(): number {
    const now = this.#options.clock.now()
    return now - (now % CURVE_STEPS_MS.minute)
  }

  /** Equity a day and a week ago; null: not known. */
  before(): AccountStatusView['equityBefore'] {
    const now = this.#options.clock.now()
    return { day: this.#equityAt(now - DAY_MS), week: this.#equityAt(now - WEEK_MS) }
  }

  #note({ at, equity }: { readonly at: number; readonly equity: string | null }): void {
    if (equity === null) return
    const last = this.#week.at(-1)
    const hour = at - (at % CURVE_STEPS_MS.hour)
    if (last !== undefined && last.at >= hour) return
    this.#week.push({ at, equity })
    const since = at - WEEK_MS - CURVE_STEPS_MS.hour
    if (this.#week[0] && this.#week[0].at < since)
      this.#week = this.#week.filter((one) => one.at >= since)
  }

  #equityAt(at: number): string | null {
    const found = this.#week.findLast((one) => one.at <= at)
    return found && found.at > at - CURVE_STEPS_MS.hour ? found.equity : null
  }
}

const { hour: HOUR_MS } = CURVE_STEPS_MS

export interface AccountMarksOptions {
  readonly config: Pick<DaemonConfig, 'calendar'>
  readonly journal: CurveStore
  readonly trusted: { readonly clock: Pick<Clock, 'now'> }
  readonly shown: () => ShownAccount
  readonly logger: Pick<DaemonLogger, 'log'>
}

/**
 * Notes what the account is worth when an hour, or a day of its time zone, begins: statements begin
 * and end there. After a standstill it is noted as soon as it is known again.
 */
export class AccountMarks {
  readonly #options: AccountMarksOptions
  #dueAt = 0
  /** The last mark of an earlier run, until it is known whether the capital is the same. */
  #before: AccountMark | undefined

  constructor(options: AccountMarksOptions) {
    const { journal, trusted, logger } = options
    this.#options = options
    try {
      const since = trusted.clock.now() - 2 * HOUR_MS
      const [last] = [...journal.curve({ series: MARK_SERIES, since })].slice(-1)
      if (last === undefined) return
      this.#before = toAccountMark(last)
      this.#dueAt = this.#nextAfter(last.at)
    } catch (error) {
      logger.log('warn', 'curve.unread', { reason: messageOf(error) })
    }
  }

  look(): void {
    const { trusted, journal } = this.#options
    const now = trusted.clock.now()
    if (now < this.#dueAt && this.#before === undefined) return
    const shown = this.#options.shown()
    // Noted at once, because the next start compares its capital with the last mark.
    if (this.#before && isOtherCapital(shown, this.#before)) this.#dueAt = 0
    this.#before = undefined
    if (now < this.#dueAt) return
    // All fills before the hour must be known.
    if (shown.state !== 'begun' || shown.engine.fillsAskedAt < this.#dueAt) return
    const { net, unrealised } = viewProfit(shown).total
    if (shown.engine.fillsAskedAt === 0 || unrealised === null) return
    this.#dueAt = this.#nextAfter(now)
    const capital = capitalOf(shown)?.toString() ?? null
    const value = toMarkValue({ capital, made: net, unrealised })
    journal.notePoints([{ series: MARK_SERIES, at: Math.round(now), value }])
  }

  #nextAfter(at: number): number {
    const hour = at - (at % HOUR_MS) + HOUR_MS
    const day = startOfDay(hour - 1, this.#options.config.calendar.timezone)
    return day > at ? day : hour
  }
}

export interface PlotLogOptions {
  readonly journal: Pick<CurveStore, 'notePoints'>
  readonly clock: Pick<Clock, 'now'>
  readonly settings: Pick<EngineSettings, 'strategies'>
  readonly logger: Pick<DaemonLogger, 'log'>
}

interface LoggedPlot {
  readonly named: PlotSeries
  value: number
  kept: number | undefined
}

/** Notes the last value of each minute in the journal if it has changed. */
export class PlotLog {
  readonly #options: PlotLogOptions
  readonly #plots = new Map<string, LoggedPlot>()
  #minute = 0
  /** True while plots are left out for lack of room, which is logged once. */
  #isFull = false

  constructor(options: PlotLogOptions) {
    this.#options = options
  }

  hear(strategyId: string, points: readonly PlotPoint[]): void {
    for (const { symbol, name, value } of points) {
      const named = { strategy: strategyId, symbol, name }
      const series = toPlotSeries(named)
      const known = this.#plots.get(series)
      if (known) known.value = value
      else if (this.#plots.size < PLOTS_MAX)
        this.#plots.set(series, { named, value, kept: undefined })
      else this.#sayFull(named)
    }
  }

  look(): void {
    const { journal, clock } = this.#options
    const now = clock.now()
    const minute = now - (now % CURVE_STEPS_MS.minute)
    if (minute <= this.#minute || this.#plots.size === 0) return
    this.#minute = minute
    const changed = [...this.#plots].filter(([, { value, kept }]) => value !== kept)
    const points = changed.map(([series, { value }]) => ({
      series,
      at: minute,
      value: String(value),
    }))
    journal.notePoints(points, this.#endLeft())
    for (const [, known] of changed) known.kept = known.value
  }

  #endLeft(): readonly string[] {
    const { settings, logger } = this.#options
    const over: string[] = []
    const ended = new Map<string, PlotSeries>()
    for (const [series, { named }] of this.#plots) {
      const { strategy, symbol } = named
      if (settings.strategies.get(strategy as StrategyId)?.symbols.includes(symbol)) continue
      this.#plots.delete(series)
      over.push(series)
      ended.set(`${strategy} ${symbol}`, named)
    }
    if (over.length > 0) this.#isFull = false
    for (const { strategy, symbol } of ended.values())
      logger.log('info', 'plots.ended', { strategy, symbol })
    return over
  }

  #sayFull(named: PlotSeries): void {
    if (this.#isFull) return
    this.#isFull = true
    this.#options.logger.log('warn', 'plots.full', { ...named, limit: PLOTS_MAX })
  }
}
