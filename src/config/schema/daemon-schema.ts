import { z } from 'zod'
import { alertsSchema, chatSchema } from './alerts-schema.ts'
import { positiveAmount, positiveDecimal, presetNumber, wholeNumber } from './setting-values.ts'
import {
  accountShape,
  leverageSchema,
  sharedLimitsSchema,
  tradedInstrumentsSchema,
} from './exchange-schema.ts'
import { journalSchema } from './journal-schema.ts'
import { riskSchema } from './risk-schema.ts'
import { manualSchema } from './strategy-schema.ts'
import { signalsSchema } from './signals-schema.ts'
import { embeddedSimulatorSchema } from './simulator-schema.ts'

export const PROXY_LOGIN = 'INTENTD_PROXY_LOGIN'

export const FROM_ENVIRONMENT = 'environment'

const exchangeSchema = z
  .strictObject({
    baseUrl: z
      .url({ protocol: /^https?$/ })
      .optional()
      .meta({
        title: 'an address such as "https://api.example.com"',
        description:
          'Address of the exchange, nothing after the host and port. Absent: the simulator inside the daemon.',
      }),
    gatewayUrl: z
      .url({ protocol: /^https?$/ })
      .optional()
      .meta({
        title: 'an address such as "https://gateway.example.com"',
        description: 'Address of the signed gateway, where it is another one than baseUrl.',
      }),
    proxy: z
      .union([z.literal(FROM_ENVIRONMENT), z.url({ protocol: /^https?$/ })])
      .optional()
      .meta({
        title: '"environment", or an address such as "http://proxy.example:3128"',
        description:
          'Forward proxy through which the exchange and the targets of alerts are called, never this machine itself. environment: as HTTPS_PROXY, HTTP_PROXY and NO_PROXY say. A login stands in INTENTD_PROXY_LOGIN. Absent: none.',
      }),
    platformCoin: z
      .string()
      .regex(/^[a-z0-9]{1,20}$/)
      .optional()
      .meta({
        title: 'a ticker in small letters',
        description: "The platform's own coin, which stands in the path of the conversion history.",
      }),
    requestTimeoutMs: presetNumber(
      { min: 100, max: 60_000, preset: 5000 },
      'How long a call may take before its outcome counts as unknown, in ms.',
    ),
    answerBytesMax: presetNumber(
      { min: 65_536, max: 67_108_864, preset: 8_388_608 },
      'Largest answer that is read, in bytes.',
    ),
    locale: z
      .string()
      .regex(/^[a-z]{2}-[A-Z]{2}$/)
      .default('en-US')
      .meta({
        title: 'a language such as "en-US"',
        description: "Language of the exchange's messages.",
      }),
    limitsUse: z.number().positive().max(1).default(1).meta({
      description:
        'Share of the documented rate limits this daemon may use; below 1 leaves room for others.',
    }),
    demo: z.boolean().default(false).meta({
      description:
        'Whether the keys are those of the demo environment of an exchange that has it at its one address: each signed call then carries the header paptrading: 1. Keys of real money are refused with it.',
    }),
    beyondDocument: z.boolean().default(false).meta({
      description:
        'Whether public endpoints of the exchange that are not in the API document may be read: candles, contracts and funding rates. Nothing needs them: if a call fails, that is said once, and everything goes on as without them.',
    }),
    beyondDocumentPrivate: z.boolean().default(false).meta({
      description:
        'Whether two signed calls that are not in the API document may be made: the list of pending trigger orders, and the one that moves an exit of a position. By them stops that the exchange keeps (`exits.stop.atExchange`) are moved with the exits of their strategy. Without it such a stop stays where it was set.',
    }),
    shared: sharedLimitsSchema.optional(),
  })
  .meta({ description: 'The exchange and how it is called.' })

const marginPair = z
  .string()
  .regex(/^[A-Z0-9]{2,40}$/)
  .meta({ title: 'a pair such as BTCUSDT' })

