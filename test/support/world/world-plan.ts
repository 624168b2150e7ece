import { z } from 'zod'
import { LEAVING_POLICIES } from '../../../src/domain/universe.ts'
import { type CoreSettings } from '../../../src/simulator/futures/settings.ts'
import { type Random, createRandom } from '../../../src/lib/random.ts'
import { FAULTS, type FaultKind, type FaultRates } from '../faults/virtual-faults.ts'
import { outagePlan } from '../faults/outages.ts'
import { QUIET_WAYS } from '../months/quiet.ts'
import { STRATEGY_KINDS } from '../virtual/virtual-strategies.ts'
import {
  accountPlanFields,
  drawAccountPlan,
  drawProductCancels,
  MANY_SYMBOLS,
} from './account-plan.ts'
import { drawMatter } from './matters.ts'

const FAULT_KINDS = Object.keys(FAULTS) as FaultKind[]

const faultKind = z.enum(FAULT_KINDS)

/** One strategy of a world. */
const strategyPlan = z.strictObject({
  id: z.string(),
  kind: z.enum(STRATEGY_KINDS),
  /** Maximum levels of a ladder, or lots of a target or an order. */
  size: z.int().positive(),
  symbols: z.array(z.string()),
  /** Decisions (from 0) on which it acts; absent: all. */
  decisions: z.array(z.int().nonnegative()).optional(),
  /** It acts on every so many decisions, so that wishes stand longer; absent: on each. */
  every: z.int().positive().optional(),
  /** One in this many orders by name has an old name; absent: none. */
  oldKeys: z.int().positive().optional(),
})

/**
 * A world as plain JSON, which can be printed, changed and kept. A new field needs a default that
 * leaves kept worlds unchanged.
 */
