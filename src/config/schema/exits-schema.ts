import { z } from 'zod'
import { wholeNumber } from './whole-number.ts'

/** Exits close a position without the strategy deciding it. */

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

const DURATION = /^(0|[1-9]\d{0,4})([smhd])$/

export function durationMs(text: string): number {
  const [, count = '0', unit = 's'] = DURATION.exec(text) ?? []
  return Number(count) * (UNIT_MS[unit] ?? 0)
}

export const DURATION_TITLE = 'a duration such as "30s", "45m", "6h" or "2d"'

const duration = (description: string) =>
  z
    .string()
    .regex(/^[1-9]\d{0,4}[smhd]$/)
    .meta({ title: DURATION_TITLE, description })

/** A share of the entry price, in millionths. */
const share = (description: string) => z.number().min(0.000_001).max(0.99).meta({ description })

const DISTANCE = 'as a share: 0.05 is 5 %'
const ATR = 'as a multiple of the ATR at entry (`exits.atr`), instead of `distance`'

const atrMultiple = (what: string) =>
  z
    .number()
    .min(0.01)
    .max(100)
    .optional()
    .meta({ description: `${what}, ${ATR}.` })

/** A quarter further away, so that the daemon's own stop comes first. */
export function stopAtExchangeShare(distance: number): number {
  return Math.round(distance * 1_250_000) / 1_000_000
}

type Distance = { readonly distance?: number | undefined; readonly atr?: number | undefined }

function objectToDistance({ value, issues }: z.core.ParsePayload<Distance>): void {
  if ((value.distance === undefined) !== (value.atr === undefined)) return
  issues.push({
    code: 'custom',
    input: value,
    path: [],
    message: 'needs either distance or atr, one of the two',
  })
}

const stop = z
  .strictObject({
    distance: share(`How far the stop is from the entry, ${DISTANCE}.`).optional(),
    atr: atrMultiple('How far the stop is from the entry'),
    atExchange: z.boolean().default(false).meta({
      description:
        'Each order that opens also gives the exchange a stop-loss, a quarter further away than this distance from its price. It stays where it was set, and works while the daemon does not.',
    }),
  })
  .check(objectToDistance)
  .check(({ value, issues }) => {
    if (!value.atExchange || value.distance !== undefined) return
    const message = 'needs a distance: the ATR at entry is not known when an order leaves'
    issues.push({ code: 'custom', input: value, path: ['atExchange'], message })
  })
  .optional()
  .meta({ description: 'Closes all at a loss.' })

const trailing = z
  .strictObject({
    after: z.number().min(0).max(10).default(0).meta({
      description: 'It counts once the best price has brought this share of the entry.',
    }),
    distance: share(`How far it follows the best price, ${DISTANCE}.`).optional(),
    atr: atrMultiple('How far it follows the best price'),
  })
  .check(objectToDistance)
  .optional()
  .meta({ description: 'Closes all when the price falls back from its best since the entry.' })

const breakEven = z
  .strictObject({
    after: share('It counts once the best price has brought this share of the entry.'),
    offset: z.number().min(-0.99).max(0.99).default(0).meta({
      description: 'How far from the entry it closes, as a share; above zero it leaves a profit.',
    }),
  })
  .check(({ value, issues }) => {
    if (value.offset < value.after) return
    const message = `${value.offset} is not below after (${value.after}): it would close as soon as it counts`
    issues.push({ code: 'custom', input: value, path: ['offset'], message })
  })
  .optional()
  .meta({ description: 'Closes all at the entry once there was a profit.' })

const profit = z
  .record(z.string().regex(DURATION), z.number().gt(-1).max(10))
  .check(({ value, issues }) => {
    const rows = Object.keys(value).toSorted((one, other) => durationMs(one) - durationMs(other))
    for (const [index, row] of rows.entries()) {
      const before = rows[index - 1]
      if (before === undefined) continue
      const isSame = durationMs(before) === durationMs(row)
      if (!isSame && (value[before] ?? 0) > (value[row] ?? 0)) continue
      const message = isSame
        ? `is the same time as ${before}`
        : `${value[row]} is not below ${value[before]} at ${before}: the profit that is wanted falls with the time held`
      issues.push({ code: 'custom', input: value, path: [row], message })
    }
  })
  .optional()
  .meta({
    title: 'a table of durations and shares, such as { 0m: 0.04, 30m: 0.02, 2h: 0 }',
    description:
      'By time held: the profit, as a share of the entry, that closes all. The last row that has begun counts.',
  })

