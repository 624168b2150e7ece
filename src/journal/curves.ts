/**
 * Curves of an account and plots of its strategies are only shown: no order depends on them, and a
 * missing point is a gap.
 */

export const ACCOUNT_SERIES = 'account'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

export const MARK_SERIES = 'marks'

export const MARGIN_SERIES = 'margin'

export const CURVE_STEPS_MS = { minute: MINUTE_MS, hour: HOUR_MS } as const

export const MINUTES_KEPT_MS = 7 * DAY_MS
const ACCOUNT_KEPT_MS = 2 * 365 * DAY_MS
const PLOTS_KEPT_MS = 30 * DAY_MS
/** Statements of past years are requested late. */
const MARKS_KEPT_MS = 5 * 365 * DAY_MS
/** The exchange shows nothing that is older than 90 days. */
const MARGIN_KEPT_MS = 90 * DAY_MS

export const PLOTS_MAX = 64

export interface PlotSeries {
  readonly strategy: string
  readonly symbol: string
  readonly name: string
}

const PLOT = 'plot'

/** The words are separated by blanks, which symbols and ids do not contain. */
export function toPlotSeries({ strategy, symbol, name }: PlotSeries): string {
  return [PLOT, symbol, strategy, name].join(' ')
}

export function parsePlotSeries(series: string): PlotSeries | undefined {
  const [kind, symbol = '', strategy = '', ...words] = series.split(' ')
  return kind === PLOT ? { symbol, strategy, name: words.join(' ') } : undefined
}

export function hoursKeptMs(series: string): number {
  if (series === MARK_SERIES) return MARKS_KEPT_MS
  if (series === MARGIN_SERIES) return MARGIN_KEPT_MS
  return parsePlotSeries(series) === undefined ? ACCOUNT_KEPT_MS : PLOTS_KEPT_MS
}

export function isKeptWhole(series: string): boolean {
  return series === MARK_SERIES || series === MARGIN_SERIES
}

export interface CurvePoint {
  readonly series: string
  /** Unix ms, our clock. */
  readonly at: number
  /** Decimals separated by blanks, with `?` for one that is not known. */
  readonly value: string
}

/** Unix ms: `since` is included, `until` is not. */
export interface CurveQuery {
  readonly series: string
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly everyMs?: number | undefined
}

/** Amounts are in the margin coin, null where they were not known. */
export interface AccountPoint {
  readonly at: number
  readonly equity: string | null
  /** Over all runs. */
  readonly netWithUnrealised: string | null
  readonly peak: string | null
}

const UNKNOWN = '?'

export function toAccountValue(point: Omit<AccountPoint, 'at'>): string {
  const { equity, netWithUnrealised, peak } = point
  return [equity, netWithUnrealised, peak].map((amount) => amount ?? UNKNOWN).join(' ')
}

export function toAccountPoint({ at, value }: CurvePoint): AccountPoint {
  const [equity, net, peak] = value.split(' ').map((amount) => (amount === UNKNOWN ? null : amount))
  return { at, equity: equity ?? null, netWithUnrealised: net ?? null, peak: peak ?? null }
}

/** The parts of the equity, as decimals in the margin coin. */
export interface AccountMark {
  /** Unix ms, our clock. */
  readonly at: number
  /** `account.capital` and all deposits; null if it is not set. */
  readonly capital: string | null
  /** Realised profit less fees, with funding, of all runs. */
  readonly made: string
  readonly unrealised: string
}

export function toMarkValue({ capital, made, unrealised }: Omit<AccountMark, 'at'>): string {
  return [capital ?? UNKNOWN, made, unrealised].join(' ')
}

export function toAccountMark({ at, value }: CurvePoint): AccountMark {
  const [capital = UNKNOWN, made = '0', unrealised = '0'] = value.split(' ')
  return { at, capital: capital === UNKNOWN ? null : capital, made, unrealised }
}

export function figureOf({ value }: Pick<CurvePoint, 'value'>): number {
  return Number(value.split(' ').find((amount) => amount !== UNKNOWN) ?? Number.NaN)
}

export interface MarginSeen {
  /** Exchange clock. Everything before it has been logged. */
  readonly from: number
  readonly seen: ReadonlyMap<string, number>
}

export function toMarginSeen({ from, seen }: MarginSeen): string {
  return [from, ...[...seen].map(([key, at]) => `${key}@${at}`)].join(' ')
}

export function parseMarginSeen({ value }: Pick<CurvePoint, 'value'>): MarginSeen {
  const [from = '0', ...keys] = value.split(' ')
  const seen = keys.map((word): [string, number] => {
    const end = word.lastIndexOf('@')
    return [word.slice(0, end), Number(word.slice(end + 1))]
  })
  return { from: Number(from), seen: new Map(seen) }
}
