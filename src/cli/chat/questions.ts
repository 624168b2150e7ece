import type { z } from 'zod'
import type { storySchema } from '../../control/detail-views.ts'
import type { OfferedVerb } from '../../control/powers.ts'
import type { OrderView, PositionView, StatusView } from '../../control/views.ts'
import { showCount } from '../../lib/text/show-count.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'
import { describeJournalPlace } from '../../domain/journal-place.ts'
import { type PictureLevel, renderPicture } from '../../report/page/chart-picture.ts'
import type { TradeCourse } from '../../views/trade-course.ts'
import { completeAnswer, describeOlder } from '../operator/older-answer.ts'
import { readShare } from '../process/read-share.ts'
import { money } from '../process/table.ts'
import type { ChatPicture } from './chat-picture.ts'
import {
  describeStatus,
  describePositions,
  describeOrders,
  type ProfitRow,
  describeProfit,
  type TradeRow,
  describeTrades,
  describeStories,
} from './phone-text.ts'

interface ChatCommand {
  readonly name: string
  /** Its power is that of the chat command. */
  readonly verb: OfferedVerb
  readonly help: string
}

export interface ChatQuestion extends ChatCommand {
  /** @returns arguments of the verb; undefined if the words are not understood */
  words(given: readonly string[]): readonly string[] | undefined
  describe(json: unknown): string
  draw?(output: string): readonly ChatPicture[]
}

