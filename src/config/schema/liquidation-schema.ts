import { z } from 'zod'
import { positiveDecimal, signedDecimal } from './decimal-text.ts'

export const TAKER_FEE_RATE = '0.0006'

const STEPS = ['warn', 'reduce', 'flatten'] as const

const step = (preset: number, what: string) =>
  z
    .number()
    .positive()
    .max(1)
    .default(preset)
    .meta({
      description: `Distance to a liquidation, as a share of the mark price, at which ${what}.`,
    })

const stepsSchema = z
  .strictObject({
    warn: step(0.15, 'a warning is logged'),
    reduce: step(
      0.08,
      'only orders that reduce leave or stay open on the instrument, and none opens nearer',
    ),
    flatten: step(0.04, 'the instrument is closed and halted'),
    takerFeeRate: signedDecimal(
      'Fee of closing, as a share of the value, which a position needs at its liquidation too. With environment simulator that of the simulator counts.',
    ).default(TAKER_FEE_RATE),
  })
  .check((context) => {
    for (const [index, name] of STEPS.entries()) {
      const next = STEPS[index + 1]
      if (next === undefined || context.value[name] >= context.value[next]) continue
      const message = `is below ${next}, which comes after it: write warn, reduce and flatten from the largest to the smallest`
      context.issues.push({ code: 'custom', input: context.value, path: [name], message })
    }
  })

export const liquidationSchema = z.union([z.literal('none'), stepsSchema]).meta({
  title: '"none", or a mapping with warn, reduce, flatten',
  description:
    'What happens when a position comes near its liquidation. Reduce and flatten need a count of our own: account.capital and the maintenance of the instruments. none: distances are shown, and nothing follows from them.',
})

/** A tier without `upTo` is the last one. */
const tierSchema = z.strictObject({
  upTo: positiveDecimal(
    'Value up to which the tier goes, in the quote coin. Absent: it is the last one.',
  ).optional(),
  rate: z
    .number()
    .positive()
    .max(1)
    .meta({ description: 'What a position needs as margin, as a share of its value.' }),
})

export const maintenanceSchema = z
  .array(tierSchema)
  .min(1)
  .max(100)
  .check((context) => {
    let before = 0
    for (const [index, { upTo }] of context.value.entries()) {
      const isLast = index === context.value.length - 1
      const end = upTo === undefined ? Number.POSITIVE_INFINITY : Number(upTo)
      if (end > before && (isLast || upTo !== undefined)) {
        before = end
        continue
      }
      const message =
        upTo === undefined
          ? 'only the last tier goes without upTo'
          : 'is not above the tier before it: write tiers from the smallest to the largest'
      context.issues.push({ code: 'custom', input: context.value, path: [index, 'upTo'], message })
    }
  })
  .optional()
  .meta({
    description:
      "Maintenance margin by the value of a position, from the exchange's contract page. With environment simulator absent: that of the simulator. Otherwise absent: how far a liquidation is, is known by the exchange alone.",
  })