const takeProfit = z
  .array(
    z
      .strictObject({
        at: share('The profit, as a share of the entry.'),
        close: z.number().min(0.000_001).max(1).meta({
          description: 'How much is closed, as a share of the largest size of the trade.',
        }),
      })
      .meta({ description: 'One part.' }),
  )
  .min(1)
  .max(10)
  .check(({ value, issues }) => {
    const say = (path: (string | number)[], message: string): void =>
      void issues.push({ code: 'custom', input: value, path, message })
    for (const [index, { at }] of value.entries()) {
      const before = value[index - 1]?.at
      if (before !== undefined && at <= before)
        say(
          [index, 'at'],
          `${at} is not above ${before} before it: write parts from the nearest to the farthest`,
        )
    }
    const sum = value.reduce((all, { close }) => all + Math.round(close * 1e6), 0)
    if (sum > 1e6) say([], `the parts together close ${sum / 1e6} of the position, 1 is all of it`)
  })
  .optional()
  .meta({ description: 'Closes parts of the position at profits, each once.' })

const within = duration('Trades that ended longer ago do not count.')
const pause = duration('For so long no entry leaves on the instrument.')

const protections = z
  .strictObject({
    stops: z
      .strictObject({
        count: wholeNumber({ min: 1, max: 50 }, 'How many such trades.'),
        within,
        pause,
      })
      .optional()
      .meta({
        description:
          'Pauses after trades that a stop, trailing stop or break-even ended at a loss.',
      }),
    lowProfit: z
      .strictObject({
        trades: wholeNumber({ min: 1, max: 50 }, 'At least so many trades, however they ended.'),
        within,
        below: z.number().min(-1).max(1).default(0).meta({
          description: 'Their net profit together, as a share of what was put into them.',
        }),
        pause,
      })
      .optional()
      .meta({ description: 'Pauses after trades that together brought too little.' }),
  })
  .optional()
  .meta({
    description: 'Pauses of entries, for each instrument of the strategy; they end by themselves.',
  })

export const exitsSchema = z
  .strictObject({
    stop,
    trailing,
    breakEven,
    profit,
    timeLimit: duration('Closes all after so long.').optional(),
    takeProfit,
    coolDown: duration(
      'After an exit no order that adds leaves on the instrument for so long. Absent: a target that was exited does not count until the strategy wants something else.',
    ).optional(),
    protections,
    atr: z
      .strictObject({
        interval: z.enum(['1m', '5m', '15m', '30m', '1h', '4h', '1d']).meta({
          description: 'The length of its candles.',
        }),
        period: z.int().min(2).max(100).default(14).meta({ description: 'Its period, candles.' }),
      })
      .optional()
      .meta({ description: 'The average true range (Wilder) behind distances in `atr`.' }),
  })
  .check(({ value, issues }) => {
    const say = (path: string[], message: string): void =>
      void issues.push({ code: 'custom', input: value, path, message })
    const needsAtr = [value.stop, value.trailing].some((part) => part?.atr !== undefined)
    if (needsAtr && value.atr === undefined)
      say([], 'a distance in atr needs exits.atr, such as { interval: 1h, period: 14 }')
    if (!needsAtr && value.atr !== undefined) say(['atr'], 'no part has a distance in atr')
    if (Object.keys(value).length === 0) say([], 'names no part; leave exits out instead')
    sayUseless(value, say)
    const last = value.timeLimit === undefined ? Infinity : durationMs(value.timeLimit)
    for (const row of Object.keys(value.profit ?? {}))
      if (durationMs(row) >= last)
        say(['profit', row], `never counts: timeLimit closes all after ${value.timeLimit}`)
  })
  .optional()
  .meta({
    description:
      'What closes a position by itself, judged at every look at the prices (docs/exits.md). Absent: nothing does.',
  })

const CLOSING = ['stop', 'trailing', 'breakEven', 'profit', 'timeLimit', 'takeProfit'] as const
const STOPS = ['stop', 'trailing', 'breakEven'] as const

/** Parts that could never do anything. */
function sayUseless(
  value: Partial<Record<(typeof CLOSING)[number], unknown>> & {
    readonly stop?: Distance | undefined
    readonly breakEven?: { readonly offset: number } | undefined
    readonly profit?: Readonly<Record<string, number>> | undefined
    readonly coolDown?: string | undefined
    readonly protections?: { readonly stops?: unknown } | undefined
  },
  say: (path: string[], message: string) => void,
): void {
  const has = (parts: readonly (typeof CLOSING)[number][]): boolean =>
    parts.some((part) => value[part] !== undefined)
  const { coolDown } = value
  if (value.profit && Object.keys(value.profit).length === 0)
    say(['profit'], 'names no row: leave it out')
  if (coolDown !== undefined && !has(CLOSING))
    say(['coolDown'], `never begins: none of ${CLOSING.join(', ')} closes anything`)
  if (value.protections?.stops !== undefined && !has(STOPS))
    say(['protections', 'stops'], `never counts: there is none of ${STOPS.join(', ')}`)
  const distance = value.stop?.distance
  if (value.breakEven && distance !== undefined && value.breakEven.offset <= -distance)
    say(['breakEven', 'offset'], `never counts: stop closes first, ${distance} below the entry`)
}

export type ExitSettings = NonNullable<z.infer<typeof exitsSchema>>
