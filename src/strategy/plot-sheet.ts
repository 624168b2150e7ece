import { isPlotName, PLOT_NAMES_MAX, type PlotPoint } from '../domain/plot.ts'

/** Collects the values that a strategy plots in a decision: those that have changed. */
export class PlotSheet {
  /** Keyed by symbol, then by name: the last value. */
  readonly #values = new Map<string, Map<string, number>>()
  #changed: PlotPoint[] = []

  /** A value that is no number draws nothing. */
  add(symbol: string, name: unknown, value: unknown): void {
    if (!isPlotName(name) || typeof value !== 'number' || !Number.isFinite(value)) return
    const values = this.#values.get(symbol) ?? new Map<string, number>()
    this.#values.set(symbol, values)
    if (values.get(name) === value || (values.size >= PLOT_NAMES_MAX && !values.has(name))) return
    values.set(name, value)
    this.#changed = this.#changed.filter((one) => one.symbol !== symbol || one.name !== name)
    this.#changed.push({ symbol, name, value })
  }

  /** Everything that has changed since the last call. */
  take(): { readonly plots?: readonly PlotPoint[] } {
    if (this.#changed.length === 0) return {}
    const plots = this.#changed
    this.#changed = []
    return { plots }
  }
}