const pollingSchema = z
  .strictObject({
    // The document allows 20 ticker calls a second.
    tickersMs: presetNumber(
      { min: 50, max: 60_000, preset: 250 },
      'Time between two reads of all tickers, in ms.',
    ),
    positionsMs: presetNumber(
      { min: 100, max: 60_000, preset: 1000 },
      'Time between two reads of a position, in ms.',
    ),
    fillsMs: presetNumber(
      { min: 100, max: 60_000, preset: 500 },
      'Time between two reads of the fills, in ms.',
    ),
    margin: z
      .strictObject({
        everyMs: presetNumber(
          { min: 5000, max: 3_600_000, preset: 60_000 },
          'Time between two reads, in ms.',
        ),
        symbols: z.array(marginPair).max(20).default([]).meta({
          description:
            'Pairs whose open margin orders are read: the exchange lists them by pair alone. Liquidations are read of all pairs.',
        }),
      })
      .optional()
      .meta({
        description:
          'Reads the margin account (isolated and crossed), behind everything that trades, and logs each order and each liquidation once, with an alert. Absent: it is not read.',
      }),
  })
  .meta({ description: 'How often the exchange is read, on a grid of absolute times.' })

const withdrawalSchema = z
  .strictObject({
    addresses: z
      .array(
        z.strictObject({
          address: z.string().min(1).max(4096).meta({
            description:
              'To the letter; of an internal transfer uid:…, email:… or mobile:<area code>:…',
          }),
          tag: z
            .string()
            .min(1)
            .max(200)
            .optional()
            .meta({ description: 'The one tag allowed with it; absent: none.' }),
          coin: z
            .string()
            .min(1)
            .max(30)
            .optional()
            .meta({ description: 'The one coin allowed to it; absent: any.' }),
          chain: z
            .string()
            .min(1)
            .max(60)
            .optional()
            .meta({ description: 'The one chain allowed to it; absent: any.' }),
        }),
      )
      .max(100)
      .default([])
      .meta({ description: 'Where coins may be sent. Absent or empty: nowhere.' }),
  })
  .meta({
    description: 'What `intentd call spotWithdrawal` may do. The daemon itself never withdraws.',
  })

const calendarPattern = z
  .string()
  .min(1)
  .max(100)
  .meta({ title: 'a cron pattern such as "0 0 0 * * *"' })

const calendarSchema = z
  .strictObject({
    funding: calendarPattern
      .describe('When funding is paid (cron; the first of six fields is seconds).')
      .default('5 0 0,8,16 * * *'),
    dayRoll: calendarPattern
      .describe('When the account is written to the log for the day (cron).')
      .default('0 0 0 * * *'),
    timezone: z.string().min(1).max(64).default('UTC').meta({
      title: 'a time zone such as "UTC" or "Europe/Berlin"',
      description:
        'Time zone of the patterns. What is due within an hour that it skips in spring runs when that is over; what is due in one that comes twice in autumn runs once.',
    }),
  })
  .meta({ description: 'What happens at a time of day.' })

/** Values of orders and positions must not be guessed, so they have no default. */
const executionSchema = z
  .strictObject({
    batchOrdersMax: presetNumber({ min: 1, max: 50, preset: 50 }, 'Most orders in one batch.'),
    // Assumption A2 of docs/orders.md.
    fillVisibilityMs: presetNumber(
      { min: 0, max: 60_000, preset: 3000 },
      'How long after it happened a fill may stay unreadable, in ms.',
    ),
    // Assumption A1 of docs/orders.md.
    acceptanceWindowMs: presetNumber(
      { min: 1000, max: 600_000, preset: 35_000 },
      'How long after it was signed a request can still be accepted by the exchange, in ms.',
    ),
    unwantedMsMax: presetNumber(
      { min: 0, max: 600_000, preset: 15_000 },
      'How long an order that nobody wants any more may rest at most, in ms. It is cancelled sooner when few ' +
        'wanted orders rest on its instrument, because a cancel-all takes those too.',
    ),
    displacedWithinMs: presetNumber(
      { min: 100, max: 600_000, preset: 10_000 },
      'How long after a cancel-all was answered a wanted order that it took away may be missing before that is ' +
        'reported, in ms. Longer than fillVisibilityMs: nothing is placed before the fills of meanwhile are known.',
    ),
    takerCollarRatio: z.number().positive().max(0.5).default(0.002).meta({
      description:
        'How far through the best price a taking order may reach, as a share of the price.',
    }),
  })
  .meta({ description: 'How orders are batched, sent and cleared up.' })

