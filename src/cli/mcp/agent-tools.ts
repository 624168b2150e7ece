import { z } from 'zod'
import { orderFields } from '../../control/commands.ts'
import {
  closedTradesSchema,
  journalFillsSchema,
  journalProfitSchema,
  storySchema,
} from '../../control/detail-views.ts'
import { type Power, powerOf } from '../../control/powers.ts'
import { ROWS_SHOWN_MAX, text } from '../../control/routes.ts'
import { universeSchema } from '../../control/universe-view.ts'
import {
  journalPlaceSchema,
  orderSchema,
  positionSchema,
  statusSchema,
} from '../../control/views.ts'
import { describeJournalPlace, type JournalPlace } from '../../domain/journal-place.ts'
import { ROW_GROUPS } from '../../domain/row-groups.ts'
import { describeStranger, whatIfSchema } from '../../control/what-if-view.ts'
import { describeProfitRows, describeUnexplained } from '../process/journal-words.ts'
import { type AgentTool, type ConfigWords, type NamedConfig, tool } from './agent-tool.ts'
import { bookedPath, explainPath, profitPath, readMoves, whatIfPath } from './live-paths.ts'

const WORD = /^[A-Za-z0-9*_][A-Za-z0-9*_:.#@/-]*$/
const word = text.min(1).regex(WORD)
const named = orderFields.name.regex(WORD)
const scope = orderFields.scope
  .regex(WORD)
  .meta({ description: "an instrument, strategy:ID, or '*' for the account" })
const symbol = word.meta({ description: 'an instrument, such as BTCUSDT' })
const strategy = word.meta({ description: 'the id of a strategy' })
const when = word.meta({ description: '10m, 2h or 7d ago, or an instant: 2025-06-02T06:00Z' })
const day = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?Z?)?$/)
  .meta({ description: 'UTC: 2025-06-01 or 2025-06-01T12:00' })
const limit = z
  .int()
  .min(1)
  .max(ROWS_SHOWN_MAX)
  .default(50)
  .meta({ description: 'at most so many' })
const span = {
  since: when.optional(),
  until: when.optional(),
}
const reason = orderFields.reason.meta({
  description: 'why, in a sentence; it is kept in the journal',
})

/**
 * Stays in the folder, because errors show lines of the file, and files elsewhere may be secret.
 */
const priceFile = z
  .string()
  .regex(/^(?:[A-Z0-9]{2,40}=)?(?!\.)[\w-][\w.-]*(?:\/(?!\.)[\w.-]+)*\.(?:csv|csv\.gz|json|jsonl)$/)
  .meta({ description: 'FILE or SYMBOL=FILE, below the folder that this program was started in' })

const sweepFile = z
  .string()
  .regex(/^(?!\.)[\w-][\w.-]*(?:\/(?!\.)[\w.-]+)*\.ya?ml$/)
  .meta({
    description:
      'the parameters to try, in YAML (docs/sweep.md): a file below the folder that this program was started in',
  })

const param = z
  .string()
  .regex(/^[\w-]+\.[\w.-]+=[\w.+-]{1,60}$/)
  .meta({ description: 'STRATEGY.PARAM=VALUE' })

const draftName = z.string().regex(/^[a-z][a-z0-9-]{0,31}$/)
const draft = draftName.optional().meta({
  description: 'a strategy that new_strategy has begun, by itself; absent: the configuration',
})

const play = {
  draft,
  market: z.array(priceFile).max(20).optional().meta({
    description: 'price files; absent: a made-up market of `days`',
  }),
  days: z.int().min(1).max(400).optional().meta({ description: 'length of the made-up market' }),
  from: day.optional(),
  to: day.optional(),
  params: z.array(param).max(50).optional(),
  seed: z.int().min(0).max(4_294_967_295).optional(),
}

const CHECK_MS = 120_000
/** The daemon reads its journal in a thread that may have to start. */
const READING_MS = 20_000
/** A kill ends with its proof. */
const KILL_MS = 150_000

function option(name: string, value: string | number | undefined): readonly string[] {
  return value === undefined ? [] : [`--${name}=${value}`]
}

