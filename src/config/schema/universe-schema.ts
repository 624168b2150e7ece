import { z } from 'zod'
import { LEAVING_POLICIES, UNIVERSE_MEASURES } from '../../domain/universe.ts'
import { DURATION_TITLE } from './exits-schema.ts'
import { presetNumber, wholeNumber } from './whole-number.ts'

/** A rule that chooses what a strategy trades, among all that the exchange lists. */

/** `intentd universe` names each; more is for several strategies. */
const UNIVERSE_COUNT_MAX = 100

const duration = (pattern: RegExp, description: string, title = DURATION_TITLE) =>
  z.string().regex(pattern).meta({ title, description })

const EVERY = /^[1-9]\d{0,3}[mhd]$/
const LASTING = /^(0|[1-9]\d{0,4})[smhd]$/

const positive = z.number().gt(0)

/** Symbols, or patterns such as `1000*`. */
const names = (description: string) =>
  z
    .array(
      z
        .string()
        .regex(/^[A-Z0-9*_]{1,40}$/)
        .meta({ title: 'a symbol such as "BTCUSDT", or a pattern such as "1000*"' }),
    )
    .max(500)
    .default([])
    .meta({ description })

const range = (value: z.ZodNumber, description: string) =>
  z

    .strictObject({
      min: value.optional().meta({ description: 'Least value; it counts as inside.' }),
      max: value.optional().meta({ description: 'Largest value; it counts as inside.' }),
    })
    .check(({ value: { min, max }, issues, value: input }) => {
      if (min === undefined || max === undefined || min <= max) return
      issues.push({ code: 'custom', input, path: ['max'], message: `${max} is below min ${min}` })
    })
    .optional()
    .meta({ description })

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

export const universeSchema = z
  .strictObject({
    every: duration(
      EVERY,
      'Time between two evaluations, by the clock of the exchange: with 1h at each full hour.',
      'minutes, hours or days such as "15m", "1h" or "1d"',
    ).default('1h'),
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
        min: duration(
          LASTING,
          'Least time since the listing; where the exchange does not state it, since the first evaluation that saw the instrument.',
        ),
      })
      .optional()
      .meta({ description: 'How long it has been listed.' }),
    volatility: range(
      positive,
      'The range of 24 h, highest less lowest price, as a share of the last price.',
    ),
    price: range(positive, 'Last price, in quote coin.'),
    include: names('Chosen before all others, whatever the filters say, while they can be traded.'),
    exclude: names('Never chosen.'),
    top,
    sticky: duration(
      LASTING,
      'A member stays for at least so long, unless it is excluded or listed no more.',
    ).default('6h'),
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
