import { z } from 'zod'
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
  /** Levels of a ladder, lots of a target or an order, at most. */
  size: z.int().positive(),
  symbols: z.array(z.string()),
  /** The decisions (from 0) on which it says anything; absent: all of them. */
  decisions: z.array(z.int().nonnegative()).optional(),
  /** It says something on every so manieth decision alone: what it wants stands for longer. Absent: on each. */
  every: z.int().positive().optional(),
  /** One order by name in so many has a name of long ago. Absent: none. */
  oldKeys: z.int().positive().optional(),
})

/**
 * What a world is made of, as plain JSON: it can be printed, changed and kept. A field that is added later has a
 * default that leaves kept worlds as they were.
 */
export const worldPlanSchema = z.strictObject({
  seed: z.string(),
  positionMode: z.enum(['one_way_mode', 'hedge_mode']),
  symbols: z.array(z.string()),
  strategies: z.array(strategyPlan),
  /** Which reading of the exchange: settings of its core. */
  core: z.custom<Partial<CoreSettings>>((value) => typeof value === 'object' && value !== null),
  faults: z.partialRecord(faultKind, z.number()),
  /** With a script exactly these faults strike, and the rates above say only where they came from. */
  script: z.array(z.strictObject({ site: z.string(), n: z.int(), fault: faultKind })).optional(),
  /** How far our clock is ahead of the exchange's, ms. */
  skewMs: z.number(),
  /** By how much our clock is too quick, in millionths. */
  driftPpm: z.number().default(0),
  pageFills: z.int(),
  onRestart: z.enum(['cancel', 'adopt']),
  stop: z.enum(['cancel', 'leave', 'flatten']),
  /** How long faults last, virtual ms. */
  faultyMs: z.number(),
  /** Before that: bursts of trouble, each with a quiet time after it, in which so often is looked at the exchange. */
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
  /** The clocks of other machines, which want the lease of the first one: worlds of takeovers. */
  otherClocks: z.array(z.strictObject({ skewMs: z.number(), driftPpm: z.number() })).default([]),
  /** In one quiet moment of so many another program trades the account by its keys; 0: never. */
  apiTrader: z.int().nonnegative().default(0),
  /** Whether it runs on for a while when everything has come right after the faults. */
  isPatient: z.boolean().default(true),
  /** How long the operator looks at what is restricted to reducing before it is released, ms. */
  reducingMs: z.number().default(900),
  /** Largest step of the market, in ticks. */
  moveTicks: z.number(),
  /** Whether a second core runs along and must say the same (DET1). */
  hasTwin: z.boolean(),
  /** Whether a core that looks at every instrument runs along and must say the same (BND2). */
  hasOverseer: z.boolean().default(true),
  /** Whether every prefix of the journal is looked at (DET2). */
  hasPrefixes: z.boolean().default(false),
  /** Whether strategies decide otherwise in each process than they did in the one before. */
  isFickle: z.boolean().default(false),
  /** Whether one call may cancel the orders of all instruments. */
  isExclusive: z.boolean().default(false),
  /** Most orders in one batch. */
  batchOrdersMax: z.int().default(50),
  /** What a fill that is not ours does to trading. */
  foreignFills: z.enum(['halt', 'adopt']).default('halt'),
  /** What one order may be worth, quote coin. */
  orderNotionalMax: z.number().default(100_000),
  /** What the account may hold and have open in all, quote coin. */
  grossNotionalMax: z.number().default(5_000_000),
  /** Orders that the account may have open in all. */
  openOrdersMax: z.int().default(60),
  /** What a strategy may hold and have open on an instrument, quote coin; absent: only its size is limited. */
  positionNotionalMax: z.number().optional(),
  /** Whether losses, unknown orders, answers 429 and rejections are limited. */
  isLimited: z.boolean().default(false),
  /** Whether the account's drawdown and leverage, and identical intents, are limited too. */
  isLimitedByEquity: z.boolean().default(false),
  /** Whether those limits are reached soon. */
  isTight: z.boolean().default(false),
  /** Whether it is about money alone: a fifth of what is held reaches its limits, and a hundredth does not. */
  isOfMoney: z.boolean().optional(),
  /**
   * What positions need at a liquidation by the core's count, as a share of their value: so much that its steps are taken.
   * The exchange needs less, and liquidates nothing. Absent: nothing is measured.
   */
  liquidation: z.strictObject({ rate: z.number() }).optional(),
  /** The moves that the account must survive: shares of the price. Absent: none. */
  survives: z.strictObject({ move: z.number(), joint: z.number(), isGap: z.boolean() }).optional(),
  /** The longest time for which the exchange misstates a position, ms; absent: seconds. */
  lieMsMax: z.int().positive().optional(),
  /** Prices come to `factor` times what they were, within `overMs`. Mark and index stand still for so long after it began. */
  crash: z
    .strictObject({
      afterMs: z.int().nonnegative(),
      overMs: z.int().positive(),
      factor: z.number().positive(),
      markLagMs: z.int().nonnegative(),
      indexLagMs: z.int().nonnegative(),
    })
    .optional(),
  /** A copy of the journal is put back: one from before `lostMs` of trading, or, where it is not stale, the newest. */
  copy: z
    .strictObject({
      isStale: z.boolean(),
      /** Whether the run that is lost is killed, and not stopped. */
      isKilled: z.boolean(),
      /** Whether an operator releases what the run on the copy halts. */
      isReleased: z.boolean(),
      /** So many orders of another program are filled before that run begins. */
      foreignTrades: z.int().nonnegative(),
      tradedMs: z.int().positive(),
      lostMs: z.int().positive(),
    })
    .optional(),
  /** Whether calls go through the daemon's own client, and answers come as bytes: worlds of the wire. */
  isWired: z.boolean().optional(),
  ...accountPlanFields,
})

