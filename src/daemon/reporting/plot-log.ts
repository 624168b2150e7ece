import type { PlotPoint } from '../../domain/plot.ts'
import { CURVE_STEPS_MS, PLOTS_MAX, toPlotSeries } from '../../journal/curves.ts'
import type { CurveStore } from '../../journal/journal.ts'
import type { Clock } from '../../lib/clock.ts'

export interface PlotLogOptions {
  readonly journal: Pick<CurveStore, 'notePoints'>
  readonly clock: Pick<Clock, 'now'>
}

/** A minute's last value, where it differs, in the journal. */
export class PlotLog {
  readonly #options: PlotLogOptions
  /** Keyed by series: the last value, and the kept one. */
  readonly #values = new Map<string, { value: number; kept: number | undefined }>()
  #minute = 0

  constructor(options: PlotLogOptions) {
    this.#options = options
  }

  hear(strategyId: string, points: readonly PlotPoint[]): void {
    for (const { symbol, name, value } of points) {
      const series = toPlotSeries({ strategy: strategyId, symbol, name })
      const known = this.#values.get(series)
      if (known) known.value = value
      else if (this.#values.size < PLOTS_MAX) this.#values.set(series, { value, kept: undefined })
    }
  }

  /** Called each second; notes changes once a minute. */
  look(): void {
    const { journal, clock } = this.#options
    const now = clock.now()
    const minute = now - (now % CURVE_STEPS_MS.minute)
    if (minute <= this.#minute || this.#values.size === 0) return
    this.#minute = minute
    const changed = [...this.#values].filter(([, { value, kept }]) => value !== kept)
    journal.notePoints(
      changed.map(([series, { value }]) => ({ series, at: minute, value: String(value) })),
    )
    for (const [, known] of changed) known.kept = known.value
  }
}