export const worldPlanSchema = z.strictObject({
  seed: z.string(),
  positionMode: z.enum(['one_way_mode', 'hedge_mode']),
  symbols: z.array(z.string()),
  strategies: z.array(strategyPlan),
  /** Settings of the exchange's core. */
  core: z.custom<Partial<CoreSettings>>((value) => typeof value === 'object' && value !== null),
  faults: z.partialRecord(faultKind, z.number()),
  /** With a script exactly these faults strike; the rates only show their origin. */
  script: z.array(z.strictObject({ site: z.string(), n: z.int(), fault: faultKind })).optional(),
  /** Lead of our clock, ms. */
  skewMs: z.number(),
  /** Error of our clock, ppm. */
  driftPpm: z.number().default(0),
  pageFills: z.int(),
  onRestart: z.enum(['cancel', 'adopt']),
  stop: z.enum(['cancel', 'leave', 'flatten']),
  /** Duration of faults, virtual ms. */
  faultyMs: z.number(),
  /** Earlier bursts of trouble, each followed by a quiet time with so many looks. */
  jumps: z
    .array(
      z.strictObject({
        burstMs: z.int().nonnegative(),
        quietMs: z.int().positive(),
        looks: z.int().positive(),
        way: z.enum(QUIET_WAYS),
        /** After the burst, at the ordinary pace. Absent: none. */
        outage: outagePlan.optional(),
      }),
    )
    .default([]),
  /** Clocks of other machines that want the lease: worlds of takeovers. */
  otherClocks: z.array(z.strictObject({ skewMs: z.number(), driftPpm: z.number() })).default([]),
  /** One in this many quiet moments another program trades with the account's keys; 0: never. */
  apiTrader: z.int().nonnegative().default(0),
  /** It runs on for a while after everything has come right. */
  isPatient: z.boolean().default(true),
  /** How long the operator looks at a reducing restriction before its release. */
  reducingMs: z.number().default(900),
  /** Largest step of the market, in ticks. */
  moveTicks: z.number(),
  /** A second core must give the same effects (DET1). */
  hasTwin: z.boolean(),
  /** A core that plans every instrument must give the same effects (BND2). */
  hasOverseer: z.boolean().default(true),
  /** Every prefix of the journal is checked (DET2). */
  hasPrefixes: z.boolean().default(false),
  /** Strategies decide otherwise in each process. */
  isFickle: z.boolean().default(false),
  /** One call may cancel the orders of all instruments. */
  isExclusive: z.boolean().default(false),
  /** Most orders in one batch. */
  batchOrdersMax: z.int().default(50),
  /** Effect of foreign fills on trading. */
  foreignFills: z.enum(['halt', 'adopt']).default('halt'),
  /** Quote coin. */
  orderNotionalMax: z.number().default(100_000),
  /** Held and open in all, quote coin. */
  grossNotionalMax: z.number().default(5_000_000),
  /** Limits the whole account. */
  openOrdersMax: z.int().default(60),
  /** Held and open of a strategy on an instrument, quote coin; absent: only its size is limited. */
  positionNotionalMax: z.number().optional(),
  /** Losses, unknown orders, 429s and rejections are limited. */
  isLimited: z.boolean().default(false),
  /** The account's drawdown and leverage, and identical intents, are limited too. */
  isLimitedByEquity: z.boolean().default(false),
  /** These limits are reached soon. */
  isTight: z.boolean().default(false),
  /** Only about money: a fifth of a holding reaches its limits, a hundredth does not. */
  isOfMoney: z.boolean().optional(),
  /**
   * Maintenance by the core's count as a share of the value, large enough that its steps are taken.
   * The exchange needs less and liquidates nothing. Absent: not measured.
   */
  liquidation: z.strictObject({ rate: z.number() }).optional(),
  /** Shares of the price that the account must survive. Absent: none. */
  survives: z.strictObject({ move: z.number(), joint: z.number(), isGap: z.boolean() }).optional(),
  /** Strategies have stops, trailing stops, profits and time limits so near that they are often met. */
  hasExits: z.boolean().optional(),
  /** The exchange keeps a stop for each position, and it follows the exits: worlds of stops. */
  hasStops: z.boolean().optional(),
  /** One rule chooses for every strategy what it trades, among all instruments: worlds of universes. */
  universe: z
    .strictObject({
      everyMs: z.int().positive(),
      count: z.int().positive(),
      stickyMs: z.int().nonnegative(),
      changesPerDay: z.int().positive().optional(),
      leaving: z.enum(LEAVING_POLICIES),
      /** Each strategy trades the first instrument in any case. */
      hasFixed: z.boolean(),
      /** So many instruments can be read in time. */
      readMax: z.int().positive(),
    })
    .optional(),
  /** A person trades too, as `manual`. */
  hasManual: z.boolean().optional(),
  /** This person gives all kinds of commands, and orders have exits: worlds of commands by hand. */
  isOfHands: z.boolean().optional(),
  /** Longest misstatement of a position; absent: seconds. */
  lieMsMax: z.int().positive().optional(),
  /**
   * Prices move to `factor` times their value within `overMs`. Mark and index stand still for
   * `lagMs` from its start.
   */
  crash: z
    .strictObject({
      afterMs: z.int().nonnegative(),
      overMs: z.int().positive(),
      factor: z.number().positive(),
      markLagMs: z.int().nonnegative(),
      indexLagMs: z.int().nonnegative(),
    })
    .optional(),
  /**
   * A copy of the journal is put back: one from before `lostMs` of trading, or if not stale, the
   * newest.
   */
  copy: z
    .strictObject({
      isStale: z.boolean(),
      /** The lost run is killed, not stopped. */
      isKilled: z.boolean(),
      /** An operator releases the halts of the run on the copy. */
      isReleased: z.boolean(),
      /** Filled orders of another program before that run. */
      foreignTrades: z.int().nonnegative(),
      tradedMs: z.int().positive(),
      lostMs: z.int().positive(),
    })
    .optional(),
  /** Calls go through the daemon's own client, and answers are bytes: worlds of the wire. */
  isWired: z.boolean().optional(),
  ...accountPlanFields,
})

export type WorldPlan = z.infer<typeof worldPlanSchema>
export type StrategyPlan = z.infer<typeof strategyPlan>

/**
 * Durations of faults, virtual ms: more seeds find more than longer worlds, but some things take
 * time.
 */
const FAULTY_MS = [5000, 6000, 8000, 10_000, 15_000, 30_000]