export type WorldPlan = z.infer<typeof worldPlanSchema>
export type StrategyPlan = z.infer<typeof strategyPlan>

/** How long faults last, virtual ms: more seeds find more than longer worlds, and some things take their time. */
const FAULTY_MS = [5000, 6000, 8000, 10_000, 15_000, 30_000]

/** Draws a world: which faults there are, how strong, which reading of the exchange, which strategies. */
export function planWorld(seed: string): WorldPlan {
  // Each part has a stream of its own: a part that is added leaves the others as they were.
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

/** In every fourth world moves must be survived, the larger ones of which leave room for a few orders only. */
export function drawSurvival(random: Random): Pick<WorldPlan, 'survives'> {
  if (random.integer(4) > 0) return {}
  const move = pick(random, [0.3, 0.6, 0.9])
  return {
    survives: { move, joint: pick(random, [move, move / 2]), isGap: random.integer(2) === 0 },
  }
}

/** Most worlds have one instrument and are quick; some have enough of them to want one cancel-all for all. */
function drawSymbols(part: (name: string) => Random): string[] {
  if (part('manySymbols').integer(10) === 0) return [...MANY_SYMBOLS]
  return part('symbols').integer(3) === 0 ? ['BTCUSDT', 'ETHUSDT'] : ['BTCUSDT']
}

/** How large each kind of strategy may be. */
const SIZES_MAX: Readonly<Record<StrategyPlan['kind'], number>> = {
  ladder: 8,
  targeter: 6,
  placer: 5,
}

/** Longer than most worlds last: what is wanted is owed then, and nothing else is wanted before it is done. */
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
  /** Of each kind some rates, mild or strong; a kind that is not named has the usual ones. */
  readonly rates: Rates
}

/** Each kind of fault is there in every fourth world, mild or strong. */
export function drawFaults({ part, plan, rates: choices }: FaultsDrawn): FaultRates {
  const isCalm = part('isCalm').integer(10) === 0
  const rates: { [Fault in FaultKind]?: number } = {}
  for (const fault of FAULT_KINDS) {
    const random = part(`faults/${fault}`)
    const rate = pick(random, choices[fault] ?? [0.01, 0.03, 0.1])
    if (random.integer(4) === 0 && !isCalm && rate > 0) rates[fault] = rate
  }
  // A copy that arrives when the first order has left the book is a second order there, whoever made it.
  if (plan.core.idempotency === 'pendingOnly') delete rates.requestTwice
  // What came of a doubled grant waits for one of its own, and not as what reduces risk: behind a storm, for long.
  if (rates.grantTwice !== undefined) delete rates.cancelStorm
  return rates
}

type Rates = { readonly [Fault in FaultKind]?: readonly number[] }

/** Kinds that are drawn elsewhere than at a call, or mean little when they are rare: a death at every moment of a grid, one in recovery at every birth. */
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
  // Batches of nothing but copies are rare.
  killedAtResend: [0.3, 1],
  asleepAtResend: [0, 0.3, 1],
  readsRefused: [0.02, 0.05],
  // Of worlds that last for months.
  clockSetFar: [0],
  strategyEdges: [0],
  tickerBroken: [0],
  fillBroken: [0],
  fillAhead: [0],
  feeElsewhere: [0.3, 1],
  feeMissing: [0.1, 0.5],
  profitMissing: [0.3, 1],
  // Of worlds of takeovers.
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
  // Of worlds of money: elsewhere a fill may be read before its order is known.
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