/** Must not look like an option. */
const NAME = /^[A-Za-z0-9*][A-Za-z0-9*_:.#-]{0,99}$/
const NUMBER = /^[1-9]\d{0,2}$/
const SPAN = /^[1-9]\d{0,2}[hd]$/
const GROUPS = ['day', 'week', 'month', 'strategy', 'instrument']
const TRADES_SHOWN = 10
const MOMENTS_SHOWN = 8

/** The daemon that answered may be older than the chat. */
function describeStatusOfAny(json: unknown): string {
  const { value, absent } = completeAnswer('/v1/status', json)
  const status = value as StatusView
  const older = describeOlder(absent, status.version)
  return [describeStatus(status), ...(older === undefined ? [] : [older])].join('\n')
}

export const CHAT_QUESTIONS: readonly ChatQuestion[] = [
  {
    name: 'status',
    verb: 'status',
    help: 'mode, equity, profit, what is in the way',
    words: () => ['--json'],
    describe: (json) => describeStatusOfAny(json),
  },
  {
    name: 'positions',
    verb: 'positions',
    help: 'what is held, and how near a liquidation is',
    words: () => ['--json'],
    describe: (json) => describePositions(json as readonly PositionView[]),
  },
  {
    name: 'orders',
    verb: 'orders',
    help: 'open orders: /orders or /orders BTCUSDT',
    words: ([symbol]) => {
      if (symbol === undefined) return ['--json']
      return NAME.test(symbol) ? ['--json', `--symbol=${symbol}`] : undefined
    },
    describe: (json) => describeOrders(json as readonly OrderView[]),
  },
  {
    name: 'profit',
    verb: 'profit',
    help: 'by day of the last week: /profit, or /profit strategy, week, month, instrument',
    words: ([by = 'day']) =>
      GROUPS.includes(by)
        ? ['--json', `--by=${by}`, ...(by === 'day' ? ['--since=7d'] : [])]
        : undefined,
    describe: (json) => describeProfit(json as readonly ProfitRow[]),
  },
  {
    name: 'curve',
    verb: 'profit',
    help: 'equity of the last week as a picture: /curve, or /curve 24h, 30d',
    words: ([since = '7d']) =>
      SPAN.test(since) ? ['--curve', '--csv', `--since=${since}`] : undefined,
    describe: () => 'no equity is known yet: a daemon keeps a point each minute',
    draw: drawEquity,
  },
  {
    name: 'trades',
    verb: 'trades',
    help: 'the last closed trades',
    words: () => ['--json', `--limit=${TRADES_SHOWN}`],
    describe: (json) => describeTrades(json as readonly TradeRow[]),
  },
  {
    name: 'trade',
    verb: 'trades',
    help: 'the last closed trade as a picture: /trade, or /trade 3, the third last',
    words: ([number = '1']) => (NUMBER.test(number) ? ['--json', `--course=${number}`] : undefined),
    describe: () => 'fewer trades were closed',
    draw: drawTrade,
  },
  {
    name: 'why',
    verb: 'explain',
    help: 'what became of an order or an instrument: /why BTCUSDT',
    words: ([subject]) =>
      subject !== undefined && NAME.test(subject)
        ? [subject, '--json', `--limit=${MOMENTS_SHOWN}`]
        : undefined,
    describe: (json) => describeStories(json as readonly z.infer<typeof storySchema>[]),
  },
]

export interface ChatOrder extends ChatCommand {
  /** @returns undefined if the words are not understood */
  read(given: readonly string[]): AskedOrder | RefusedWords | undefined
}

interface RefusedWords {
  readonly objection: string
}

export interface AskedOrder {
  /** Arguments of the verb, without the reason. */
  readonly words: readonly string[]
  /** Completes "Really …?". */
  readonly what: string
  readonly scope?: string
}

interface ScopeRow extends ChatCommand {
  readonly words?: readonly string[]
  readonly what: (scope: string) => string
}

function scopeOrder({ name, verb, help, words = [], what }: ScopeRow): ChatOrder {
  const read: ChatOrder['read'] = ([scope]) => {
    if (scope === undefined || !NAME.test(scope)) return undefined
    const named = scope === '*' ? 'the whole account' : scope
    return { words: [scope, ...words], what: what(named), scope }
  }
  return { name, verb, help, read }
}

/** Commands that reduce risk are confirmed by a button, all others by a one-time code. */
export const CHAT_ORDERS: readonly ChatOrder[] = [
  scopeOrder({
    name: 'reduce',
    verb: 'restrict',
    help: 'only orders that reduce from now on: /reduce BTCUSDT, or *',
    words: ['reducing'],
    what: (scope) => `let only orders that reduce leave on ${scope}`,
  }),
  scopeOrder({
    name: 'halt',
    verb: 'restrict',
    help: 'no order from now on: /halt BTCUSDT, strategy:ID, or *',
    words: ['halted'],
    what: (scope) => `halt ${scope}`,
  }),
  scopeOrder({
    name: 'flatten',
    verb: 'flatten',
    help: 'close what is held: /flatten BTCUSDT, strategy:ID, or *',
    what: (scope) => `close everything on ${scope}, at market prices`,
  }),
  scopeOrder({
    name: 'pause',
    verb: 'pause',
    help: 'stop a strategy: /pause ID',
    what: (scope) => `pause ${scope}: it sends no orders`,
  }),
  {
    name: 'close',
    verb: 'close',
    help: 'close a share: /close BTCUSDT 50 %, a strategy or *; without a share all',
    read: ([scope, ...share]) => {
      if (scope === undefined || !NAME.test(scope)) return undefined
      const percent = readShare(share.join(' '))
      if (typeof percent === 'string') return { objection: percent }
      const whose = scope === '*' ? 'the whole account' : scope
      return {
        words: [scope, `${percent}%`],
        what: `close ${percent} % of ${whose}, which then only reduces`,
      }
    },
  },
  {
    name: 'cancel',
    verb: 'cancel',
    help: 'withdraw orders placed by name: /cancel BTCUSDT, a strategy or an order',
    read: ([what]) =>
      what !== undefined && NAME.test(what)
        ? { words: [what], what: `withdraw the orders placed by name of ${what}` }
        : undefined,
  },
  {
    name: 'kill',
    verb: 'kill',
    help: 'stop all trading and cancel every order',
    read: () => ({ words: [], what: 'kill: stop all trading and cancel every order' }),
  },
  scopeOrder({
    name: 'release',
    verb: 'release',
    help: 'propose to end what restricts: /release BTCUSDT, strategy:ID, or *',
    what: (scope) => `release ${scope}`,
  }),
  {
    name: 'unkill',
    verb: 'release',
    help: 'propose to end a kill',
    read: () => ({ words: [], what: 'end the kill' }),
  },
  {
    name: 'reload',
    verb: 'reload',
    help: 'propose that the daemon uses the files as they are now',
    read: () => ({ words: [], what: 'use the files as they are now' }),
  },
]

export const CONFIRM_HELP =
  'do what is proposed: /confirm ID CODE, with a code of the authenticator'

const PROPOSAL_ID = /^[0-9a-f]{6}$/

/** @returns undefined if the words are not understood */
export function readConfirmation([id = '', code = '', ...rest]: readonly string[]):
  | { readonly id: string; readonly code: string }
  | undefined {
  return PROPOSAL_ID.test(id) && /^\d{6}$/.test(code) && rest.length === 0
    ? { id, code }
    : undefined
}

/** A phone shows no more points. */
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

function drawEquity(csv: string): readonly ChatPicture[] {
  const curves = csv.split(/^at,.*$/m).slice(1)
  return curves.flatMap((rows, index) => {
    const picture = drawCurve(readPoints(rows))
    if (picture === undefined) return []
    if (curves.length === 1) return [picture]
    return [{ ...picture, caption: `account ${index + 1} of ${curves.length}: ${picture.caption}` }]
  })
}

/** @returns undefined if no equity is known */
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

const BUCKETS = 240
const DIGITS = 7
const COLOURS = { price: '#66707f', entry: '#2c63d6', exit: '#b4372f', stop: '#c07a10' }
/** With more marks, as of a grid, none can be told from the next. */
const MARKS_MAX = 200
const SECOND_MS = 1000
/** Share of the time that is left free at each edge. */
const TIME_MARGIN = 0.04

/** Where prices of that time are missing, the line joins the fills. */
export function drawTrade(output: string): readonly ChatPicture[] {
  return output.split(/\n(?=[[{n])/).flatMap((text) => {
    const course = parseBoundedJson(text) as TradeCourse | null
    return course === null ? [] : [drawCourse(course)]
  })
}

function drawCourse({ trade, journal, fills, stops, prices }: TradeCourse): ChatPicture {
  const { symbol, side, openedAt, closedAt, strategyId } = trade
  const line = joinFills(prices, fills)
  const [begin, end] = [openedAt, closedAt].map(
    (at, place) => line.at(place === 0 ? 0 : -1)?.at ?? at,
  ) as [number, number]
  const margin = Math.max(SECOND_MS, (closedAt - openedAt) * TIME_MARGIN)
  const first = Math.min(openedAt - margin, begin)
  const last = Math.max(closedAt + margin, end)
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
      levels: [
        ...stops.map((value) => ({ value, colour: COLOURS.stop, text: 'stop' })),
        ...levelOf('entry', trade, isLong),
        ...levelOf('exit', trade, isLong),
      ],
      marks: fills.slice(0, MARKS_MAX).map(({ at, price, isEntry }) => ({
        at,
        value: price,
        colour: isEntry ? COLOURS.entry : COLOURS.exit,
        pointsUp: isEntry === isLong,
      })),
    }),
    caption: captionOf({ trade, journal, prices }),
  }
}

