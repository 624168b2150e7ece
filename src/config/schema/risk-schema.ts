import { z } from 'zod'
import {
  positiveAmount,
  positiveDecimal,
  presetNumber,
  signedDecimal,
  wholeNumber,
} from './setting-values.ts'
import { symbolSchema } from './exchange-schema.ts'

const daily = positiveAmount(
  'Largest loss since the day began in calendar.timezone, in the margin coin; then only orders that reduce leave or stay open.',
).optional()

const share = z.number().positive().max(1)

const STEPS = ['warn', 'reducing', 'flatten'] as const

/** A lower step would make the one before it ineffective. */
function objectToOrder(
  context: z.core.ParsePayload<Partial<Record<(typeof STEPS)[number], unknown>>>,
): void {
  const given = STEPS.filter((step) => context.value[step] !== undefined)
  for (const [index, step] of given.entries()) {
    const next = given[index + 1]
    if (next === undefined || Number(context.value[step]) <= Number(context.value[next])) continue
    const message = `is above ${next}, which comes after it: write warn, reducing and flatten from the smallest to the largest`
    context.issues.push({ code: 'custom', input: context.value, path: [step], message })
  }
}

const drawdown = z
  .strictObject({
    warn: positiveDecimal(
      'Fall from the peak of the net profit at which a warning is logged, in the margin coin.',
    ).optional(),
    reducing: positiveDecimal(
      'Fall from the peak of the net profit at which only orders that reduce leave or stay open, in the margin coin.',
    ).optional(),
    flatten: positiveDecimal(
      'Fall from the peak of the net profit at which everything is closed and nothing else leaves, in the margin coin.',
    ).optional(),
  })
  .check(objectToOrder)
  .optional()
  .meta({ description: 'Limits on the fall from the peak of the net profit.' })

export const COOL_DOWN_MS = 3_600_000

const accountLimitsSchema = z
  .strictObject({
    daily,
    drawdown: z
      .strictObject({
        warn: share.optional().meta({
          description:
            'Fall from the peak of the equity, as a share of it, at which a warning is logged.',
        }),
        reducing: share.optional().meta({
          description:
            'Fall from the peak of the equity, as a share of it, at which only orders that reduce leave or stay open.',
        }),
        flatten: share.optional().meta({
          description:
            'Fall from the peak of the equity, as a share of it, at which everything is closed and nothing else leaves.',
        }),
      })
      .check(objectToOrder)
      .optional()
      .meta({
        description: 'Limits on the fall from the peak of the equity; they need account.capital.',
      }),
    coolDownMs: presetNumber(
      { min: 0, max: 604_800_000, preset: COOL_DOWN_MS },
      'So long after a drawdown was reached, by any scope, it cannot be released, in ms.',
    ),
  })
  .meta({ description: 'Limits on what the account may lose. What is absent is not limited.' })

/** A live start needs one of the two (`config/live-checks.ts`). */
const accountLossesSchema = z.union([z.literal('none'), accountLimitsSchema]).meta({
  title: '"none", or a mapping with daily, drawdown, coolDownMs',
  description:
    'Limits on what the account may lose. What is absent is not limited. none: the account may lose everything that it holds; limits of instruments and strategies count all the same. With environment live nothing trades while neither limits nor none are written.',
})

const instrumentRisksSchema = z.record(
  symbolSchema,
  z.strictObject({
    losses: z
      .strictObject({ daily, drawdown })
      .optional()
      .meta({ description: 'Limits on what the account may lose on it.' }),
  }),
)

const ordersPerMinute = wholeNumber(
  { min: 1, max: 100_000 },
  'Most orders that leave within a minute; what reduces risk is counted, and leaves all the same.',
).optional()

const identicalPerMinute = wholeNumber(
  { min: 1, max: 1000 },
  'Most place intents of equal terms under different keys within a minute; what reduces risk is counted, and leaves all the same.',
).optional()

const PACE = { description: 'Limits on how fast orders leave. What is absent is not limited.' }

const accountPaceSchema = z
  .strictObject({
    ordersPerMinute,
    identicalPerMinute,
    rateLimitedPerMinute: wholeNumber(
      { min: 1, max: 1000 },
      'As many answers 429 within a minute: while it is so, only orders that reduce leave.',
    ).optional(),
  })
  .meta(PACE)

export const strategyPaceSchema = z
  .strictObject({
    ordersPerMinute,
    identicalPerMinute,
    rejectionsPerMinute: wholeNumber(
      { min: 1, max: 1000 },
      'As many orders rejected by the exchange with one code within a minute: then the strategy is halted.',
    ).optional(),
  })
  .meta(PACE)

export const strategyLossesSchema = z
  .strictObject({
    daily,
    drawdown,
    streak: wholeNumber(
      { min: 1, max: 1000 },
      'Trades in a row, each from flat to flat on one instrument, that lost: then the strategy is halted.',
    ).optional(),
  })
  .meta({
    description:
      'Limits on what the strategy may lose by its own fills. What is absent is not limited.',
  })

export const TAKER_FEE_RATE = '0.0006'

const DISTANCE_STEPS = ['warn', 'reduce', 'flatten'] as const

