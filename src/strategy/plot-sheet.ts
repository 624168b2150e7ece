import { isPlotName, PLOT_NAMES_MAX, type PlotPoint } from '../domain/plot.ts'

export class PlotSheet {
  readonly #values = new Map<string, Map<string, number>>()
  #changed: PlotPoint[] = []

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