const backtestSchema = z
  .strictObject({
    // With slower polls the clock measurement would be too old.
    pollMs: wholeNumber(
      { min: 50, max: 60_000 },
      'Time between two reads of all tickers in a backtest, in ms. Absent: as `polling` says, which takes hours for a month.',
    ).optional(),
    accountMs: wholeNumber(
      { min: 100, max: 60_000 },
      'Time between two reads of fills and of positions in a backtest, in ms. What is known of the account is too old ' +
        'after three of them. Absent: as often as prices, but every 30000 at least.',
    ).optional(),
    latencyMs: presetNumber(
      { min: 0, max: 10_000, preset: 20 },
      'One way between the daemon and the exchange in a backtest, in ms.',
    ),
  })
  .meta({ description: 'What `intentd backtest` does otherwise than a live run.' })

const controlSchema = z
  .strictObject({
    port: wholeNumber(
      { min: 0, max: 65_535 },
      'Port of the control interface on this machine; 0 takes one that is free. Absent: only the socket.',
    ).optional(),
    host: z.enum(['127.0.0.1', '::1']).default('127.0.0.1').meta({
      description: 'Loopback address of the port. Other machines reach it by an SSH tunnel.',
    }),
    tokenFile: z
      .string()
      .min(1)
      .max(400)
      .optional()
      .meta({
        description:
          'Holds the token that every request to the port shows, readable by its owner alone; relative to this file. ' +
          'Made anew by each process. Absent: control.token in state.directory.',
      }),
    readTokenFile: z
      .string()
      .min(1)
      .max(400)
      .optional()
      .meta({
        description:
          'Holds a second token, for Prometheus and others who only look: commands are refused. Its group may read it too; ' +
          'relative to this file. Made where there is none, for the group of a folder with setgid. Absent: control.read.token in state.directory.',
      }),
    readOnly: z
      .boolean()
      .default(false)
      .meta({ description: 'Whether commands are refused there, by socket, port and /mcp.' }),
    agents: z
      .strictObject({
        research: z.boolean().default(false).meta({
          description:
            'Whether it may run backtests, check-bias and the tests of strategies: one at a time, with low priority.',
        }),
        safer: z.boolean().default(false).meta({
          description:
            'Whether it may restrict, flatten and kill. What it has done stays until a person ends it.',
        }),
        propose: z.boolean().default(false).meta({
          description:
            'Whether it may propose a release, an adoption or a reload, which a person confirms with a one-time code (`intentd pair`).',
        }),
        strategies: z.string().min(1).optional().meta({
          title: 'a folder such as "../drafts"',
          description:
            'Where it may begin strategies (`intentd new-strategy`), relative to this file, with `research`; it writes new files there and nothing else. Strategies there never run inline, and it runs no tests. Absent: nowhere.',
        }),
        http: z.boolean().default(false).meta({
          description:
            'Whether /mcp of `port` leads to `intentd mcp --http`, which then runs beside the daemon, for programs that show the token in control.agent.token of state.directory.',
        }),
      })
      .prefault({})
      .meta({
        description:
          'What an assistant may do that is served by `intentd mcp`. Without it, it looks.',
      }),
  })
  .meta({ description: 'The control interface of a running daemon.' })