/** Draws faults, their strength, the reading of the exchange, and strategies. */
export function planWorld(seed: string): WorldPlan {
  // Each part has its own stream: an added part leaves the others as they were.
  const part = (name: string): Random => createRandom(`${seed}/plan/${name}`)
  const symbols = drawSymbols(part)
  const idempotency = pick(part('idempotency'), [
    'replay',
    'duplicateError',
    'pendingOnly',
  ] as const)
  const isSkewed = part('isSkewed').integer(3) === 0
  const drawn = drawProductCancels(part, {
    seed,
    positionMode: pick(part('positionMode'), ['one_way_mode', 'hedge_mode'] as const),
    symbols,
    strategies: planStrategies(part, symbols),
    core: {
      idempotency,
      postOnlyCross: pick(part('postOnlyCross'), ['reject', 'cancel'] as const),
      cancelAllEmpty: pick(part('cancelAllEmpty'), ['error', 'emptyLists'] as const),
      fillVisibilityLagMs: pick(part('fillVisibilityLagMs'), [0, 0, 150, 380]),
      matchingLagMs: pick(part('matchingLagMs'), [0, 0, 100]),
      selfTrades: pick(part('selfTrades'), ['never', 'meet', 'meet'] as const),
    },
    faults: drawFaults({ part, plan: { core: { idempotency } }, rates: RATES }),
    skewMs: isSkewed ? part('skewMs').integer(20_000) - 10_000 : 0,
    driftPpm: pick(part('driftPpm'), [0, 0, 50, -200, 500]),
    pageFills: pick(part('pageFills'), [3, 5, 100]),
    onRestart: pick(part('onRestart'), ['cancel', 'adopt'] as const),
    stop: pick(part('stop'), ['cancel', 'leave', 'flatten'] as const),
    faultyMs: pick(part('faultyMs'), FAULTY_MS),
    jumps: [],
    otherClocks: [],
    apiTrader: 0,
    isPatient: part('isPatient').integer(8) === 0,
    reducingMs: pick(part('reducingMs'), [900, 900, 5000]),
    moveTicks: 1 + part('moveTicks').integer(8),
    hasTwin: part('hasTwin').integer(100) === 0,
    hasOverseer: part('hasOverseer').integer(4) === 0,
    hasPrefixes: part('hasPrefixes').integer(20) === 0,
    isFickle: part('isFickle').integer(4) === 0,
    isExclusive: part('isExclusive').integer(2) === 0,
    batchOrdersMax: pick(part('batchOrdersMax'), [50, 50, 50, 4]),
    foreignFills: pick(part('foreignFills'), ['halt', 'adopt'] as const),
    orderNotionalMax: pick(part('orderNotionalMax'), [100_000, 100_000, 100_000, 150]),
    grossNotionalMax: pick(part('grossNotionalMax'), [5_000_000, 5_000_000, 600]),
    openOrdersMax: pick(part('openOrdersMax'), [60, 60, 60, 60, 7]),
    ...(part('positionNotionalMax').integer(5) === 0 && { positionNotionalMax: 300 }),
    isLimited: part('isLimited').integer(5) === 0,
    isLimitedByEquity: part('isLimitedByEquity').integer(2) === 0,
    isTight: part('isTight').integer(2) === 0,
    ...drawSurvival(part('survives')),
    ...drawAccountPlan(part),
  })
  return drawMatter(part, drawn)
}

/** Every fourth world must survive moves; the larger ones leave room for few orders. */
export function drawSurvival(random: Random): Pick<WorldPlan, 'survives'> {
  if (random.integer(4) > 0) return {}
  const move = pick(random, [0.3, 0.6, 0.9])
  return {
    survives: { move, joint: pick(random, [move, move / 2]), isGap: random.integer(2) === 0 },
  }
}

/** Most worlds have one instrument and are quick; some have enough for one cancel-all for all. */
function drawSymbols(part: (name: string) => Random): string[] {
  if (part('manySymbols').integer(10) === 0) return [...MANY_SYMBOLS]
  return part('symbols').integer(3) === 0 ? ['BTCUSDT', 'ETHUSDT'] : ['BTCUSDT']
}

/** Maximum size of each kind of strategy. */
const SIZES_MAX: Readonly<Record<StrategyPlan['kind'], number>> = {
  ladder: 8,
  targeter: 6,
  placer: 5,
}

/** Longer than most worlds: a wish is owed before the next one. */
const STEADY_EVERY = 200
const STEADY_ONE_IN: Readonly<Record<StrategyPlan['kind'], number>> = {
  ladder: 5,
  targeter: 3,
  placer: 16,
}

function planStrategies(
  part: (name: string) => Random,
  symbols: readonly string[],
): StrategyPlan[] {
  const random = part('strategies')
  return Array.from({ length: 1 + random.integer(3) }, (_, index) => {
    const kind = pick(random, STRATEGY_KINDS)
    const size = 1 + random.integer(SIZES_MAX[kind])
    const own = index > 0 && random.integer(2) === 0 ? symbols.slice(0, 1) : symbols
    const isSteady = part(`isSteady/${index}`).integer(STEADY_ONE_IN[kind]) === 0
    return {
      id: `s${index}`,
      kind,
      size,
      symbols: [...own],
      ...(isSteady ? { every: STEADY_EVERY } : {}),
    }
  })
}

export interface FaultsDrawn {
  readonly part: (name: string) => Random
  readonly plan: Pick<WorldPlan, 'core'>
  /** Mild or strong rates of each kind; others have the usual ones. */
  readonly rates: Rates
}

/** Each kind of fault is in every fourth world, mild or strong. */
export function drawFaults({ part, plan, rates: choices }: FaultsDrawn): FaultRates {
  const isCalm = part('isCalm').integer(10) === 0
  const rates: { [Fault in FaultKind]?: number } = {}
  for (const fault of FAULT_KINDS) {
    const random = part(`faults/${fault}`)
    const rate = pick(random, choices[fault] ?? [0.01, 0.03, 0.1])
    if (random.integer(4) === 0 && !isCalm && rate > 0) rates[fault] = rate
  }
  // A copy that arrives after the first order has left the book is a second order.
  if (plan.core.idempotency === 'pendingOnly') delete rates.requestTwice
  // The result of a doubled grant waits for its own, without the priority of reducing risk: behind
  // a storm, for long.
  if (rates.grantTwice !== undefined) delete rates.cancelStorm
  return rates
}

