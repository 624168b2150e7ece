import type { StrategyId } from '../../domain/ids.ts'
import type { PlotPoint } from '../../domain/plot.ts'
import type { EngineSettings } from '../../engine/settings.ts'
import { CURVE_STEPS_MS, type PlotSeries, PLOTS_MAX, toPlotSeries } from '../../journal/curves.ts'
import type { CurveStore } from '../../journal/journal.ts'
import type { Clock } from '../../lib/clock.ts'
import type { DaemonLogger } from '../../logging/logger.ts'

export interface PlotLogOptions {
  readonly journal: Pick<CurveStore, 'notePoints'>
  readonly clock: Pick<Clock, 'now'>
  /** As they are now: instruments of universes come and go. */
  readonly settings: Pick<EngineSettings, 'strategies'>
  readonly logger: Pick<DaemonLogger, 'log'>
}

interface LoggedPlot {
  readonly named: PlotSeries
  value: number
  kept: number | undefined
}

/** A minute's last value, where it differs, in the journal. */
export class PlotLog {
  readonly #options: PlotLogOptions
  /** Keyed by series. */
  readonly #plots = new Map<string, LoggedPlot>()
  #minute = 0
  /** One was left out: logged once, until there is room again. */
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

  /** Called each second; notes changes once a minute. */
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

  /** Plots of instruments that have left their strategy end, and make room. */
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