const stepsSchema = z
  .strictObject({
    warn: share.default(0.15).meta({
      description:
        'Distance to a liquidation, as a share of the mark price, at which a warning is logged.',
    }),
    reduce: share.default(0.08).meta({
      description:
        'Distance to a liquidation, as a share of the mark price, at which only orders that reduce leave or stay open on the instrument, and none opens nearer.',
    }),
    flatten: share.default(0.04).meta({
      description:
        'Distance to a liquidation, as a share of the mark price, at which the instrument is closed and halted.',
    }),
    takerFeeRate: signedDecimal(
      'Fee of closing, as a share of the value, which a position needs at its liquidation too. With environment simulator that of the simulator counts.',
    ).default(TAKER_FEE_RATE),
  })
  .check((context) => {
    for (const [index, name] of DISTANCE_STEPS.entries()) {
      const next = DISTANCE_STEPS[index + 1]
      if (next === undefined || context.value[name] >= context.value[next]) continue
      const message = `is below ${next}, which comes after it: write warn, reduce and flatten from the largest to the smallest`
      context.issues.push({ code: 'custom', input: context.value, path: [name], message })
    }
  })

const liquidationSchema = z.union([z.literal('none'), stepsSchema]).meta({
  title: '"none", or a mapping with warn, reduce, flatten',
  description:
    'What happens when a position comes near its liquidation. Reduce and flatten need a count of our own: account.capital and the maintenance of the instruments. none: distances are shown, and nothing follows from them.',
})

const survivedMove = z.number().positive().max(0.9)

const survivalSchema = z
  .strictObject({
    move: z.union([survivedMove, z.record(symbolSchema, survivedMove)]).meta({
      title: 'a share of the price such as 0.12, or a mapping with one for each instrument',
      description:
        'Move of one instrument alone, down or up, as a share of its price: a number for all, or one for each symbol.',
    }),
    joint: survivedMove.optional().meta({
      description:
        'Move of all instruments at once, each against the account. Absent: each by its own move.',
    }),
    gap: z.boolean().default(true).meta({
      description:
        'true: nothing is filled on the way, so orders that rest count as filled at the price now and lose the whole move. false: each counts at its own price.',
    }),
  })
  .optional()
  .meta({
    description:
      'Moves that the account must survive: an order is denied (WORST_CASE) if loss, fees, funding and maintenance margin after such a move, with all that rests filled, could exceed the equity. At 80 % a warning is logged; beyond 100 % the daemon reduces until 80 %. Needs account.capital, crossed margin and the maintenance of the instruments. Absent: no such limit.',
  })

/** Older prices say nothing about the market. */
export const DATA_AGE_MS_MAX = 600_000

export const riskSchema = z
  .strictObject({
    dataAgeMaxMs: wholeNumber(
      { min: 10, max: DATA_AGE_MS_MAX },
      'Oldest market data that is decided or sent on, in ms.',
    ),
    accountAgeMaxMs: wholeNumber(
      { min: 1000, max: 3_600_000 },
      'How long ago fills and positions may have been read when an order leaves that adds risk, in ms. Absent: three ' +
        'rounds of readings at the limits and with the instruments of this account, and 3000 at least. More than that ' +
        'has no effect: nothing that adds risk leaves after three missed readings.',
    ).optional(),
    priceCollarRatio: z.number().positive().max(1).meta({
      description:
        'How far an order, its take-profit and its stop-loss may be from the market, as a share of the price.',
    }),
    openOrdersMax: wholeNumber(
      { min: 1, max: 1000 },
      'Most orders working at once in the account.',
    ),
    orderNotionalMax: positiveDecimal('Largest price times size of one order, in the quote coin.'),
    grossNotionalMax: positiveDecimal(
      'Largest sum of all positions and working orders, long and short added, in the quote coin.',
    ),
    foreignFills: z.enum(['halt', 'adopt']).default('halt').meta({
      description:
        "After fills that are not ours (liquidation, delivery, a person's trade) the position is adopted. halt: and nothing is opened on the instrument until it is released. adopt: trading goes on.",
    }),
    leverageMax: z.number().positive().max(1000).optional().meta({
      description:
        'Largest sum of all positions and working orders over the equity of the account; needs account.capital.',
    }),
    selfTrade: z.enum(['allow', 'deny']).default('allow').meta({
      description: 'Whether an order may leave that would trade with a resting order of ours.',
    }),
    unknownOrdersMax: wholeNumber(
      { min: 0, max: 1000 },
      'Most orders of which nobody knows what became of them: while there are more, only orders that reduce leave.',
    ).optional(),
    pace: accountPaceSchema.prefault({}),
    disputeToleranceRatio: z.number().min(0).max(0.2).default(0.005).meta({
      description:
        'How far our own unrealised profit and that of the exchange may differ, as a share of what the position is worth.',
    }),
    disputeToleranceMin: positiveDecimal('And so far in any case, in the quote coin.').default('1'),
    disputeMsMax: presetNumber(
      { min: 1000, max: 600_000, preset: 10_000 },
      'After they have differed for so long, in ms, limits on losses are judged by our own figure alone.',
    ),
    indexBandRatio: z.number().positive().max(0.5).default(0.05).meta({
      description:
        'Judged alone, our own figure counts only while last price, bid, ask and index are this close to each other, as a share of the price.',
    }),
    losses: accountLossesSchema.prefault({}),
    liquidation: liquidationSchema.prefault({}),
    survives: survivalSchema,
    instruments: instrumentRisksSchema
      .default({})
      .meta({ description: 'Limits of single instruments, by symbol.' }),
  })
  .meta({
    description:
      'Limits of the whole account. Only accountAgeMaxMs and how figures are compared have defaults; no other limit has one.',
  })
