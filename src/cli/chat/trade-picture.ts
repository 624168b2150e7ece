import { renderPicture } from '../../report/page/chart-picture.ts'
import type { TradeCourse } from '../../views/trade-course.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'
import { money } from '../process/table.ts'
import type { ChatPicture } from './chat-picture.ts'

const BUCKETS = 240
const COLOURS = { price: '#66707f', entry: '#2c63d6', exit: '#b4372f', stop: '#c07a10' }
/** A picture of a grid's trade with more marks would show none of them. */
const MARKS_MAX = 200
const SECOND_MS = 1000

/** One for each account that printed a trade. Without prices of that time its fills are the line. */
export function drawTrade(output: string): readonly ChatPicture[] {
  return output.split(/\n(?=[[{n])/).flatMap((text) => {
    const course = parseBoundedJson(text) as TradeCourse | null
    return course === null ? [] : [drawCourse(course)]
  })
}

function drawCourse({ trade, fills, stops, prices }: TradeCourse): ChatPicture {
  const { symbol, side, openedAt, closedAt, strategyId } = trade
  const line = prices.length > 0 ? prices : fills
  const first = Math.min(openedAt, line[0]?.at ?? openedAt)
  const last = Math.max(closedAt, line.at(-1)?.at ?? closedAt)
  const stepMs = Math.max(
    SECOND_MS,
    Math.ceil((last - first + 1) / BUCKETS / SECOND_MS) * SECOND_MS,
  )
  const count = Math.ceil((last - first + 1) / stepMs)
  const isLong = side === 'long'
  return {
    svg: renderPicture({
      title: `${symbol} ${side}, ${strategyId}: ${toMinute(openedAt)} to ${toMinute(closedAt)} UTC`,
      unit: 'price',
      startAt: first,
      stepMs,
      count,
      lines: [{ colour: COLOURS.price, values: toBuckets(line, { first, stepMs, count }) }],
      levels: stops.map((value) => ({ value, colour: COLOURS.stop, text: 'stop' })),
      marks: fills.slice(0, MARKS_MAX).map(({ at, price, isEntry }) => ({
        at,
        value: price,
        colour: isEntry ? COLOURS.entry : COLOURS.exit,
        pointsUp: isEntry === isLong,
      })),
    }),
    caption: captionOf({ trade, prices }),
  }
}

function captionOf({ trade, prices }: Pick<TradeCourse, 'trade' | 'prices'>): string {
  const { entryPrice, exitPrice, net, coin, share, reason, fills } = trade
  const part = share === null ? '' : ` (${(share * 100).toFixed(2)} %)`
  const result = `${money(net, coin)} ${coin}${part}, ${reason}`
  const way = `from ${entryPrice ?? '?'} (blue) to ${exitPrice ?? '?'} (red), ${fills} fills`
  const known =
    prices.length > 0 ? '' : '; no prices of that time are kept, the line joins its fills'
  return `${result}: ${way}${known}`
}

interface Buckets {
  readonly first: number
  readonly stepMs: number
  readonly count: number
}

/** The last price of each stretch; between candles that lie further apart the line goes on. */
function toBuckets(
  points: readonly { readonly at: number; readonly price: number }[],
  { first, stepMs, count }: Buckets,
): readonly (number | null)[] {
  const values: (number | null)[] = Array.from({ length: count }, () => null)
  for (const { at, price } of points) values[Math.floor((at - first) / stepMs)] = price
  const known = values.flatMap((value, bucket) => (value === null ? [] : [bucket]))
  for (const [index, bucket] of known.entries()) {
    const next = known[index + 1]
    const [from, to] = [values[bucket] ?? null, next === undefined ? null : (values[next] ?? null)]
    if (next === undefined || from === null || to === null) continue
    for (let one = bucket + 1; one < next; one++)
      values[one] = from + ((to - from) * (one - bucket)) / (next - bucket)
  }
  return values
}

function toMinute(at: number): string {
  return new Date(at).toISOString().slice(5, 16).replace('T', ' ')
}
