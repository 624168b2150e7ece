import { escapeHtml } from './html.ts'

export interface ChartSeries {
  readonly name: string
  /** A custom property of the page's style: `--blue`. */
  readonly colour: string
  readonly kind: 'line' | 'area' | 'band' | 'dots'
  readonly values: readonly (number | null)[]
  readonly upper?: readonly (number | null)[]
  /** The page's script shows values under the pointer from this path in the report. */
  readonly path?: string
}

export interface ChartOptions {
  readonly title: string
  readonly startAt: number
  readonly stepMs: number
  readonly count: number
  readonly series: readonly ChartSeries[]
  readonly heightPx: number
  readonly unit: 'money' | 'price' | 'share' | 'number'
  /** Charts of a group show one moment under the pointer. */
  readonly group: string
}

const WIDTH = 1000
const HEIGHT = 100
/** A share of the height. */
const MARGIN = 0.05
const Y_TICKS = 4
const X_TICKS = 7
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const X_STEPS_MS = [
  60_000,
  300_000,
  900_000,
  1_800_000,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
  DAY_MS,
  2 * DAY_MS,
  4 * DAY_MS,
  7 * DAY_MS,
  14 * DAY_MS,
  730 * HOUR_MS,
  1460 * HOUR_MS,
  2920 * HOUR_MS,
  365 * DAY_MS,
]

export interface Scale {
  readonly low: number
  readonly high: number
}

/** It is stretched to the page's width; labels beside it are text, which keeps its size. */
export function renderChart(options: ChartOptions): string {
  const { title, series, heightPx, unit, group, startAt, stepMs, count } = options
  const scale = scaleOf(series)
  const ticks = ticksOf(scale)
  const shapes = series.map((one) => drawSeries(one, scale, count)).join('')
  const lines = ticks
    .map((tick) => `<line x1="0" x2="${WIDTH}" y1="${y(tick, scale)}" y2="${y(tick, scale)}"/>`)
    .join('')
  const labels = ticks
    .map(
      (tick) =>
        `<span class="y" style="top:${y(tick, scale)}%">${escapeHtml(showTick(tick, { unit, ticks }))}</span>`,
    )
    .join('')
  const legend = series
    .map(({ name, colour, path = '', kind }) => {
      const read = path === '' ? '' : ` data-path="${escapeHtml(path)}"`
      return `<span class="key"${read}><i class="${kind}" style="--c:var(${colour})"></i>${escapeHtml(name)}<b></b></span>`
    })
    .join('')
  return `<figure class="chart" data-group="${group}" data-start="${startAt}" data-step="${stepMs}" data-count="${count}" data-unit="${unit}">
<figcaption><strong>${escapeHtml(title)}</strong><time></time>${legend}</figcaption>
<div class="frame"><div class="plot" style="height:${heightPx}px"><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${escapeHtml(title)}"><g class="grid">${lines}</g>${shapes}</svg><div class="cursor"></div></div>${labels}</div>
<div class="xs">${timeLabels(options)}</div></figure>`
}

export function isNumber(value: number | null | undefined): value is number {
  return value !== null && value !== undefined && Number.isFinite(value)
}

export function scaleOf(series: readonly Pick<ChartSeries, 'values' | 'upper' | 'kind'>[]): Scale {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const { values, upper = [], kind } of series) {
    for (const value of [...values, ...upper]) {
      if (!isNumber(value)) continue
      low = Math.min(low, value)
      high = Math.max(high, value)
    }
    if (kind === 'area') [low, high] = [Math.min(low, 0), Math.max(high, 0)]
  }
  if (low > high) return { low: 0, high: 1 }
  if (low === high)
    return { low: low - Math.abs(low || 1) * 0.01, high: high + Math.abs(high || 1) * 0.01 }
  return { low, high }
}

/** From the top, in per cent of the height. */
export function y(value: number, { low, high }: Scale): number {
  const share = (value - low) / (high - low)
  return Number((HEIGHT * (1 - MARGIN - share * (1 - 2 * MARGIN))).toFixed(2))
}

