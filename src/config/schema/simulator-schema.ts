import { z } from 'zod'
import { positiveDecimal, presetNumber, signedDecimal, wholeNumber } from './setting-values.ts'
import { accountShape, instrumentsSchema, symbolSchema } from './exchange-schema.ts'

const gatewayClientSchema = z
  .strictObject({
    isWhitelisted: z.boolean().default(true).meta({
      description: 'Whether it is on the whitelist; a client that is not is answered with 403.',
    }),
  })
  .meta({ description: 'A client of the signed gateway, with a key and a secret of its own.' })

const simulatedAccountSchema = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,31}$/)
      .meta({
        title: 'a name such as "alice" (lower case letters, digits, -)',
        description:
          'Its API credentials are made from this and the seed, so that they are the same at every start: play money.',
      }),
    ...accountShape,
    startingBalance: positiveDecimal('Margin coin in the account at the start.'),
    leverage: presetNumber({ min: 1, max: 125, preset: 10 }, 'Leverage of every instrument.'),
    role: z.enum(['ordinary', 'copyTrader']).default('ordinary').meta({
      description:
        'Whether others copy its trades: only a copyTrader has copy settings and followers.',
    }),
    boundToIps: z
      .array(z.union([z.ipv4(), z.ipv6()]).meta({ title: 'an IP address such as "127.0.0.1"' }))
      .min(1)
      .max(20)
      .optional()
      .meta({
        description:
          'Addresses that its API key is bound to: refused from any other. Absent: bound to none, and refused ' +
          'where the exchange wants a bound key.',
      }),
    demo: z.boolean().optional().meta({
      description:
        'true: its key is one of a demo environment, and refused (40099) without the header paptrading: 1; false: refused with it. Absent: it makes no difference.',
    }),
    boundAt: z.iso.datetime({ offset: true }).optional().meta({
      title: 'an instant such as "2026-01-31T12:00:00Z"',
      description:
        'Makes it a managed sub-account, bound to its manager at this time: earlier fills and spot orders are not shown.',
    }),
    gateway: gatewayClientSchema.optional(),
  })
  .meta({ description: 'One account of the simulated exchange.' })

/** The API document leaves these open. */
export const readingsSchema = z
  .strictObject({
    postOnlyCross: z.enum(['reject', 'cancel']).default('reject').meta({
      description: 'A post-only order that would take: refused, or accepted and cancelled at once.',
    }),
    cancelAllEmpty: z.enum(['error', 'emptyLists']).default('error').meta({
      description: 'A cancel-all with nothing to cancel: error 22001, or two empty lists.',
    }),
    reduceOnlyExcess: z.enum(['cancelOlder', 'reject']).default('cancelOlder').meta({
      description:
        'Reduce-only orders beyond the position: older ones are cancelled, or the new is refused.',
    }),
    hedgeCloseExcess: z
      .enum(['closeRemainder', 'reject', 'cancelResting'])
      .default('closeRemainder')
      .meta({ description: 'A close beyond what is available in hedge mode.' }),
    oneWayTradeSide: z.enum(['openClose', 'single']).default('openClose').meta({
      description:
        'tradeSide of fills in one-way mode: open and close, or buy_single and the like.',
    }),
    selfTrades: z.enum(['never', 'meet']).default('never').meta({
      description:
        'An order with stpMode none that reaches a resting one of its own account: both trade with the market alone, or with each other; then both fills have one tradeId.',
    }),
    presetTriggerType: z
      .enum(['fill_price', 'mark_price'])
      .default('fill_price')
      .meta({ description: 'What preset take-profits and stop-losses watch.' }),
    unknownParameters: z
      .enum(['ignore', 'refuse'])
      .default('ignore')
      .meta({ description: 'What happens to parameters that no endpoint has.' }),
    limitAboveMaximum: z
      .enum(['refuse', 'cut'])
      .default('refuse')
      .meta({
        description:
          'A limit above the maximum of a page: refused with 40053, or cut in silence. Clients report that the real ' +
          'exchange cuts: its pages then look like the last one.',
      }),
  })
  .meta({
    description:
      'How the exchange reads what its document leaves open: a client must bear them all.',
  })

const platformCoinSchema = z
  .strictObject({
    name: z
      .string()
      .regex(/^[A-Z0-9]{2,12}$/)
      .default('HOUSE')
      .meta({
        title: 'a coin in capitals such as HOUSE',
        description: 'In small letters it stands in a path.',
      }),
    price: positiveDecimal('About what it is worth, in USDT.').default('1.25'),
  })
  .meta({
    description: "The platform's own coin: pays fees, and small balances are converted into it.",
  })

