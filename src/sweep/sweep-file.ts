import { z } from 'zod'
import { wholeNumber } from '../config/schema/setting-values.ts'

export const VALUES_MAX = 1000
export const TRIALS_MAX = 20_000
const FOLDS_MAX = 20

const finite = (title: string) => z.number().meta({ title })

const stepsSchema = z.strictObject({
  from: finite('the first value'),
  to: finite('the last value'),
  step: z.number().positive().meta({ title: 'a number above 0' }),
})

const pointsSchema = z.strictObject({
  from: finite('the first value'),
  to: finite('the last value'),
  points: wholeNumber({ min: 2, max: VALUES_MAX }, 'How many values, both ends among them.'),
  scale: z.enum(['linear', 'log']).default('linear'),
  whole: z.boolean().default(false).meta({ description: 'Round each value to a whole number.' }),
})

const listSchema = z
  .array(z.union([z.number(), z.string(), z.boolean()]))
  .min(1)
  .max(VALUES_MAX)

const valuesSchema = z
  .union([listSchema, stepsSchema, pointsSchema])
  .meta({ title: 'a list, { from, to, step } or { from, to, points, scale: log, whole: true }' })

export const sweepFileSchema = z
  .strictObject({
    method: z.enum(['grid', 'random', 'halving']).default('grid').meta({
      description:
        'All combinations; so many drawn ones; drawn ones on short stretches first, of which the better third goes on.',
    }),
    trials: wholeNumber(
      { min: 1, max: TRIALS_MAX },
      'How many combinations are drawn (random, halving).',
    ).default(100),
    seed: wholeNumber({ min: 0, max: 2 ** 31 }, 'Of what is drawn.').default(1),
    objective: z
      .enum(['sharpe', 'return'])
      .default('sharpe')
      .meta({ description: 'What makes one trial better than another.' }),
    folds: wholeNumber(
      { min: 0, max: FOLDS_MAX },
      'Windows of the walk-forward; 0 for none.',
    ).default(3),
    params: z.record(z.string(), z.record(z.string(), valuesSchema)).meta({
      description: 'By the id of a strategy: its parameters, and the values to try.',
    }),
  })
  .meta({ title: 'the sweep', description: 'What intentd sweep tries.' })

export type SweepFile = z.infer<typeof sweepFileSchema>
export type ParamValues = z.infer<typeof valuesSchema>
export type Objective = SweepFile['objective']
