import { z } from 'zod'
import { positiveAmount, positiveDecimal } from './decimal-text.ts'
import { symbolSchema } from './exchange-schema.ts'
import { presetNumber, wholeNumber } from './whole-number.ts'

const daily = positiveAmount(
  'Largest loss since the day began in calendar.timezone, in the margin coin; then only orders that reduce leave or stay open.',
).optional()

const WARN = 'a warning is logged'
const REDUCING = 'only orders that reduce leave or stay open'
const FLATTEN = 'everything is closed and nothing else leaves'

const share = (what: string) =>
  z
    .number()
    .positive()
    .max(1)
    .optional()
    .meta({ description: `Fall from the peak of the equity, as a share of it, at which ${what}.` })

/** In the order in which they are reached. */
const STEPS = ['warn', 'reducing', 'flatten'] as const

const amount = (what: string) =>
  positiveDecimal(
    `Fall from the peak of the net profit at which ${what}, in the margin coin.`,
  ).optional()

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
  .strictObject({ warn: amount(WARN), reducing: amount(REDUCING), flatten: amount(FLATTEN) })
  .check(objectToOrder)
  .optional()
  .meta({ description: 'Limits on the fall from the peak of the net profit.' })

/** Cool-down of a drawdown if the account has no limits. */
export const COOL_DOWN_MS = 3_600_000

const accountLimitsSchema = z
  .strictObject({
    daily,
    drawdown: z
      .strictObject({ warn: share(WARN), reducing: share(REDUCING), flatten: share(FLATTEN) })
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
export const accountLossesSchema = z.union([z.literal('none'), accountLimitsSchema]).meta({
  title: '"none", or a mapping with daily, drawdown, coolDownMs',
  description:
    'Limits on what the account may lose. What is absent is not limited. none: the account may lose everything that it holds; limits of instruments and strategies count all the same. With environment live nothing trades while neither limits nor none are written.',
})

export const instrumentRisksSchema = z.record(
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

export const accountPaceSchema = z
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