function playWords(
  input: z.output<z.ZodObject<typeof play>>,
  { asArgument, draft: draftWords }: ConfigWords,
): readonly string[] {
  return [
    ...(input.draft === undefined ? asArgument : draftWords(input.draft).asArgument),
    ...(input.market ?? []).flatMap((file) => option('market', file)),
    ...option('days', input.days),
    ...option('from', input.from),
    ...option('to', input.to),
    ...(input.params ?? []).flatMap((one) => option('param', one)),
    ...option('seed', input.seed),
  ]
}

const bookedInput = z.strictObject({
  ...span,
  symbol: symbol.optional(),
  strategy: strategy.optional(),
  limit,
})

function bookedWords(
  { since, until, symbol: one, strategy: id, limit: most }: z.output<typeof bookedInput>,
  { asOption }: ConfigWords,
): readonly string[] {
  return [
    '--json',
    ...asOption,
    ...option('since', since),
    ...option('until', until),
    ...option('symbol', one),
    ...option('strategy', id),
    ...option('limit', most),
  ]
}

/**
 * A standby reads no journal, and its run is 0. The command says whether a strategy or an
 * instrument without rows is known.
 */
function needsCommand(
  rows: readonly unknown[],
  { run }: JournalPlace,
  { strategy: id, symbol: one }: Partial<z.output<typeof bookedInput>>,
): boolean {
  return run === 0 || (rows.length === 0 && (id !== undefined || one !== undefined))
}

