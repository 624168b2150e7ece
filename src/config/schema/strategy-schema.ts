import { z } from 'zod'
import { positiveDecimal, sizeDecimal } from './decimal-text.ts'
import { symbolSchema } from './exchange-schema.ts'
import { exitsSchema } from './exits-schema.ts'
import { strategyLossesSchema, strategyPaceSchema } from './loss-schema.ts'
import { SIGNAL_NAME, SIGNAL_NAME_TITLE } from './signals-schema.ts'
import { universeSchema } from './universe-schema.ts'
import { presetNumber, wholeNumber } from './whole-number.ts'

/** Named as the risk checks. Sizes must not be guessed, so they have no default. */
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

/** The limits of trades by hand, which have no strategy file. */
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