export const recordSectionSchema = z.strictObject({
  enabled: z.boolean().default(true).meta({ description: 'Whether anything is recorded.' }),
  // Holds some hours of a busy day.
  segmentBytesMax: presetNumber(
    { min: 65_536, max: 1_073_741_824, preset: 67_108_864 },
    'A file of the recording is followed by the next one at this size, in bytes.',
  ),
  totalBytesMax: presetNumber(
    { min: 262_144, max: 1_099_511_627_776, preset: 1_073_741_824 },
    'Beyond this size of all of them the oldest files are removed, in bytes.',
  ),
})

const recordSchema = z.union([z.boolean(), recordSectionSchema]).default(false).meta({
  title: 'true, false, or a section',
  description:
    'Keeps all that the core is told and does, compressed, in recordings/ of the state directory, for `intentd replay`.',
})

const recordUniverseSchema = z
  .strictObject({
    enabled: z.boolean().default(false).meta({ description: 'Whether they are kept.' }),
    // A day of 600 instruments takes less than 20 MB.
    totalBytesMax: presetNumber(
      { min: 67_108_864, max: 1_099_511_627_776, preset: 4_294_967_296 },
      'Beyond this size of all files the oldest days are removed, in bytes.',
    ),
  })
  .prefault({})
  .meta({
    description:
      'Keeps the tickers of all instruments, once a minute, and their contracts in universe/ of the state directory, for `intentd backtest --universe`: as `intentd record --universe` does, but of the answers that the daemon trades on.',
  })

export const CONFIG_VERSION = 1

/** The event loop signals four times a second, so a shorter time would end a healthy daemon. */
const HUNG_AFTER_MS_MIN = 1000

