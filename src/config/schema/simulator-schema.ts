/** For the embedded simulator and for `intentd simulate` (config/simulator.yaml). */
import { z } from 'zod'
import { positiveDecimal, signedDecimal } from './decimal-text.ts'
import { instrumentsSchema, symbolSchema } from './exchange-schema.ts'
import {
  servicesSchema,
  readingsSchema,
  simulatedAccountSchema,
} from './simulator-services-schema.ts'
import { presetNumber, wholeNumber } from './whole-number.ts'

const marketSchema = z
  .strictObject({
    startPrices: z
      .record(symbolSchema, positiveDecimal('Price at the start, in the quote coin.'))
      .default({})
      .meta({
        description:
          'Where made-up prices start, for each instrument that has no recording: naming it here asks for them.',
      }),
    yearlyVolatility: z.number().positive().max(10).default(0.6).meta({
      description: 'Standard deviation of a year of returns of the seeded market; 0.6 is 60 %.',
    }),
    recordings: z.record(symbolSchema, z.string().min(1).max(400)).default({}).meta({
      description:
        'Real prices: a CSV of candles or quotes (plain or .gz) an instrument, relative to this file.',
    }),
    funding: z.record(symbolSchema, z.string().min(1).max(400)).default({}).meta({
      description:
        'Real payments of funding, for instruments with a recording: a CSV with ts_ms and fundingRate an instrument, relative to this file.',
    }),
    repeat: z
      .boolean()
      .default(false)
      .meta({ description: 'Play the recordings again when they end, instead of standing still.' }),
    live: z
      .strictObject({
        baseUrl: z.url({ protocol: /^https?$/ }).meta({
          title: 'an address such as "https://api.example.com"',
          description: 'Address of that exchange, nothing after the host and port.',
        }),
        pollMs: presetNumber(
          { min: 100, max: 60_000, preset: 1000 },
          'How often its prices are read, in ms.',
        ),
      })
      .optional()
      .meta({
        description:
          'Instead of start prices and recordings: the public prices of another exchange, read without keys. Needs speed 1.',
      }),
    candlePath: z
      .enum(['random', 'highFirst', 'lowFirst'])
      .default('random')
      .meta({
        description:
          'What happens between the four prices of a candle, which nobody recorded: a random walk, or straight ' +
          'lines to the high first or to the low first. A result that depends on it is no result.',
      }),
  })
  .meta({ description: 'Where simulated prices come from.' })

const probability = (description: string) =>
  z.number().min(0).max(1).default(0).meta({ description })

const faultsSchema = z
  .strictObject({
    requestDropped: probability('The request never arrives and nothing is ever answered.'),
    gatewayErrorBefore: probability('Status 502 with a page of HTML; the request never arrived.'),
    tooManyRequests: probability(
      'Status 429 although no limit was met; the request was not carried out.',
    ),
    answerLost: probability('The request is carried out, then the connection is reset.'),
    gatewayErrorAfter: probability(
      'The request is carried out, then status 500 with a page of HTML.',
    ),
    truncatedBody: probability('The request is carried out, then half of the answer comes.'),
    garbageBody: probability('The request is carried out, then an answer comes that is no JSON.'),
    delayedAnswer: probability(
      'The request is carried out, and the answer comes 1 to 5 seconds late.',
    ),
  })
  .meta({
    description:
      'Misbehaviour on purpose: the probability of each kind, for every request, from 0 to 1.',
  })

const limitsSchema = z
  .strictObject({
    counting: z.enum(['sliding', 'fixed', 'bucket']).default('sliding').meta({
      description:
        'How calls a second are counted. The document does not say; sliding is the strictest.',
    }),
    overallCalls: presetNumber(
      { min: 0, max: 1_000_000, preset: 0 },
      'Calls of one address in a minute, all endpoints together, before it is answered with 429 for five minutes. The document has no such limit; a vendor of this API names 6000. 0: none.',
    ),
  })
  .meta({ description: 'How the simulated exchange counts its rate limits.' })