const coinSchema = z
  .string()
  .regex(/^[A-Z0-9]{2,12}$/)
  .meta({ title: 'a coin in capitals such as USDT' })

const spotSchema = z
  .strictObject({
    opening: z
      .record(coinSchema, positiveDecimal('Amount of the coin.'))
      .default({ USDT: '50000', BTC: '0.8', ETH: '12' })
      .meta({ description: 'What every account has in its spot account at the start.' }),
    platformOpening: positiveDecimal("The same of the platform's own coin.").default('400'),
    deductsFees: z.boolean().default(false).meta({
      description: "Whether fees are paid in the platform's own coin while there is any.",
    }),
    deductionRatio: positiveDecimal(
      'What of a fee remains then: 0.8 is a discount of 20 %.',
    ).default('0.8'),
  })
  .meta({ description: 'The spot service.' })

const marginSchema = z
  .strictObject({
    liquidationRatio: positiveDecimal('Risk ratio at which the platform takes over.').default('1'),
    isolatedMaintenanceRate: positiveDecimal('Of the debts, isolated.').default('0.05'),
    crossedMaintenanceRate: positiveDecimal('Of the debts, crossed.').default('0.1'),
    liquidationFeeRate: signedDecimal('Of what forced orders traded.').default('0.01'),
    loanTermMs: presetNumber(
      { min: 1000, max: 31_536_000_000, preset: 7_776_000_000 },
      'A crossed loan older than this is repaid by the system at the next full hour, in ms.',
    ),
    liquidationSide: z.enum(['hyphen', 'underscore']).default('hyphen').meta({
      description:
        'liquidation-sell as in the sample of the document, or liquidation_sell as in its table.',
    }),
    openOrdersMax: presetNumber(
      { min: 0, max: 10_000, preset: 200 },
      'Open orders an account may have in each mode.',
    ),
  })
  .meta({ description: 'The margin service.' })

const convertSchema = z
  .strictObject({
    feeRate: signedDecimal('A share of what is received: 0.02 is 2 %.').default('0.02'),
  })
  .meta({ description: 'The conversion service.' })

const subaccountsSchema = z
  .strictObject({
    subaccountsMax: presetNumber(
      { min: 0, max: 1000, preset: 20 },
      'Sub-accounts that one account may have.',
    ),
  })
  .meta({ description: 'The sub-account service.' })

const servicesSchema = z
  .strictObject({
    platformCoin: platformCoinSchema.prefault({}),
    spot: spotSchema.prefault({}),
    margin: marginSchema.prefault({}),
    convert: convertSchema.prefault({}),
    subaccounts: subaccountsSchema.prefault({}),
  })
  .meta({ description: 'The services beside futures.' })

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

const probability = z.number().min(0).max(1).default(0)

const faultsSchema = z
  .strictObject({
    requestDropped: probability.describe('The request never arrives and nothing is ever answered.'),
    gatewayErrorBefore: probability.describe(
      'Status 502 with a page of HTML; the request never arrived.',
    ),
    tooManyRequests: probability.describe(
      'Status 429 although no limit was met; the request was not carried out.',
    ),
    answerLost: probability.describe('The request is carried out, then the connection is reset.'),
    gatewayErrorAfter: probability.describe(
      'The request is carried out, then status 500 with a page of HTML.',
    ),
    truncatedBody: probability.describe(
      'The request is carried out, then half of the answer comes.',
    ),
    garbageBody: probability.describe(
      'The request is carried out, then an answer comes that is no JSON.',
    ),
    delayedAnswer: probability.describe(
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

const DEMO_PAST = {
  description:
    'Whether every account is given a past at its first start: spot orders, withdrawals, conversions, liquidations ' +
    'and margin orders in every state, and the month of a copy trader.',
}

export const embeddedSimulatorSchema = z
  .strictObject({
    ...simulatorShape,
    startingBalance: positiveDecimal('Margin coin in the account at the start.'),
    leverage: presetNumber({ min: 1, max: 125, preset: 10 }, 'Leverage of every instrument.'),
    demoPast: z.boolean().default(false).meta(DEMO_PAST),
  })
  .meta({
    description:
      'The exchange simulator inside the daemon; only with environment simulator and no baseUrl.',
  })

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
    demoPast: z.boolean().default(true).meta(DEMO_PAST),
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
