import { z } from 'zod'
import { LEAVING_POLICIES, UNIVERSE_MEASURES } from '../../domain/universe.ts'
import { positiveDecimal, presetNumber, sizeDecimal, wholeNumber } from './setting-values.ts'
import { symbolSchema } from './exchange-schema.ts'
import { strategyLossesSchema, strategyPaceSchema } from './risk-schema.ts'
import { SIGNAL_NAME, SIGNAL_NAME_TITLE } from './signals-schema.ts'

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

const DURATION_TITLE = 'a duration such as "30s", "45m", "6h" or "2d"'

const duration = z
  .string()
  .regex(/^[1-9]\d{0,4}[smhd]$/)
  .meta({ title: DURATION_TITLE })
const durationFromZero = z
  .string()
  .regex(/^(0|[1-9]\d{0,4})[smhd]$/)
  .meta({ title: DURATION_TITLE })

/** The journal keeps shares in millionths. */
const share = z.number().min(0.000_001).max(0.99)

const DISTANCE = 'as a share: 0.05 is 5 %'
const ATR = 'as a multiple of the ATR at entry (`exits.atr`), instead of `distance`'

const atrMultiple = z.number().min(0.01).max(100).optional()

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
    distance: share.describe(`How far the stop is from the entry, ${DISTANCE}.`).optional(),
    atr: atrMultiple.describe(`How far the stop is from the entry, ${ATR}.`),
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
    distance: share.describe(`How far it follows the best price, ${DISTANCE}.`).optional(),
    atr: atrMultiple.describe(`How far it follows the best price, ${ATR}.`),
  })
  .check(objectToDistance)
  .optional()
  .meta({ description: 'Closes all when the price falls back from its best since the entry.' })