const simulatorShape = {
  seed: wholeNumber({ min: 0, max: 4_294_967_295 }, 'Same seed, same market, same behaviour.'),
  stepMs: presetNumber(
    { min: 10, max: 60_000, preset: 100 },
    'Time between two market moves, in ms.',
  ),
  speed: z
    .number()
    .min(0.01)
    .max(10_000)
    .default(1)
    .meta({ description: 'Market time over real time; 1 is real time.' }),
  market: marketSchema,
  makerFeeRate: signedDecimal(
    'Fee of an order that rested, as a share of the notional; negative is a rebate.',
  ).default('0.0002'),
  takerFeeRate: signedDecimal('Fee of an order that took, as a share of the notional.').default(
    '0.0006',
  ),
  feeCoin: z
    .strictObject({
      name: z
        .string()
        .regex(/^[A-Z0-9]{2,12}$/)
        .meta({ title: 'a coin in capitals such as BGB', description: 'The coin.' }),
      price: positiveDecimal(
        'Margin coin for one of it, where no configured instrument (such as BGBUSDT) has its price.',
      ).default('1.25'),
      balance: positiveDecimal(
        'How much of it the account begins with: when that is used up, fees are taken in the margin coin.',
      ).default('1000'),
    })
    .optional()
    .meta({
      description:
        'A coin in which fees are taken, as exchanges do with their own. Absent: the margin coin. In a backtest fees are always taken in the margin coin.',
    }),
  limits: limitsSchema.prefault({}),
  idempotency: z
    .enum(['replay', 'duplicateError', 'pendingOnly'])
    .default('duplicateError')
    .meta({
      description:
        'What a clientOid sent twice gets within the 20 minutes of the document: the first answer again ' +
        '(replay), or a duplicate error. pendingOnly, against the document, knows it only while its order is ' +
        'open: after that it makes a second order.',
    }),
  businessErrorStatus: z.literal([200, 400]).default(400).meta({
    description: 'HTTP status of a refused request. Sources disagree; the client must bear both.',
  }),
  fillModel: z
    .enum(['pessimistic', 'default', 'optimistic'])
    .default('default')
    .meta({
      description:
        'What is assumed of fills, since nobody knows what a market would have done with one more order: see ' +
        'docs/simulator.md. A result that holds under one of them alone is no result.',
    }),
  delisting: z.enum(['close', 'hold']).default('close').meta({
    description:
      'What becomes of positions of an instrument whose recording ends before the others: closed at its last price, as at a delivery, or held at it without funding.',
  }),
  deliveryConfigMs: presetNumber(
    { min: 0, max: 86_400_000, preset: 600_000 },
    'How long a newly listed delivery contract is shown (delivery_config_period) before it is traded, in ms.',
  ),
  entryLatencyMs: presetNumber(
    { min: 0, max: 60_000, preset: 10 },
    'From an order at the exchange to its place in the market, in ms: the median of what is drawn.',
  ),
  answerDelayMs: presetNumber(
    { min: 0, max: 60_000, preset: 5 },
    'How long each answer takes, in ms: the median of what is drawn.',
  ),
  latencySpread: z.number().min(0).max(2).default(0.5).meta({
    description:
      'Standard deviation of the logarithm of both. 0 is always the median; with 0.5 one in a hundred takes 3.2 times as long.',
  }),
  matchingLagMs: presetNumber(
    { min: 0, max: 60_000, preset: 0 },
    'How long after its answer an accepted order cannot trade yet, in ms; on top of the entry latency.',
  ),
  fillVisibilityLagMs: presetNumber(
    { min: 0, max: 60_000, preset: 0 },
    'How long after it happened a fill becomes readable, in ms.',
  ),
  timestampToleranceMs: presetNumber(
    { min: 1000, max: 600_000, preset: 30_000 },
    'How far a signed timestamp may be from the exchange clock, in ms.',
  ),
  faults: faultsSchema.prefault({}),
}

const demoPast = (preset: boolean) =>
  z
    .boolean()
    .default(preset)
    .meta({
      description:
        'Whether every account is given a past at its first start: spot orders, withdrawals, conversions, liquidations ' +
        'and margin orders in every state, and the month of a copy trader.',
    })

/** Section `simulator:` of the main file. */
export const embeddedSimulatorSchema = z
  .strictObject({
    ...simulatorShape,
    startingBalance: positiveDecimal('Margin coin in the account at the start.'),
    leverage: presetNumber({ min: 1, max: 125, preset: 10 }, 'Leverage of every instrument.'),
    demoPast: demoPast(false),
  })
  .meta({
    description:
      'The exchange simulator inside the daemon; only with environment simulator and no baseUrl.',
  })

/** A server has a gateway, and clients that may overload it. */
const serverLimitsSchema = limitsSchema
  .extend({
    refusedCallsCount: z.boolean().default(true).meta({
      description:
        'Whether a refused call counts too: then whoever keeps hammering is never served again.',
    }),
    gatewayCalls: presetNumber(
      { min: 1, max: 10_000, preset: 10 },
      'Calls a second of one client at the signed gateway before it is answered with 429.',
    ),
  })
  .meta({ description: 'How the simulated exchange counts its rate limits.' })

/** config/simulator.yaml (`intentd simulate`). */
export const simulatorFileSchema = z
  .strictObject({
    host: z
      .enum(['127.0.0.1', '::1', 'localhost'])
      .default('127.0.0.1')
      .meta({ description: 'Address to listen on; loopback only.' }),
    port: presetNumber(
      { min: 0, max: 65_535, preset: 8700 },
      'Port to listen on; 0 takes a free one.',
    ),
    ...simulatorShape,
    limits: serverLimitsSchema.prefault({}),
    readings: readingsSchema.prefault({}),
    services: servicesSchema.prefault({}),
    demoPast: demoPast(true),
    instruments: instrumentsSchema,
    accounts: z
      .array(simulatedAccountSchema)
      .min(1)
      .max(100)
      .meta({ description: 'Who may trade here.' }),
  })
  .meta({ title: 'the simulator settings', description: 'Settings of `intentd simulate`.' })

export type EmbeddedSimulatorSettings = z.infer<typeof embeddedSimulatorSchema>
export type SimulatorMarket = z.infer<typeof marketSchema>
export type SimulatorFile = z.infer<typeof simulatorFileSchema>