/** Each tool is a command, so every way to ask gives the same figures. */
export const AGENT_TOOLS: readonly AgentTool[] = [
  tool({
    name: 'status',
    verb: 'status',
    description:
      'Everything at a glance: mode and reasons, ages of data, positions, orders, profit, equity, limits. Also from the journal where no daemon runs.',
    input: z.strictObject({}),
    data: statusSchema,
    path: () => '/v1/status',
    words: (_, { asOption }) => ['--json', ...asOption],
  }),
  tool({
    name: 'positions',
    verb: 'positions',
    description: 'What the account holds, which strategy holds it, and how far a liquidation is.',
    input: z.strictObject({}),
    data: z.array(positionSchema),
    path: () => '/v1/positions',
    words: (_, { asOption }) => ['--json', ...asOption],
  }),
  tool({
    name: 'orders',
    verb: 'orders',
    description: 'Orders that are not over, those of unknown outcome too.',
    input: z.strictObject({ symbol: symbol.optional(), strategy: strategy.optional() }),
    data: z.array(orderSchema),
    path: () => '/v1/orders',
    choose: (orders, { strategy: id, symbol: one }) =>
      orders.filter(
        (order) =>
          order.strategy === (id ?? order.strategy) && order.symbol === (one ?? order.symbol),
      ),
    words: (input, { asOption }) => [
      '--json',
      ...asOption,
      ...option('symbol', input.symbol),
      ...option('strategy', input.strategy),
    ],
  }),
  tool({
    name: 'fills',
    verb: 'fills',
    description: 'Fills from the journal, of all runs: the last ones of a span.',
    input: bookedInput,
    data: journalFillsSchema.shape.fills,
    answer: journalFillsSchema,
    path: (input) => bookedPath('/v1/journal/fills', input),
    liveMs: READING_MS,
    choose: ({ fills, journal }, input) =>
      needsCommand(fills, journal, input) ? undefined : fills,
    notes: ({ journal }) => `from ${describeJournalPlace(journal)}\n`,
    words: bookedWords,
  }),
  tool({
    name: 'trades',
    verb: 'trades',
    description:
      'Closed trades from the journal, each of one strategy from flat to flat: entry, exit, hold, net, reason.',
    input: bookedInput,
    data: z.array(closedTradesSchema.shape.trades.element.extend({ journal: journalPlaceSchema })),
    answer: closedTradesSchema,
    path: (input) => bookedPath('/v1/trades', input),
    liveMs: READING_MS,
    choose: ({ trades, journal }, input) =>
      needsCommand(trades, journal, input)
        ? undefined
        : trades.map((trade) => ({ ...trade, journal })),
    notes: ({ unexplained, journal }) =>
      [...unexplained.map(describeUnexplained), `from ${describeJournalPlace(journal)}\n`].join(''),
    words: bookedWords,
  }),
  tool({
    name: 'profit',
    verb: 'profit',
    description:
      'What trading has made, from the journal: realised profit, fees, funding, by day, week, month, strategy, instrument or coin.',
    data: z.array(journalProfitSchema.shape.rows.element.extend({ journal: journalPlaceSchema })),
    answer: journalProfitSchema,
    path: profitPath,
    liveMs: READING_MS,
    choose: ({ rows, journal }) =>
      needsCommand(rows, journal, {}) ? undefined : rows.map((row) => ({ ...row, journal })),
    notes: ({ journal }, { by }) => `from ${describeProfitRows(journal, by)}`,
    input: z.strictObject({ ...span, by: z.enum(ROW_GROUPS).default('day') }),
    words: (input, { asOption }) => [
      '--json',
      ...asOption,
      ...option('by', input.by),
      ...option('since', input.since),
      ...option('until', input.until),
    ],
  }),
  tool({
    name: 'explain',
    verb: 'explain',
    description:
      'The whole history of an order, or why an instrument did what it did, from the journal with its sequence numbers.',
    input: z.strictObject({
      subject: word.meta({
        description: 'a symbol, a clientOid, an intent key, or the tradeId or orderId of a fill',
      }),
      since: when.optional().meta({ description: 'of a symbol: 10m or 2h ago, or an instant' }),
      limit: limit.meta({ description: 'the newest moments, at most so many' }),
    }),
    data: z.array(storySchema),
    path: explainPath,
    liveMs: READING_MS,
    // The command names what there is.
    choose: (stories) => (stories.length === 0 ? undefined : stories),
    words: (input, { asOption }) => [
      input.subject,
      '--json',
      ...asOption,
      ...option('since', input.since),
      ...option('limit', input.limit),
    ],
  }),
  tool({
    name: 'whatif',
    verb: 'whatif',
    description: 'What would be held, worth and left if the market moved.',
    input: z.strictObject({
      move: z
        .array(z.string().regex(/^(?:[A-Z0-9]{2,40}=)?[+-]?\d{1,3}(?:\.\d{1,4})?%$/))
        .max(20)
        .optional()
        .meta({ description: '-10% of every price, or BTCUSDT=-20% of one; absent: usual moves' }),
      fillAll: z.boolean().default(false).meta({ description: 'as if all that rests was filled' }),
    }),
    data: z.array(whatIfSchema),
    path: whatIfPath,
    // The command names the instruments that there are.
    choose: (accounts, { move }) => {
      const strangers = [...readMoves(move).moves.keys()].map(describeStranger)
      const isStrange = accounts.some(({ notCounted }) =>
        notCounted.some((note) => strangers.includes(note)),
      )
      return isStrange ? undefined : accounts
    },
    words: (input, { asOption }) => [
      '--json',
      ...asOption,
      ...(input.move ?? []).flatMap((move) => option('move', move)),
      ...(input.fillAll ? ['--fill-all'] : []),
    ],
  }),
  tool({
    name: 'instruments',
    verb: 'instruments',
    description:
      'Rules of each instrument: tick, lot, minimum, funding, status, and who says them.',
    input: z.strictObject({}),
    words: (_, { asOption }) => ['--json', ...asOption],
  }),
  tool({
    name: 'universe',
    verb: 'universe',
    description:
      'What the rules of strategies choose to trade, and for each instrument the reason it is in or out.',
    input: z.strictObject({ symbol: symbol.optional(), strategy: strategy.optional() }),
    data: z.array(universeSchema),
    path: () => '/v1/universe',
    choose: (universes, { strategy: id, symbol: one }) =>
      universes
        .filter((universe) => universe.strategy === (id ?? universe.strategy))
        .map((universe) => ({
          ...universe,
          instruments: universe.instruments.filter((row) => row.symbol === (one ?? row.symbol)),
        })),
    words: (input, { asOption }) => [
      '--json',
      ...asOption,
      ...option('symbol', input.symbol),
      ...option('strategy', input.strategy),
    ],
  }),
  tool({
    name: 'check',
    verb: 'check',
    description:
      'Reads the whole configuration and its strategies as they stand in the files now, and reports every problem with its line.',
    input: z.strictObject({ draft }),
    isText: true,
    withinMs: CHECK_MS,
    words: (input, { asOption, draft: draftWords }) => [
      '--no-secrets',
      ...(input.draft === undefined ? asOption : draftWords(input.draft).asOption),
    ],
  }),
  tool({
    name: 'plan',
    verb: 'plan',
    description:
      'What the files as they stand now would do to the running daemon, its orders and positions. A person makes it so with `intentd reload`.',
    input: z.strictObject({}),
    isText: true,
    withinMs: CHECK_MS,
    words: (_, { asOption }) => [...asOption],
  }),
  tool({
    name: 'backtest',
    verb: 'backtest',
    description:
      'Runs the configuration on past or made-up prices, in a process of its own, and writes a report under backtests/.',
    input: z.strictObject({
      ...play,
      model: z.enum(['pessimistic', 'default', 'optimistic', 'all']).optional(),
    }),
    isText: true,
    words: (input, config) => [...playWords(input, config), ...option('model', input.model)],
  }),
  tool({
    name: 'sweep',
    verb: 'sweep',
    description:
      'Tries combinations of parameters, one at a time, and says what the best of them are worth. Ends after ten minutes; called again with the same arguments, it goes on with what is left. Results are kept under sweeps/.',
    input: z.strictObject({
      ...play,
      sweep: sweepFile,
      trial: z
        .string()
        .regex(/^[\w-]{1,64}$/)
        .optional()
        .meta({ description: 'run this one trial as a backtest, with its report' }),
      model: z.enum(['pessimistic', 'default', 'optimistic']).optional(),
    }),
    isText: true,
    words: (input, config) => [
      ...playWords(input, config),
      ...option('params', input.sweep),
      ...option('trial', input.trial),
      ...option('model', input.model),
      // The daemon needs the other cores.
      '--jobs=1',
    ],
  }),
  tool({
    name: 'check_bias',
    verb: 'check-bias',
    description:
      'Cuts off the future at some moments of a backtest, and says whether a strategy had looked at it.',
    input: z.strictObject(play),
    isText: true,
    words: (input, config) => [...playWords(input, config)],
  }),
  tool({
    name: 'test',
    verb: 'test',
    description: 'Runs the tests that lie beside the strategies.',
    input: z.strictObject({}),
    isText: true,
    words: () => [],
  }),
  tool({
    name: 'new_strategy',
    verb: 'new-strategy',
    description:
      'Begins a strategy: its code, settings, a test and a configuration on paper, as new files in the folder that the operator allows. check, backtest, sweep and check_bias try it as `draft`. A person runs its test, and adds it to the configuration of a daemon.',
    input: z.strictObject({
      name: draftName,
      like: draftName.optional().meta({
        description:
          'begin with a copy of one that comes with intentd, such as trend; absent: an RSI strategy',
      }),
    }),
    isText: true,
    words: (input, { drafts }) => [
      input.name,
      ...option('dir', drafts()),
      ...option('like', input.like),
    ],
  }),
  tool({
    name: 'restrict',
    verb: 'restrict',
    description:
      'From now on only orders that reduce (reducing), or none (halted), and what rests and adds risk is cancelled. Only a person can end it.',
    input: z.strictObject({
      scope,
      mode: orderFields.mode,
      reason,
    }),
    isText: true,
    words: (input, { asOption }) => [
      input.scope,
      input.mode,
      ...asOption,
      ...option('reason', input.reason),
    ],
  }),
  tool({
    name: 'flatten',
    verb: 'flatten',
    description:
      'Closes everything that is held in a scope, and holds it halted. Only a person can end it.',
    input: z.strictObject({
      scope,
      reason,
    }),
    isText: true,
    words: (input, { asOption }) => [input.scope, ...asOption, ...option('reason', input.reason)],
  }),
  tool({
    name: 'close',
    verb: 'close',
    description:
      'Closes a share of what strategies hold; they only reduce from then on. Only a person can end that.',
    input: z.strictObject({
      scope: scope.meta({ description: "a strategy, an instrument, or '*' for the account" }),
      percent: orderFields.percent.default(100),
      reason,
    }),
    isText: true,
    words: (input, { asOption }) => [
      input.scope,
      `${Number(input.percent.toFixed(4))}%`,
      ...asOption,
      ...option('reason', input.reason),
    ],
  }),
  tool({
    name: 'cancel',
    verb: 'cancel',
    description:
      'Withdraws orders that were placed by name, such as those by hand. Ladders and targets stay: restrict holds them back.',
    input: z.strictObject({
      what: named.meta({
        description: 'an instrument, a strategy, or the clientOid, orderId or key of an order',
      }),
      reason,
    }),
    isText: true,
    words: (input, { asOption }) => [input.what, ...asOption, ...option('reason', input.reason)],
  }),
  tool({
    name: 'kill',
    verb: 'kill',
    description:
      'Stops all trading at once, cancels every order, and waits for the proof. Positions stay. Only a person can end it.',
    input: z.strictObject({ reason }),
    isText: true,
    withinMs: KILL_MS,
    words: (input, { asOption }) => [...asOption, ...option('reason', input.reason)],
  }),
  tool({
    name: 'release',
    verb: 'release',
    description:
      'Proposes to end what restricts a scope, or without a scope a kill. Nothing is done: only a person can confirm it, with a code that you never see.',
    input: z.strictObject({ scope: scope.optional(), reason }),
    isText: true,
    words: (input, { asOption }) => [
      ...(input.scope === undefined ? [] : [input.scope]),
      ...asOption,
      ...option('reason', input.reason),
    ],
  }),
  tool({
    name: 'adopt',
    verb: 'adopt',
    description:
      'Proposes to hand the part of a position that no strategy holds to one that trades the instrument. Nothing is done before a person confirms it.',
    input: z.strictObject({
      symbol: named.meta({ description: 'an instrument, such as BTCUSDT' }),
      strategy: named.meta({ description: 'the id of a strategy' }),
      reason,
    }),
    isText: true,
    words: (input, { asOption }) => [
      input.symbol,
      ...asOption,
      ...option('to', input.strategy),
      ...option('reason', input.reason),
    ],
  }),
  tool({
    name: 'reload',
    verb: 'reload',
    description:
      'Proposes that the running daemon uses the files as they stand now; it shows what would change. Nothing is done before a person confirms it.',
    input: z.strictObject({}),
    isText: true,
    withinMs: CHECK_MS,
    words: (_, { asOption }) => asOption,
  }),
]

export function toolsFor(
  powers: ReadonlySet<Power>,
  { strategies }: Pick<NamedConfig, 'strategies'> = {},
): readonly AgentTool[] {
  return AGENT_TOOLS.filter(
    ({ verb }) =>
      powers.has(powerOf(verb)) &&
      (verb !== 'new-strategy' || strategies !== undefined) &&
      // Tests run outside of the guard, with the network and the daemon's socket.
      (verb !== 'test' || strategies === undefined),
  )
}

export function toConfigWords({ file, set, strategies }: NamedConfig): ConfigWords {
  const overrides = set.map((one) => `--set=${one}`)
  const drafts = (): string => {
    if (strategies !== undefined) return strategies
    throw new Error('strategies are begun nowhere: control.agents.strategies names no folder')
  }
  return {
    asOption: [`--config=${file}`, ...overrides],
    asArgument: [file, ...overrides],
    drafts,
    draft(name) {
      const own = `${drafts()}/${name}.paper.yaml`
      const guarded = `--set=control.agents.strategies=${JSON.stringify(drafts())}`
      return { asOption: [`--config=${own}`, guarded], asArgument: [own, guarded] }
    },
  }
}