export const daemonFileSchema = z
  .strictObject({
    version: wholeNumber(
      { min: 1, max: 1_000_000 },
      'Layout of this file. A newer one than the program knows is refused. Absent: 1.',
    ).optional(),
    name: z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,31}$/)
      .meta({
        title: 'a name such as "paper" (lower case letters, digits, -; at most 32)',
        description: 'Names this daemon in its lock and logs.',
      }),
    environment: z.enum(['simulator', 'demo', 'live']).meta({
      description:
        'simulator: no real exchange. demo: the exchange with play money. live: real money.',
    }),
    confirmLive: z
      .boolean()
      .default(false)
      .meta({ description: 'Must be true with environment live.' }),
    exchange: exchangeSchema.prefault({}),
    account: z
      .strictObject({
        ...accountShape,
        leverage: leverageSchema
          .describe(
            'Leverage of every instrument at the exchange: nothing is added to a position that has another. Absent: a change of it is logged.',
          )
          .optional(),
        exclusive: z
          .boolean()
          .default(false)
          .meta({
            description:
              'Whether nobody else, no person and no program, has orders of the product type in this account. Then ' +
              'one call may cancel the orders of all instruments at once; with false each is cancelled by name.',
          }),
        capital: positiveAmount(
          'Margin coin in the account when the journal began: what equity is counted from. Absent: of a simulator its startingBalance, else unknown. Deposits and withdrawals after that are entered with `intentd deposit` and `intentd withdrawal`; leave it as it is then.',
        ).optional(),
        feeCoins: z
          .record(
            z
              .string()
              .regex(/^[A-Z0-9]{2,20}$/)
              .meta({ title: 'a coin in capitals such as BGB' }),
            positiveDecimal('Margin coin for one of the coin.'),
          )
          .default({})
          .meta({
            description:
              'What a coin in which fees are taken is worth, for example BGB: "4.2". Used where the tickers of the product type have no price of it (BGBUSDT). A fee in a coin without a price is shown as not counted.',
          }),
        keys: z
          .string()
          .regex(/^(?!API$|ALERT$)[A-Z][A-Z0-9]{0,31}$/)
          .optional()
          .meta({
            title: 'capitals and digits such as "BOB"',
            description:
              'Names the variables of its keys: with BOB they are INTENTD_BOB_API_KEY, INTENTD_BOB_API_SECRET and INTENTD_BOB_API_PASSPHRASE. Absent: INTENTD_API_KEY and its like.',
          }),
        tier: z.enum(['ordinary', 'copyTrader']).default('ordinary').meta({
          description:
            'Which of the documented rate limits hold: others copy the trades of a copyTrader.',
        }),
      })
      .meta({ description: 'The account that is traded.' }),
    accounts: z.array(z.string().min(1).max(400)).max(100).optional().meta({
      description:
        'Further accounts that this daemon trades: a main file each, relative to this one, with its own keys, limits, state and strategies.',
    }),
    instruments: tradedInstrumentsSchema.default({}),
    polling: pollingSchema.prefault({}),
    calendar: calendarSchema.prefault({}),
    risk: riskSchema,
    execution: executionSchema.prefault({}),
    withdrawal: withdrawalSchema.prefault({}),
    state: z
      .strictObject({
        directory: z.string().min(1).max(400).meta({
          description:
            'Journal and lock; relative to this file, made with mode 0700. One daemon, one directory.',
        }),
        freeBytesMin: presetNumber(
          { min: 0, max: 1_000_000_000_000, preset: 67_108_864 },
          'With less free room on its disk nothing that adds risk is opened, in bytes.',
        ),
      })
      .meta({ description: 'What survives a restart.' }),
    journal: journalSchema.optional(),
    record: recordSchema,
    recordUniverse: recordUniverseSchema,
    control: controlSchema.prefault({}),
    supervision: z
      .strictObject({
        hungAfterMs: z
          .int()
          .min(0)
          .max(600_000)
          .refine((ms) => ms === 0 || ms >= HUNG_AFTER_MS_MIN, {
            message: `expected 0 (never) or at least ${HUNG_AFTER_MS_MIN}: a loop that turns shows it four times a second`,
          })
          .default(10_000)
          .meta({
            description:
              'The event loop stands still for so long, in ms: the process ends by SIGABRT, and the strategy whose ' +
              `code ran is halted at the next start. 0: never; otherwise at least ${HUNG_AFTER_MS_MIN}.`,
          }),
      })
      .prefault({})
      .meta({ description: 'What a daemon that hangs does.' }),
    dryRun: z
      .boolean()
      .default(false)
      .meta({
        description:
          'The account is read, and everything is decided, planned and logged, but nothing is sent. Its state is kept ' +
          'apart, in the folder dry-run of state.directory. Wants onRestart: adopt and onStop: leave.',
      }),
    onStop: z.enum(['leave', 'cancel', 'flatten']).default('leave').meta({
      description:
        'At an orderly stop: leave orders, cancel them, or cancel them and close positions.',
    }),
    onRestart: z
      .enum(['cancel', 'adopt'])
      .default('cancel')
      .meta({ description: 'At the start: cancel what still rests, or take it over.' }),
    log: z
      .strictObject({
        level: z
          .enum(['trace', 'debug', 'info', 'warn', 'error'])
          .default('info')
          .meta({ description: 'Least level that is logged.' }),
        heartbeatMs: presetNumber(
          { min: 0, max: 3_600_000, preset: 60_000 },
          'Time between two lines `daemon.heartbeat`, which are logged at every level, in ms; 0: none.',
        ),
      })
      .prefault({})
      .meta({ description: 'Logs go to standard output.' }),
    alerts: alertsSchema.optional(),
    chat: chatSchema.optional(),
    signals: signalsSchema.optional(),
    simulator: embeddedSimulatorSchema.optional(),
    backtest: backtestSchema.prefault({}),
    manual: manualSchema,
    strategies: z
      .array(z.string().min(1).max(400))
      .min(1)
      .max(100)
      .meta({ description: 'Strategy files, relative to this file.' }),
  })
  .meta({ title: 'the daemon settings', description: 'Settings of intentd.' })

export type DaemonFile = z.infer<typeof daemonFileSchema>