type Rates = { readonly [Fault in FaultKind]?: readonly number[] }

/**
 * Kinds drawn elsewhere than at a call, or useless when rare: a death at every grid point, one in
 * recovery at every birth.
 */
export const RATES: Rates = {
  killed: [0.002, 0.01],
  killedAtSend: [0.01, 0.05],
  requestLast: [0.03, 0.1, 0.3],
  cancelSkipped: [0.2, 0.5, 0.8],
  cancelLingers: [0.1, 0.5],
  cancelLate: [0.1, 0.3, 0.6],
  death: [0.005, 0.015, 0.04],
  deathAtSend: [0.02, 0.1],
  deathAtHalt: [0.3, 0.8],
  deathAtDoubt: [0.3, 0.8],
  restrictedAtSend: [0.02, 0.1],
  // Batches of copies only are rare.
  killedAtResend: [0.3, 1],
  asleepAtResend: [0, 0.3, 1],
  readsRefused: [0.02, 0.05],
  // This belongs to worlds with `hasManual`.
  manualByHand: [0],
  // These belong to worlds that last for months.
  clockSetFar: [0],
  strategyEdges: [0],
  tickerBroken: [0],
  fillBroken: [0],
  fillAhead: [0],
  feeElsewhere: [0.3, 1],
  feeMissing: [0.1, 0.5],
  profitMissing: [0.3, 1],
  // These belong to worlds of takeovers.
  hungPastLease: [0],
  leaseCut: [0],
  longDown: [0, 0.2, 0.6],
  deathInRecovery: [0.3, 0.6],
  slowSync: [0.005, 0.02],
  diskFull: [0.005, 0.01],
  diskLow: [0.005, 0.02],
  commandTwice: [0.5, 1],
  positionOld: [0.05, 0.3],
  diskBroken: [0.005, 0.02],
  tailKept: [0.5, 1],
  checkpoint: [0.003, 0.02],
  olderCheckpoint: [0.5, 1],
  clockStep: [0.005, 0.02],
  clockSetWhileDown: [0.2, 1],
  stall: [0.005, 0.02],
  stallAtSend: [0.02, 0.1],
  // Some twenty minutes of market go by.
  asleep: [0, 0, 0.002, 0.01],
  terminated: [0.01, 0.03],
  tickerMissing: [0.002, 0.02],
  tickerStale: [0.005, 0.05],
  tickerAbsurd: [0.001, 0.01],
  strategyThrows: [0.005, 0.05],
  strategyGarbage: [0.005, 0.05],
  strategyWild: [0.005, 0.05],
  strategyLasting: [0.3, 1],
  strategyStray: [0.05, 0.2],
  strategyFlood: [0.001, 0.005],
  outage: [0.0005, 0.002],
  rateStorm: [0.001, 0.005],
  cancelStorm: [0.1, 0.4],
  timeWrong: [0.001, 0.005],
  publicTimeWrong: [0.001, 0.01],
  checkedElsewhere: [0.02, 0.1],
  rowsOdd: [0.002, 0.01],
  liquidated: [0.01, 0.03],
  modeSwitched: [0.03, 0.2],
  suspended: [0.01, 0.05],
  gridChanged: [0.01, 0.05],
  marginModeChanged: [0.01, 0.05],
  leverageChanged: [0.01, 0.05],
  itemRestricted: [0.003, 0.02],
  keyRefused: [0.003, 0.02],
  deleveraged: [0.01, 0.05],
  // It halts what it meets, and a halted instrument shows little else.
  closedUnseen: [0, 0, 0.01, 0.03],
  positionSilent: [0.1, 0.5],
  markWrong: [0.02, 0.1],
  counterWrong: [0.02, 0.1],
  profitBlank: [0.02, 0.1],
  pricesWrong: [0.01, 0.05],
  // These belong to worlds of money: elsewhere a fill may be read before its order is known.
  fillMisstated: [0],
  orderVanishes: [0.01, 0.05],
  tradedByHand: [0.01, 0.05],
  tradedByProgram: [0.003, 0.02],
  orderByHand: [0.01, 0.05],
  restrictedByHand: [0.01, 0.05],
  flattenedByHand: [0.01, 0.05],
  adoptedByHand: [0.05, 0.2],
}

export function pick<Value>(random: Random, values: readonly Value[]): Value {
  const value = values[random.integer(values.length)]
  if (value === undefined) throw new RangeError('nothing to pick from')
  return value
}