function levelOf(
  part: 'entry' | 'exit',
  trade: TradeCourse['trade'],
  isLong: boolean,
): readonly PictureLevel[] {
  const price = trade[`${part}Price`]
  if (price === null) return []
  const isExit = part === 'exit'
  const text = `${part} ${Number(Number(price).toPrecision(DIGITS))}`
  return [
    {
      value: Number(price),
      colour: COLOURS[part],
      text,
      isAtRight: isExit,
      isBelow: isExit === isLong,
    },
  ]
}

type PricePoint = Pick<TradeCourse['prices'][number], 'at' | 'price'>

/** Prices may begin after the first fill, and end before the last one. */
function joinFills(
  prices: readonly PricePoint[],
  fills: readonly PricePoint[],
): readonly PricePoint[] {
  const [first, last] = [prices[0], prices.at(-1)]
  if (first === undefined || last === undefined) return fills
  return [
    ...fills.filter(({ at }) => at < first.at),
    ...prices,
    ...fills.filter(({ at }) => at > last.at),
  ]
}

function captionOf({
  trade,
  journal,
  prices,
}: Pick<TradeCourse, 'trade' | 'journal' | 'prices'>): string {
  const { entryPrice, exitPrice, net, coin, share, reason, fills } = trade
  const part = share === null ? '' : ` (${(share * 100).toFixed(2)} %)`
  const result = `${money(net, coin)} ${coin}${part}, ${reason}`
  const way = `from ${entryPrice ?? '?'} (blue) to ${exitPrice ?? '?'} (red), ${showCount(fills, 'fill')}`
  const known =
    prices.length > 0 ? '' : '; no prices of that time are kept, the line joins its fills'
  return `${result}: ${way}${known}\n${describeJournalPlace(journal)}`
}

interface Buckets {
  readonly first: number
  readonly stepMs: number
  readonly count: number
}

/** Keeps the last price of each stretch, and interpolates where there is none. */
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
