/** What a market leaves behind to go on later. It comes back from a disk, so it is read with a schema. */
import { z } from 'zod'
import { Failure } from '../../lib/failure.ts'

const word = z.int().min(0).max(4_294_967_295)

const randomSchema = z.strictObject({ seed: z.string(), words: z.tuple([word, word, word, word]).readonly() })

const quoteSchema = z.strictObject({
  bidTicks: z.int(),
  askTicks: z.int(),
  bidLots: z.int(),
  askLots: z.int(),
  lastTicks: z.int(),
  tradedLots: z.int(),
  levelTicks: z.int(),
  candle: z.int(),
  candleLots: z.number(),
})

const factorSchema = z.strictObject({
  random: randomSchema,
  volatility: z.array(z.number()),
  shockSum: z.number(),
})

const pathSchema = z.strictObject({
  random: randomSchema,
  volatility: z.array(z.number()),
  price: z.number().positive(),
  gapTicks: z.number(),
  bidSize: z.number(),
  askSize: z.number(),
  minuteLots: z.number(),
  quote: quoteSchema,
})

const seededSchema = z.strictObject({
  kind: z.literal('seeded'),
  identity: z.string(),
  startAt: z.int(),
  stepsDone: z.int().min(0),
  factor: factorSchema,
  paths: z.record(z.string(), pathSchema),
})

const memorySchema = z.strictObject({ candles: z.int().min(0), lots: z.number(), rangeTicks: z.number() })

const candleSourceSchema = z.strictObject({
  kind: z.literal('candles'),
  random: randomSchema,
  path: z.strictObject({
    lastTicks: z.int().min(0),
    lastSign: z.int().min(-1).max(1),
    signs: z.number(),
    /** Absent in stores of before: nothing is owed. */
    within: z.number().default(0),
    gain: z.number(),
    usualRange: z.number(),
    coarse: z.number(),
  }),
  memory: memorySchema,
})

const quoteGridSchema = z.strictObject({
  memory: memorySchema,
  minute: z.strictObject({ candle: z.int(), lots: z.number(), high: z.number(), low: z.number() }),
})

const quoteSourceSchema = quoteGridSchema.extend({ kind: z.literal('quotes') })

const liveSchema = z.strictObject({
  kind: z.literal('live'),
  identity: z.string(),
  symbols: z.record(z.string(), z.strictObject({ quote: quoteSchema, grid: quoteGridSchema })),
})

const recordedSchema = z.strictObject({
  kind: z.literal('recorded'),
  identity: z.string(),
  startAt: z.int(),
  cursors: z.record(
    z.string(),
    z.strictObject({
      source: z.discriminatedUnion('kind', [candleSourceSchema, quoteSourceSchema]),
      lap: z.int().min(0),
      row: z.int().min(0),
      point: z.int().min(0),
      opened: z.boolean(),
      quote: quoteSchema.optional(),
    }),
  ),
  fallback: seededSchema,
})

const fairPriceSchema = z.strictObject({
  random: randomSchema,
  at: z.int(),
  smoothTicks: z.number(),
  basis: z.number(),
  premium: z.number(),
  premiumSum: z.number(),
  premiumCount: z.int(),
  minute: z.int(),
  settledFundingRate: z.number().optional(),
  markTicks: z.number().optional(),
  fundingRate: z.number().optional(),
  holdingLevel: z.number(),
})

const bucketSchema = z.object({
  /** Minutes since 1970. */
  minute: z.int(),
  /** Open, high, low, lots, quote volume. */
  figures: z.array(z.number()).length(5).readonly(),
})

/** What an instrument's statistics leave behind: 100 kB when they know a whole day, of which a minute changes little. */
export const dayStatisticsSchema = z
  .strictObject({
    /** The current bucket; -1 before the first step. */
    minute: z.int(),
    /** Every minute up to the current one, in any order. */
    buckets: z.array(bucketSchema).max(1440).readonly(),
    lastTicks: z.int(),
    fair: fairPriceSchema,
  })
  .refine(
    ({ minute, buckets }) =>
      buckets.every((bucket) => bucket.minute <= minute && bucket.minute > minute - buckets.length),
    'the minutes have gaps',
  )

export type FairPriceState = z.infer<typeof fairPriceSchema>
export type Bucket = z.infer<typeof bucketSchema>
export type DayStatisticsState = z.infer<typeof dayStatisticsSchema>
export type FactorState = z.infer<typeof factorSchema>
export type PathState = z.infer<typeof pathSchema>
export type SeededMarketState = z.infer<typeof seededSchema>
export type RecordedMarketState = z.infer<typeof recordedSchema>
export type LiveMarketState = z.infer<typeof liveSchema>
export type MarketState = SeededMarketState | RecordedMarketState | LiveMarketState

const marketStateSchema = z.discriminatedUnion('kind', [seededSchema, recordedSchema, liveSchema])

/** Reads a stored market state. @throws Failure MARKET_STATE_DAMAGED */
export function parseMarketState(value: unknown): MarketState {
  const result = marketStateSchema.safeParse(value)
  if (result.success) return result.data
  const issue = result.error.issues[0]
  throw new Failure({
    code: 'MARKET_STATE_DAMAGED',
    sentence: 'the stored state of the simulated market cannot be read',
    facts: { at: issue?.path.join('.') ?? '', problem: issue?.message ?? '' },
    hint: 'start the simulator with a fresh state; the same seed gives the same market from its start',
  })
}

/** @throws Failure MARKET_STATE_FOREIGN when a state was left by a market with other settings. */
export function assertStateBelongs(state: MarketState, identity: string): void {
  if (state.identity === identity) return
  throw new Failure({
    code: 'MARKET_STATE_FOREIGN',
    sentence: 'the stored state belongs to another market',
    facts: { configured: identity, stored: state.identity },
    hint: 'set the seed, the step, the speed and the recordings as they were, or start with a fresh state',
  })
}
