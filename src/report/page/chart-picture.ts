import { type ChartOptions, isNumber, scaleOf, showTick, ticksOf, timeTicks } from './chart.ts'
import { escapeHtml } from './html.ts'

const WIDTH = 1000
const HEIGHT = 560
/** A phone shows the picture at a third of its width. */
const PLOT = { left: 20, right: 840, top: 70, bottom: 500 }
const MARGIN = 0.05
/** A share of the width; nearer to the edge a centred label would be cut. */
const EDGE = 0.05
const COLOURS = { paper: '#ffffff', ink: '#1c2330', faint: '#66707f', grid: '#dfe3e8' }

export interface PictureLine {
  readonly colour: string
  readonly values: readonly (number | null)[]
}

export interface PictureMark {
  readonly at: number
  readonly value: number
  readonly colour: string
  readonly pointsUp: boolean
}

export interface PictureLevel {
  readonly value: number
  readonly colour: string
  readonly text: string
  readonly isAtRight?: boolean
  readonly isBelow?: boolean
}

export interface PictureOptions extends Pick<
  ChartOptions,
  'title' | 'startAt' | 'stepMs' | 'count' | 'unit'
> {
  readonly lines: readonly PictureLine[]
  readonly marks?: readonly PictureMark[]
  readonly levels?: readonly PictureLevel[]
}

/** Half the width of a mark, which a rim sets off from the line. */
const MARK = 13
const RIM = 3
const HALO = 8

/** A picture, because chats take no pages. */
export function renderPicture(options: PictureOptions): string {
  const { title, lines, count, unit, startAt, stepMs, marks = [], levels = [] } = options
  const beside = [...marks, ...levels].map(({ value }) => value)
  const drawn = [...lines.map(({ values }) => values), beside]
  const scale = scaleOf(drawn.map((values) => ({ values, kind: 'line' })))
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
  const edges = levels.map(({ value, colour, text, isAtRight = false, isBelow = false }) => {
    const [x, anchor] = isAtRight ? [PLOT.right, 'end'] : [PLOT.left, 'start']
    return (
      `<path d="M${PLOT.left} ${yOf(value)}H${PLOT.right}" stroke="${colour}" stroke-width="2" stroke-dasharray="10 8"/>` +
      `<text x="${x}" y="${yOf(value)}" dy="${isBelow ? 30 : -8}" fill="${colour}" stroke="${COLOURS.paper}" stroke-width="${HALO}" paint-order="stroke" text-anchor="${anchor}">${escapeHtml(text)}</text>`
    )
  })
  const points = marks.map(({ at, value, colour, pointsUp }) => {
    const x = Number(xOf((at - startAt) / (stepMs * count)))
    const y = Number(yOf(value))
    const base = y + (pointsUp ? 2 : -2) * MARK
    return `<path d="M${x} ${y}L${x - MARK} ${base}H${x + MARK}Z" fill="${colour}" stroke="${COLOURS.paper}" stroke-width="${RIM}" paint-order="stroke"/>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" font-family="DejaVu Sans" font-size="28"><rect width="100%" height="100%" fill="${COLOURS.paper}"/><text x="${PLOT.left}" y="42" font-size="30" fill="${COLOURS.ink}">${escapeHtml(title)}</text>${[...rows, ...times, ...curves, ...edges, ...points].join('')}</svg>`
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
      if (!isNumber(value)) return ''
      const isAlone = command === 'M' && !isNumber(values[bucket + 1])
      return `${command}${place.xOf(bucket)} ${place.yOf(value)}${isAlone ? 'h0' : ''}`
    })
    .join('')
}
