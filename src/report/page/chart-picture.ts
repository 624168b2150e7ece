import { type ChartOptions, isNumber, scaleOf, showTick, ticksOf, timeTicks } from './chart.ts'
import { escapeHtml } from './html.ts'

const WIDTH = 1000
const HEIGHT = 560
const PLOT = { left: 20, right: 880, top: 70, bottom: 500 }
const MARGIN = 0.05
const EDGE = 0.05
/** The light colours of the report's page. */
const COLOURS = { paper: '#ffffff', ink: '#1c2330', faint: '#66707f', grid: '#dfe3e8' }

export interface PictureLine {
  readonly colour: string
  readonly values: readonly (number | null)[]
}

export interface PictureOptions extends Pick<
  ChartOptions,
  'title' | 'startAt' | 'stepMs' | 'count' | 'unit'
> {
  readonly lines: readonly PictureLine[]
}

/** For places that take pictures and no pages. */
export function renderPicture(options: PictureOptions): string {
  const { title, lines, count, unit } = options
  const scale = scaleOf(lines.map(({ values }) => ({ values, kind: 'line' })))
  const ticks = ticksOf(scale)
  const yOf = (value: number): string => {
    const share = (value - scale.low) / (scale.high - scale.low)
    const height = PLOT.bottom - PLOT.top
    return (PLOT.bottom - height * (MARGIN + share * (1 - 2 * MARGIN))).toFixed(1)
  }
  const xOf = (share: number): string => (PLOT.left + share * (PLOT.right - PLOT.left)).toFixed(1)
  const rows = ticks.map(
    (tick) =>
      `<path d="M${PLOT.left} ${yOf(tick)}H${PLOT.right}" stroke="${COLOURS.grid}"/>` +
      `<text x="${PLOT.right + 10}" y="${yOf(tick)}" dy="6" fill="${COLOURS.faint}">${escapeHtml(showTick(tick, { unit, ticks }))}</text>`,
  )
  const times = timeTicks(options).map(({ share, text }) => {
    const anchor = share < EDGE ? 'start' : 'middle'
    return `<text x="${xOf(share)}" y="${PLOT.bottom + 34}" fill="${COLOURS.faint}" text-anchor="${anchor}">${text}</text>`
  })
  const curves = lines.map(
    ({ colour, values }) =>
      `<path d="${pathOf(values, { xOf: (bucket) => xOf((bucket + 0.5) / count), yOf })}" fill="none" stroke="${colour}" stroke-width="3" stroke-linejoin="round" stroke-linecap="round"/>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" font-family="DejaVu Sans" font-size="18"><rect width="100%" height="100%" fill="${COLOURS.paper}"/><text x="${PLOT.left}" y="40" font-size="24" fill="${COLOURS.ink}">${escapeHtml(title)}</text>${[...rows, ...times, ...curves].join('')}</svg>`
}

function pathOf(
  values: readonly (number | null)[],
  place: { readonly xOf: (bucket: number) => string; readonly yOf: (value: number) => string },
): string {
  let isDrawing = false
  return values
    .map((value, bucket) => {
      const command = isDrawing ? 'L' : 'M'
      isDrawing = isNumber(value)
      // One point by itself is a dot.
      if (!isNumber(value)) return ''
      const isAlone = command === 'M' && !isNumber(values[bucket + 1])
      return `${command}${place.xOf(bucket)} ${place.yOf(value)}${isAlone ? 'h0' : ''}`
    })
    .join('')
}
