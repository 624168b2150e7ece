import { renderPicture } from '../../report/page/chart-picture.ts'
import type { ChatPicture } from './chat-picture.ts'

/** Wide enough for a line, and not more than a phone shows. */
const BUCKETS_MAX = 240
const MINUTE_MS = 60_000

interface EquityPoint {
  readonly at: number
  readonly equity: number | null
}

/** Rows of `intentd profit --curve --csv`. */
function readPoints(rows: string): readonly EquityPoint[] {
  return rows.split('\n').flatMap((line) => {
    const [time = '', equity = ''] = line.split(',')
    const at = Date.parse(time)
    if (Number.isNaN(at)) return []
    return [{ at, equity: equity === '' || Number.isNaN(Number(equity)) ? null : Number(equity) }]
  })
}

/** One for each account whose equity is known. */
export function drawEquity(csv: string): readonly ChatPicture[] {
  const curves = csv.split(/^at,.*$/m).slice(1)
  return curves.flatMap((rows, index) => {
    const picture = drawCurve(readPoints(rows))
    if (picture === undefined) return []
    if (curves.length === 1) return [picture]
    return [{ ...picture, caption: `account ${index + 1} of ${curves.length}: ${picture.caption}` }]
  })
}

/** The last equity of each bucket. Undefined: none is known. */
function drawCurve(points: readonly EquityPoint[]): ChatPicture | undefined {
  const known = points.flatMap(({ equity }) => equity ?? [])
  const [first, last] = [points[0], points.at(-1)]
  const [from, to] = [known[0], known.at(-1)]
  if (!first || !last || from === undefined || to === undefined) return undefined
  const spanMs = last.at - first.at + MINUTE_MS
  const stepMs = Math.ceil(spanMs / BUCKETS_MAX / MINUTE_MS) * MINUTE_MS
  const count = Math.ceil(spanMs / stepMs)
  const values: (number | null)[] = Array.from({ length: count }, () => null)
  for (const { at, equity } of points) values[Math.floor((at - first.at) / stepMs)] = equity
  const title = `Equity since ${new Date(first.at).toISOString().slice(0, 16).replace('T', ' ')} UTC`
  return {
    svg: renderPicture({
      title,
      unit: 'money',
      startAt: first.at,
      stepMs,
      count,
      lines: [{ colour: '#2c63d6', values }],
    }),
    caption: `${to.toFixed(2)}${changeOf(from, to)}, lowest ${lowestOf(known).toFixed(2)}, highest ${highestOf(known).toFixed(2)}`,
  }
}

function changeOf(from: number, to: number): string {
  return from > 0 ? ` (${to >= from ? '+' : ''}${((to / from - 1) * 100).toFixed(2)} %)` : ''
}

function lowestOf(values: readonly number[]): number {
  return values.reduce((lowest, value) => Math.min(lowest, value), Number.POSITIVE_INFINITY)
}

function highestOf(values: readonly number[]): number {
  return values.reduce((highest, value) => Math.max(highest, value), Number.NEGATIVE_INFINITY)
}