function x(bucket: number, count: number): number {
  return Number((((bucket + 0.5) / count) * WIDTH).toFixed(1))
}

function drawSeries(
  { kind, colour, values, upper }: ChartSeries,
  scale: Scale,
  count: number,
): string {
  const style = `style="--c:var(${colour})"`
  switch (kind) {
    case 'line':
      return `<path class="line" ${style} d="${linePath(values, scale, count)}"/>`
    case 'dots':
      return `<path class="dots" ${style} d="${values.map((value, bucket) => (isNumber(value) ? `M${x(bucket, count)} ${y(value, scale)}h0` : '')).join('')}"/>`
    case 'area':
      return `<path class="area" ${style} d="${bandPath(
        values,
        values.map(() => 0),
        { scale, count },
      )}"/><path class="line" ${style} d="${linePath(values, scale, count)}"/>`
    case 'band':
      return `<path class="band" ${style} d="${bandPath(values, upper ?? values, { scale, count })}"/>`
  }
}

function linePath(values: readonly (number | null)[], scale: Scale, count: number): string {
  let isDrawing = false
  return values
    .map((value, bucket) => {
      if (!isNumber(value)) {
        isDrawing = false
        return ''
      }
      const command = isDrawing ? 'L' : 'M'
      isDrawing = true
      return `${command}${x(bucket, count)} ${y(value, scale)}`
    })
    .join('')
}

function bandPath(
  lower: readonly (number | null)[],
  upper: readonly (number | null)[],
  { scale, count }: { readonly scale: Scale; readonly count: number },
): string {
  const known = lower.flatMap((value, bucket) =>
    isNumber(value) && isNumber(upper[bucket]) ? [bucket] : [],
  )
  if (known.length === 0) return ''
  const point = (values: readonly (number | null)[]) => (bucket: number) =>
    `${x(bucket, count)} ${y(values[bucket] as number, scale)}`
  return `M${known.map(point(lower)).join('L')}L${known.toReversed().map(point(upper)).join('L')}Z`
}

export function ticksOf({ low, high }: Scale): readonly number[] {
  const raw = (high - low) / Y_TICKS
  const power = 10 ** Math.floor(Math.log10(raw))
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= raw) ?? 10) * power
  const first = Math.ceil(low / step)
  return Array.from(
    { length: Math.floor(high / step) - first + 1 },
    (_, index) => (first + index) * step,
  )
}

const DECIMALS_MAX = 12

export function showTick(
  value: number,
  { unit, ticks }: { readonly unit: ChartOptions['unit']; readonly ticks: readonly number[] },
): string {
  const step = Math.abs((ticks[1] ?? value) - (ticks[0] ?? 0)) * (unit === 'share' ? 100 : 1) || 1
  const decimals = Math.max(0, Math.min(DECIMALS_MAX, Math.ceil(-Math.log10(step) + 0.4)))
  if (unit === 'share') return `${(value * 100).toFixed(decimals)} %`
  return value.toFixed(decimals).replace(/\B(?=(?:\d{3})+(?!\d))/, ',')
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

interface TimeTick {
  readonly share: number
  readonly text: string
}

export function timeTicks({
  startAt,
  stepMs,
  count,
}: Pick<ChartOptions, 'startAt' | 'stepMs' | 'count'>): readonly TimeTick[] {
  const spanMs = stepMs * count
  const step = X_STEPS_MS.find((candidate) => spanMs / candidate <= X_TICKS) ?? spanMs
  const ticks: TimeTick[] = []
  for (let at = Math.ceil(startAt / step) * step; at < startAt + spanMs; at += step) {
    const date = new Date(at)
    const day = `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`
    const text =
      step >= DAY_MS
        ? day
        : `${at % DAY_MS === 0 ? `${day} ` : ''}${date.toISOString().slice(11, 16)}`
    ticks.push({ share: (at - startAt) / spanMs, text })
  }
  return ticks
}

function timeLabels(options: ChartOptions): string {
  return timeTicks(options)
    .map(({ share, text }) => `<span style="left:${(share * 100).toFixed(2)}%">${text}</span>`)
    .join('')
}