const breakEven = z
  .strictObject({
    after: share.describe('It counts once the best price has brought this share of the entry.'),
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
        at: share.describe('The profit, as a share of the entry.'),
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

const within = duration.describe('Trades that ended longer ago do not count.')
const pause = duration.describe('For so long no entry leaves on the instrument.')

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
    timeLimit: duration.describe('Closes all after so long.').optional(),
    takeProfit,
    coolDown: duration
      .describe(
        'After an exit no order that adds leaves on the instrument for so long. Absent: a target that was exited does not count until the strategy wants something else.',
      )
      .optional(),
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

/** `intentd universe` names each. */
const UNIVERSE_COUNT_MAX = 100

const positive = z.number().gt(0)

const symbolPatterns = z
  .array(
    z
      .string()
      .regex(/^[A-Z0-9*_]{1,40}$/)
      .meta({ title: 'a symbol such as "BTCUSDT", or a pattern such as "1000*"' }),
  )
  .max(500)
  .default([])

const measureRange = z
  .strictObject({
    min: positive.optional().meta({ description: 'Least value; it counts as inside.' }),
    max: positive.optional().meta({ description: 'Largest value; it counts as inside.' }),
  })
  .check(({ value: { min, max }, issues, value: input }) => {
    if (min === undefined || max === undefined || min <= max) return
    issues.push({ code: 'custom', input, path: ['max'], message: `${max} is below min ${min}` })
  })
  .optional()

const top = z
  .strictObject({
    count: wholeNumber(
      { min: 1, max: UNIVERSE_COUNT_MAX },
      'Most instruments that it chooses. Each is read as often as any other: `intentd check` says how often that is.',
    ),
    by: z.enum(UNIVERSE_MEASURES).meta({
      description:
        'What they are ranked by. volume: of 24 h in USDT. change: of 24 h, signed. volatility: the range of 24 h as a share of the last price. spread: between bid and ask as a share of the middle.',
    }),
    order: z.enum(['highest', 'lowest']).optional().meta({
      description: 'Which come first. Absent: the lowest for spread, the highest for all others.',
    }),
  })
  .meta({ description: 'Which of those that all filters let through are chosen.' })

const universeSchema = z
  .strictObject({
    every: z
      .string()
      .regex(/^[1-9]\d{0,3}[mhd]$/)
      .meta({
        title: 'minutes, hours or days such as "15m", "1h" or "1d"',
        description:
          'Time between two evaluations, by the clock of the exchange: with 1h at each full hour.',
      })
      .default('1h'),
    quote: z
      .string()
      .regex(/^[A-Z0-9]{1,20}$/)
      .optional()
      .meta({ title: 'a coin such as "USDT"', description: 'Quote coin. Absent: any.' }),
    volume: z
      .strictObject({ min: positive.meta({ description: 'Least volume of 24 h, in USDT.' }) })
      .optional()
      .meta({ description: 'How much was traded.' }),
    spread: z
      .strictObject({
        max: positive.max(1).meta({
          description: 'Largest distance of bid and ask, as a share of the middle: 0.001 is 0.1 %.',
        }),
      })
      .optional()
      .meta({ description: 'How wide bid and ask lie apart.' }),
    age: z
      .strictObject({
        min: durationFromZero.describe(
          'Least time since the listing; where the exchange does not state it, since the first evaluation that saw the instrument.',
        ),
      })
      .optional()
      .meta({ description: 'How long it has been listed.' }),
    volatility: measureRange.describe(
      'The range of 24 h, highest less lowest price, as a share of the last price.',
    ),
    price: measureRange.describe('Last price, in quote coin.'),
    include: symbolPatterns.describe(
      'Chosen before all others, whatever the filters say, while they can be traded.',
    ),
    exclude: symbolPatterns.describe('Never chosen.'),
    top,
    sticky: durationFromZero
      .describe('A member stays for at least so long, unless it is excluded or listed no more.')
      .default('6h'),
    changesPerDay: presetNumber(
      { min: 0, max: 10_000, preset: 20 },
      'Most members that leave within 24 h; the excluded and those that are listed no more always do, and count.',
    ),
    leaving: z.enum(LEAVING_POLICIES).default('close').meta({
      description:
        'What becomes of an instrument that leaves. close: its orders are cancelled, and what the strategy holds is closed. keep: the strategy sees it on, and may only reduce, until it is flat. handBack: its orders are cancelled, and what is held stays: nobody looks after it any more.',
    }),
  })
  .optional()
  .meta({
    description:
      'A rule that chooses instruments among all of the product type (docs/universe.md). They join and leave while the daemon runs.',
  })

export type UniverseSection = NonNullable<z.infer<typeof universeSchema>>

/** Sizes must not be guessed, so they have no default. */
const strategyRiskSchema = z
  .strictObject({
    positionMax: sizeDecimal(
      'Largest position, long or short, in the base coin and for each instrument; what is open, in flight or unknown counts. Required, except with a universe, whose instruments have different coins.',
    ).optional(),
    positionNotionalMax: positiveDecimal(
      'Largest position, long or short, by what it is worth in the quote coin, for each instrument; what is open, in flight or unknown counts. It also guards against a positionMax that was meant as an amount of money.',
    ).optional(),
    orderSizeMax: sizeDecimal(
      'Largest size of one order, in the base coin. Required, except with a universe.',
    ).optional(),
    orderNotionalMax: positiveDecimal(
      'Largest order by what it is worth in the quote coin. Absent: only risk.orderNotionalMax of the account.',
    ).optional(),
    openOrdersMax: wholeNumber(
      { min: 1, max: 400 },
      'Most orders working at once on each instrument.',
    ),
    pace: strategyPaceSchema.prefault({}),
    losses: strategyLossesSchema.prefault({}),
  })
  .meta({
    description:
      'Limits of this strategy. Sizes and values have no default; `pace` and `losses` have.',
  })

export const manualSchema = z
  .strictObject({
    orderNotionalMax: positiveDecimal('Largest order, by what it is worth in the quote coin.'),
    positionNotionalMax: positiveDecimal(
      'Largest position of it, long or short, by what it is worth in the quote coin, for each instrument; what is open, in flight or unknown counts.',
    ),
    openOrdersMax: presetNumber(
      { min: 1, max: 400, preset: 20 },
      'Most orders working at once on each instrument.',
    ),
    pace: strategyPaceSchema.prefault({}),
    losses: strategyLossesSchema.prefault({}),
  })
  .optional()
  .meta({
    description:
      'Limits of trades by hand (`intentd order`), which belong to the strategy `manual`. Absent: there are none.',
  })

const feedSchema = z
  .strictObject({
    endpoint: z.string().min(1).max(60).meta({
      title: 'the name of a read endpoint such as "longShortRatio"',
      description: 'A read endpoint of docs/exchange-api.md.',
    }),
    params: z
      .record(z.string(), z.string())
      .default({})
      .meta({ description: 'Its parameters, each a text; checked against the endpoint.' }),
    everyMs: wholeNumber({ min: 100, max: 86_400_000 }, 'Time between two reads, in ms.'),
  })
  .meta({ description: 'One feed.' })

export const strategyFileSchema = z
  .strictObject({
    id: z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,31}$/)
      .meta({
        title: 'a name such as "grid-btc" (lower case letters, digits, -; at most 32)',
        description:
          'Names the strategy in the journal, its orders and logs. Never give it to another strategy.',
      }),
    module: z
      .string()
      .regex(/^[^\0]{1,400}\.m?[jt]s$/)
      .meta({
        title: 'a path to a .ts, .mts, .js or .mjs file',
        description: 'The strategy code, relative to this file.',
      }),
    enabled: z.boolean().default(true).meta({ description: 'Whether it may trade.' }),
    instruments: z
      .array(symbolSchema)
      .max(100)
      .default([])
      .meta({ description: 'Symbols it sees and trades. Required, except with a universe.' }),
    universe: universeSchema,
    params: z.record(z.string(), z.unknown()).default({}).meta({
      description:
        'Parameters, checked against the strategy\'s own schema. A parameter called "size" is an order size in the base coin.',
    }),
    feeds: z
      .record(z.string().regex(/^[a-zA-Z][a-zA-Z0-9]{0,31}$/), feedSchema)
      .default({})
      .meta({ description: 'What it wants to be shown beside the market, by a name of its own.' }),
    signals: z
      .array(z.string().regex(SIGNAL_NAME).meta({ title: SIGNAL_NAME_TITLE }))
      .max(16)
      .default([])
      .meta({ description: 'The signals of the main file that it reads, by name.' }),
    history: z.array(z.string().min(1).max(400)).max(100).default([]).meta({
      title: 'a list of files',
      description:
        'Recordings of candles, FILE or SYMBOL=FILE, relative to this file: what its candles begin with at a start, where the daemon has not seen them itself.',
    }),
    isolation: z.enum(['worker', 'inline']).optional().meta({
      description:
        'worker: the strategy runs in a thread of its own, with limits on time and memory and without process, files and network. inline: in the thread of the daemon. Absent: inline for the strategies that come with intentd, worker for all others. Where prices are played all strategies run in one guarded thread; one that says inline takes the guard from that whole run.',
    }),
    thread: z
      .strictObject({
        budgetMs: presetNumber(
          { min: 10, max: 60_000, preset: 500 },
          'A decision that takes longer ends the thread, in ms; the others wait so long for it.',
        ),
        heapMb: presetNumber(
          { min: 16, max: 4096, preset: 64 },
          'Most memory for objects of the thread, in MB.',
        ),
      })
      .prefault({})
      .meta({ description: 'Limits of a strategy in a thread of its own.' }),
    onFailure: z.enum(['leave', 'cancel', 'flatten']).optional().meta({
      description:
        'What becomes of its orders when its decisions fail. leave: they rest, and what it holds stays. cancel: they are cancelled as soon as it is paused or halted. flatten: as cancel, and what it holds is closed when it is halted. Absent: they rest while it is paused, and are cancelled when it is halted.',
    }),
    exits: exitsSchema,
    capital: z
      .string()
      .regex(
        /^(?=.*[1-9])(?:(?:[1-9]?\d|100)(?:\.\d{1,4})? ?%|(?:0|[1-9]\d{0,17})(?:\.\d{1,18})?)$/,
      )
      .optional()
      .meta({
        title: 'a share of the equity such as 40 %, or an amount of the margin coin such as "4000"',
        description:
          'What it may use of the account. Sizes by risk (market.lotsForRisk) count from it, and an order is denied (CAPITAL_LIMIT) if all that it holds and has open could need more margin, at the configured leverage (without one: be worth more). Absent: sizes count from the whole equity, and nothing is denied for it.',
        decimal: true,
      }),
    risk: strategyRiskSchema,
  })
  .meta({ title: 'the strategy settings', description: 'One strategy of intentd.' })

export type StrategyFile = z.infer<typeof strategyFileSchema>
