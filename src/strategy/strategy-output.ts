import { cleanLine } from '../lib/text/clean-text.ts'
import { isPlotName, PLOT_NAMES_MAX, type PlotPoint } from '../domain/plot.ts'

/**
 * For people only: it does not affect decisions. Without a listener, as in a backtest, it does
 * nothing.
 */
export interface StrategyLog {
  /**
   * One line in the daemon's log, `strategy.said`. At most 10 a decision and 100 a minute; the rest
   * is counted.
   */
  info(
    message: string,
    fields?: Readonly<Record<string, number | string | boolean | undefined>>,
  ): void
}

export interface SaidLine {
  readonly message: string
  readonly facts: Readonly<Record<string, unknown>>
}

export type Listen = (line: SaidLine) => void

const LINES_MAX = 10
const LINES_A_MINUTE_MAX = 100
const MINUTE_MS = 60_000
const LENGTH_MAX = 500
const FIELDS_MAX = 20

export const SILENT_LOG: StrategyLog = { info: () => undefined }

export class BoundedLog implements StrategyLog {
  readonly #listen: Listen
  #lines = 0
  #minuteAt = 0
  #linesOfMinute = 0
  #dropped = 0

  constructor(listen: Listen) {
    this.#listen = listen
  }

  /** Must be called before each decision. */
  begin(now: number): void {
    this.#lines = 0
    if (Math.abs(now - this.#minuteAt) < MINUTE_MS) return
    this.#minuteAt = now
    this.#linesOfMinute = 0
    if (this.#dropped > 0)
      this.#listen({ message: 'lines were left out', facts: { lines: this.#dropped } })
    this.#dropped = 0
  }

  info: StrategyLog['info'] = (message, fields = {}) => {
    if (this.#lines >= LINES_MAX || this.#linesOfMinute >= LINES_A_MINUTE_MAX) {
      this.#dropped += 1
      return
    }
    this.#lines += 1
    this.#linesOfMinute += 1
    const shown: readonly [string, unknown][] = Object.entries(fields)
      .slice(0, FIELDS_MAX)
      .map(([name, value]): [string, unknown] => [
        cleanLine(name).slice(0, LENGTH_MAX),
        toShown(value),
      ])
    const line = cleanLine(String(message)).slice(0, LENGTH_MAX)
    this.#listen({ message: line, facts: Object.fromEntries<unknown>(shown) })
  }
}

function toShown(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'boolean'
    ? value
    : cleanLine(String(value)).slice(0, LENGTH_MAX)
}

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
