/**
 * What the operator tells the exchange simulator: the part shared by the simulator inside the daemon
 * (`simulator:` of the main file) and the one on its own (`intentd simulate`, config/simulator.yaml).
 */
import { z } from 'zod'
import { positiveDecimal, signedDecimal } from './decimal-text.ts'
import { accountShape, instrumentsSchema, symbolSchema } from './exchange-schema.ts'

const generatedMarketSchema = z
  .strictObject({
    kind: z
      .literal('generated')
      .meta({ description: 'A seeded market: volatility clusters, fat tails, real spreads.' }),
    prices: z
      .record(symbolSchema, positiveDecimal('Price at the start, in the quote coin.'))
      .meta({ description: 'Where each instrument starts.' }),
    yearlyVolatility: z
      .number()
      .positive()
      .max(10)
      .default(0.6)
      .meta({ description: 'Standard deviation of a year of returns; 0.6 is 60 %.' }),
  })
  .meta({ title: 'a generated market' })

const recordedMarketSchema = z
  .strictObject({
    kind: z.literal('recording').meta({ description: 'Real prices from files, played in order.' }),
    files: z
      .record(symbolSchema, z.string().min(1).max(400))
      .meta({
        description: 'A CSV of candles or quotes (plain or .gz) an instrument, relative to this file.',
      }),
    repeat: z
      .boolean()
      .default(false)
      .meta({ description: 'Start again at the end instead of standing still.' }),
  })
  .meta({ title: 'a recorded market' })

/** Where simulated prices come from. */
export const marketSchema = z
  .discriminatedUnion('kind', [generatedMarketSchema, recordedMarketSchema])
  .meta({ description: 'Where simulated prices come from.' })

const feesSchema = z
  .strictObject({
    maker: signedDecimal(
      'Fee of an order that rested, as a share of the notional; negative is a rebate.',
    ).default('0.0002'),
    taker: signedDecimal('Fee of an order that crossed the spread, as a share of the notional.').default(
      '0.0006',
    ),
  })
  .meta({ description: 'Fees as shares of the notional: "0.0006" is 6 basis points.' })

const limitsSchema = z
  .strictObject({
    counting: z
      .enum(['sliding', 'fixed', 'bucket'])
      .default('sliding')
      .meta({
        description: 'How calls a second are counted. The document does not say; sliding is the strictest.',
      }),
  })
  .meta({ description: 'How the simulated exchange counts its rate limits.' })

/** Everything both kinds of simulator share, key by key. */
export const simulatorShape = {
  seed: z.int().min(0).max(4_294_967_295).meta({ description: 'Same seed, same market, same behaviour.' }),
  stepMs: z
    .int()
    .min(10)
    .max(60_000)
    .default(100)
    .meta({ description: 'Time between two market moves, in ms.' }),
  speed: z
    .number()
    .min(0.01)
    .max(1000)
    .default(1)
    .meta({ description: 'Market time over real time; 1 is real time.' }),
  market: marketSchema,
  fees: feesSchema.prefault({}),
  limits: limitsSchema.prefault({}),
  idempotency: z
    .enum(['replay', 'duplicateError', 'pendingOnly'])
    .default('duplicateError')
    .meta({
      description:
        'What a clientOid sent twice gets: the first answer again, a duplicate error, or a new order ' +
        'once the first has left the book. The document allows all three readings.',
    }),
  businessErrorStatus: z
    .literal([200, 400])
    .default(400)
    .meta({ description: 'HTTP status of a refused request. Sources disagree; the client must bear both.' }),
  answerDelayMs: z
    .int()
    .min(0)
    .max(60_000)
    .default(5)
    .meta({ description: 'How long each answer takes, in ms.' }),
  fillDelayMs: z
    .int()
    .min(0)
    .max(60_000)
    .default(0)
    .meta({ description: 'How long after it happened a fill becomes readable, in ms.' }),
  timestampToleranceMs: z
    .int()
    .min(1000)
    .max(600_000)
    .default(30_000)
    .meta({ description: 'How far a signed timestamp may be from the exchange clock, in ms.' }),
}

/** The main file's `simulator:` section: the exchange that lives inside the daemon. */
export const embeddedSimulatorSchema = z
  .strictObject({
    ...simulatorShape,
    startingBalance: positiveDecimal('Margin coin in the account at the start.'),
    leverage: z.int().min(1).max(125).default(10).meta({ description: 'Leverage of every instrument.' }),
  })
  .meta({
    description: 'The exchange simulator inside the daemon; only with environment simulator and no baseUrl.',
  })

const simulatedAccountSchema = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,31}$/)
      .meta({
        title: 'a name such as "alice" (lower case letters, digits, -)',
        description: 'Its API credentials are made from this and the seed, and printed at the start.',
      }),
    ...accountShape,
    startingBalance: positiveDecimal('Margin coin in the account at the start.'),
    leverage: z.int().min(1).max(125).default(10).meta({ description: 'Leverage of every instrument.' }),
  })
  .meta({ description: 'One account of the simulated exchange.' })

/** config/simulator.yaml: the exchange simulator as a server of its own (`intentd simulate`). */
export const simulatorFileSchema = z
  .strictObject({
    host: z
      .enum(['127.0.0.1', '::1', 'localhost'])
      .default('127.0.0.1')
      .meta({ description: 'Address to listen on; loopback only.' }),
    port: z
      .int()
      .min(0)
      .max(65_535)
      .default(8700)
      .meta({ description: 'Port to listen on; 0 takes a free one.' }),
    ...simulatorShape,
    instruments: instrumentsSchema,
    accounts: z.array(simulatedAccountSchema).min(1).max(100).meta({ description: 'Who may trade here.' }),
  })
  .meta({ title: 'the simulator settings', description: 'Settings of `intentd simulate`.' })

export type EmbeddedSimulatorSettings = z.infer<typeof embeddedSimulatorSchema>
export type SimulatedAccount = z.infer<typeof simulatedAccountSchema>
export type SimulatorMarket = z.infer<typeof marketSchema>
export type SimulatorFile = z.infer<typeof simulatorFileSchema>
