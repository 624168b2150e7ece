import { FEE_COIN_PRICES } from '../months/broken-fills.ts'
import { ACCOUNT, strategyScope, type TradingMode } from '../../../src/domain/trading-mode.ts'
import { fillKey } from '../../../src/domain/fill.ts'
import { type JournalRecord, keysUsedBy } from '../../../src/domain/record.ts'
import { type StrategyId, toStrategyId } from '../../../src/domain/ids.ts'
import { type Instrument, lotsMax } from '../../../src/domain/instrument.ts'
import { pairKey } from '../../../src/engine/book/book.ts'
import { type ExitRules } from '../../../src/domain/exits.ts'
import { type EngineSettings, type StrategySettings } from '../../../src/engine/settings.ts'
import { type Effect } from '../../../src/engine/effect.ts'
import { type EngineCommand, type StopPolicy } from '../../../src/engine/event.ts'
import { decimal } from '../../../src/lib/decimal.ts'
import { Failure } from '../../../src/lib/failure.ts'
import { type ListedContract as ListedInstrument } from '../../../src/simulator/futures/instruments/instruments.ts'
import { type Strategy } from '../../../src/strategy/define-strategy.ts'
import { paceLimitsOf, recordsOfFormer } from './account-plan.ts'
import { limitsOf, ORDER_LOTS_MAX } from './world-limits.ts'
import { pick, type StrategyPlan, type WorldPlan } from './world-plan.ts'
import { NEVER_OF_COPIES } from '../copies/copies-plan.ts'
import { COPY_INVARIANTS } from '../copies/copy-invariants.ts'
import { passCopies } from '../copies/pass-copies.ts'
import { passCalm } from './calm.ts'
import { INVARIANTS } from '../invariants/invariants.ts'
import { type Invariant, type Violation, type World, type WorldWatcher } from './world.ts'
import { hangAtCall, lookForLease, waitForLease } from '../takeovers/wait-for-lease.ts'
import { WorldTrace } from './world-trace.ts'
import { AccountAllocation } from '../invariants/account-allocation.ts'
import { commandAtBirth, drawHandCommand } from '../hand/hand-commands.ts'
import { meddle, releaseHalts } from '../faults/foreign-hands.ts'
import { type FaultKind, type StruckFault, VirtualFaults } from '../faults/virtual-faults.ts'
import { OTHER_SYMBOL } from '../months/api-trader.ts'
import { passMonths } from '../months/jumps.ts'
import { Quiet } from '../months/quiet.ts'
import { MARKET_STEP_MS, VirtualExchange } from '../virtual/virtual-exchange.ts'
import { VirtualNetwork } from '../virtual/virtual-network.ts'
import { type ProcessWatcher } from './process-watcher.ts'
import { VirtualProcess } from './virtual-process.ts'
import { createUnruly } from '../faults/unruly-strategy.ts'
import { SettledPromises } from '../wire/settled-promises.ts'
import { MANUAL } from '../../../src/domain/hand-order.ts'
import { formatOnGrid } from '../../../src/lib/grid.ts'
import { createRandom, type Random } from '../../../src/lib/random.ts'
import type { StrategyLimits } from '../../../src/risk/risk-context.ts'
import { createScriptedStrategy } from '../virtual/virtual-strategies.ts'
import { VirtualTime } from '../../../src/backtest/virtual-time.ts'
import { FOLLOWED_EXITS } from '../stops/stops-plan.ts'
import { ruleOf } from '../universe/universe-plan.ts'
import { makeLimits } from '../made-limits.ts'

/** Monday 2 June 2025, 06:00 UTC: two hours before the next funding. */
export const START_AT = Date.UTC(2025, 5, 2, 6)
const TICKERS_MS = 250
const FILLS_MS = 500
const POSITIONS_MS = 1000
/** Half as often as in the daemon, whose waits are ten times as long as those of a world. */
const TIME_MS = 100
/** How long an operator looks at a clean market before releasing the kill switch. */
const RELEASED_AFTER_MS = 700
const STOP_MS_MAX = 60_000
/** For every instrument, at the exchange and as configured. */
const LEVERAGE = 20
/** Assumptions about the exchange, scaled to keep a world short. */
const TOLERANCE_MS = 3000
const ACCEPTANCE_WINDOW_MS = 3600
const REQUEST_TIMEOUT_MS = 600
/** Shorter than a storm on the readings, and longer than the acceptance window. */
const ACCOUNT_AGE_MAX_MS = 4500
/** Deaths are drawn on this grid, and strike within so many effects. */
const DEATH_GRID_MS = 250
const AIMED_EFFECTS_MAX = 60
/** A death aimed at a call: right before or after it, or while it is in flight. */
const SEND_EFFECTS_MAX = 8
/**
 * A death aimed at the record of a halt or a doubt: right before or after it, or an effect earlier.
 */
const RECORD_EFFECTS_MAX = 2
const RECOVERY_EFFECTS_MAX = 40
const LONG_DOWN_MS = 8000
/** Around the end of the exchange's memory of names: 20 minutes, of which the core trusts 15. */
const QUARTER_MS = [14 * 60_000, 22 * 60_000] as const
/** Durations of a standstill, steps of a clock, and duration of a full disk. */
const STALL_MS = [50, 8000] as const
const STEP_MS_MAX = 600_000
/** And by days or months. */
const FAR_MS_MAX = 60 * 86_400_000
/**
 * Half of the clock steps are this much smaller: recent events are then slightly in the future, or
 * long ago.
 */
const STEP_SCALE = 200
const DISK_FULL_MS = [100, 4000] as const
/** A batch is written by then. */
const KILLED_AFTER_MS = 5
/** An earlier run traded the former instrument this long ago. */
const FORMER_MS = 3_600_000
/** A later stop could still be running when the faults are over. */
const TERMINATED_UNTIL_MS = 15_000
const STOP_POLICIES: readonly StopPolicy[] = ['leave', 'cancel', 'flatten']

/** Losses in a world are small and last for seconds. */
const FIGURES = {
  toleranceRatio: 0.005,
  toleranceMin: 0.05,
  disputeMsMax: 2000,
  indexBandRatio: 0.05,
}

export interface WorldReport {
  readonly seed: string
  readonly violations: readonly Violation[]
  /** Hash of all decisions, records and sends; costly. */
  readonly traceHash: string
  readonly events: number
  readonly processes: number
  readonly orders: number
  readonly fills: number
  readonly faults: ReadonlyMap<FaultKind, number>
  /** All faults in order: a run by this script is the same run. */
  readonly script: readonly StruckFault[]
  readonly lines: readonly string[]
}

/**
 * Runs a world to its end and reports violations.
 *
 * @param extra watchers beside the invariants, for a world that is examined
 */
export function runWorld(plan: WorldPlan, extra: readonly Invariant['watch'][] = []): WorldReport {
  const promises = plan.isWired ? new SettledPromises() : undefined
  promises?.assertUsable()
  const time = new VirtualTime(START_AT, promises?.settle)
  const faults = new VirtualFaults({
    seed: plan.seed,
    rates: plan.faults,
    script: plan.script,
    never: plan.copy ? NEVER_OF_COPIES : [],
  })
  const quiet = new Quiet(time)
  faults.isQuiet = () => quiet.isOn
  const exchange = new VirtualExchange({
    time,
    faults,
    seed: plan.seed,
    startAt: START_AT,
    symbols: plan.symbols,
    others: plan.apiTrader > 0 ? [OTHER_SYMBOL] : [],
    positionMode: plan.positionMode,
    settings: plan.core,
    toleranceMs: TOLERANCE_MS,
    balance: '1000000',
    leverage: LEVERAGE,
    moveTicks: plan.moveTicks,
    crash: plan.crash,
    lieMsMax: plan.lieMsMax,
    hasChangingList: plan.universe !== undefined,
    marketStepMs: (at) => quiet.stretchStep(MARKET_STEP_MS, at),
  })
  const network = new VirtualNetwork({
    time,
    faults,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    lateMsMax: TOLERANCE_MS * 2,
    refusalsAheadMs: () => exchange.refusalsAheadMs,
  })
  const settings = buildSettings(plan, exchange.instruments)
  const watchers: ProcessWatcher[] = []
  const facts = createFacts()
  const process = new VirtualProcess({
    time,
    exchange,
    network,
    faults,
    settings: withUniverses(plan, settings),
    strategies: new Map(
      plan.strategies.map((one) => [
        toStrategyId(one.id),
        createUnruly({
          strategy: createStrategy(plan, one, () => trace.processes),
          others: plan.symbols.filter((symbol) => !one.symbols.includes(symbol)),
          site: one.id,
          faults,
          isSilent: () => quiet.isSilent,
        }),
      ]),
    ),
    polling: {
      get tickersMs() {
        return quiet.stretch(TICKERS_MS)
      },
      get fillsMs() {
        return quiet.stretch(FILLS_MS)
      },
      get positionsMs() {
        return quiet.stretch(POSITIONS_MS)
      },
      get timeMs() {
        return quiet.stretch(TIME_MS)
      },
    },
    // A page of two rows could consist of the two fills of one trade, and cannot be followed.
    pageFills: Math.max(3, plan.pageFills),
    clocks: [{ skewMs: plan.skewMs, driftPpm: plan.driftPpm }, ...plan.otherClocks],
    onStop: plan.stop,
    isKilled: () => world.facts.killedAt !== undefined,
    isDiskFull: () => faults.isOn && time.now < world.facts.diskFullUntil,
    watchers,
    onOlder: plan.copy && ((proof) => noteOlder(world, proof)),
    hasStoredKeys: plan.jumps.length > 0,
    promises,
  })
  const world: World = {
    plan,
    settings,
    time,
    process,
    exchange,
    network,
    faults,
    quiet,
    violations: [],
    allocation: new AccountAllocation({
      truth: exchange.truth,
      isOneWay: plan.positionMode === 'one_way_mode',
      strategyOf: facts.strategyOf,
    }),
    facts,
  }
  const trace = new WorldTrace(world)
  const invariants = plan.copy ? COPY_INVARIANTS : INVARIANTS
  watchers.push(trace, noteFacts(world), ...invariants.map((invariant) => invariant.watch(world)))
  watchers.push(...extra.map((watch) => watch(world)))
  if (!plan.copy) {
    watchers.push(
      restarter(world, faults),
      operate(world, faults),
      commandAtBirth(world, (random) => commandManual(world, random)),
    )
    trouble(world, faults)
    meddle(world)
  }
  releaseHalts(world)
  if (plan.otherClocks.length > 0) lookForLease(world)
  try {
    if (plan.copy) passCopies(world, plan.copy)
    else runPhases(world, faults)
    for (const watcher of watchers) (watcher as WorldWatcher).atEnd?.()
  } catch (error) {
    // A daemon that throws ends; one that throws at each start never trades again. A state that
    // looks older ends the run too, and a checker has judged that.
    if (!isCalledOlder(world, error))
      world.violations.push({ id: 'THROWN', at: time.now, detail: String((error as Error).stack) })
  }
  process.journal.close()
  return {
    seed: plan.seed,
    violations: world.violations,
    get traceHash() {
      return trace.hash()
    },
    events: trace.events,
    processes: trace.processes,
    orders: exchange.truth.orders.size,
    fills: exchange.ledger().counts.fills,
    faults: faults.counts(),
    script: faults.struck,
    get lines() {
      return trace.lines()
    },
  }
}

function isCalledOlder({ facts }: World, error: unknown): boolean {
  const isSaid = error instanceof Failure && error.code === 'STATE_OLDER_THAN_EXCHANGE'
  return (
    isSaid && facts.records.some((one) => one.kind === 'restricted' && one.code === 'olderState')
  )
}

function noteOlder({ facts }: World, proof: string): void {
  if (facts.copy) facts.copy.proof ??= proof
}

/**
 * Runs in a turn of its own: after an `await` the daemon's client could not go on in virtual time.
 */
export function runInOwnTurn<Result>(run: () => Result): Promise<Result> {
  return new Promise((resolve, reject) => {
    setImmediate(() => {
      try {
        resolve(run())
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)))
      }
    })
  })
}

export function runWorldLater(plan: WorldPlan): Promise<WorldReport> {
  return runInOwnTurn(() => runWorld(plan))
}

function createFacts(): World['facts'] {
  return {
    strategyOf: new Map(),
    halted: new Map(),
    answered: new Set(),
    booked: new Set(),
    placed: new Set(),
    disowned: new Set(),
    records: [],
    deposited: 0,
    isStopping: false,
    isLastStop: false,
    diskFullUntil: 0,
    downUntil: 0,
    restUntil: 0,
    stoppedClean: undefined,
    killedAt: undefined,
    isCalm: false,
    isUnattended: false,
    copy: undefined,
  }
}

/** Trouble, calm, and a stop that must end clean. */
function runPhases(world: World, faults: VirtualFaults): void {
  const { time, process, plan, facts } = world
  const former = { at: START_AT - FORMER_MS, positionMode: plan.positionMode }
  for (const record of recordsOfFormer(plan, former)) process.journal.append(record)
  process.journal.flush()
  process.start()
  passMonths(world)
  time.runUntil(time.now + plan.faultyMs, () => world.violations.length > 0)
  faults.isOn = false
  waitForProcess(world)
  // A stop or kill from the trouble ends first, and another process begins.
  time.runUntil(time.now + STOP_MS_MAX, () => isSettled(world) || world.violations.length > 0)
  process.spare()
  facts.isCalm = true
  passCalm(world)
  stop(world, plan.stop)
  if (plan.stop !== 'leave' || facts.stoppedClean !== true) return
  // The next process must find and resolve the remains.
  facts.isStopping = false
  facts.isLastStop = false
  process.start(process.machines.waiting[0])
  passCalm(world)
  stop(world, 'cancel')
}

/** The market goes on and is observed, so that events are seen when they happen. */
function waitForProcess({ time, exchange, facts, violations }: World): void {
  while (time.now < facts.downUntil && violations.length === 0) {
    time.runUntil(Math.min(time.now + 1000, facts.downUntil), () => violations.length > 0)
    exchange.core.carryOut(exchange.now, () => undefined)
  }
}

function isSettled({ plan, facts, process }: World): boolean {
  // With leases, the holder moves and keeps it.
  const isHeld = plan.otherClocks.length === 0 || process.holdsLease
  return isHeld && !facts.isStopping && !process.isRetreating && facts.killedAt === undefined
}

function stop({ time, process, facts, violations }: World, policy: StopPolicy): void {
  facts.isStopping = true
  facts.isLastStop = true
  facts.stoppedClean = undefined
  process.stop(policy)
  time.runUntil(
    time.now + STOP_MS_MAX,
    () => facts.stoppedClean !== undefined || violations.length > 0,
  )
}

/**
 * At each point of a grid something may happen to the process and its machine, aimed at one of its
 * next effects.
 */
function trouble(world: World, faults: VirtualFaults): void {
  const { time, process, facts, quiet } = world
  const terminatedUntil = TERMINATED_UNTIL_MS + sumOf(world.plan.jumps)
  const strikes = (fault: FaultKind): boolean => faults.strikes(fault, 'process', gridMoment(time))
  const look = (): void => {
    if (!faults.isOn) return
    if (quiet.isOn) return time.after(quiet.stretch(DEATH_GRID_MS), look)
    if (strikes('death')) process.dieAfter(faults.severity(0, AIMED_EFFECTS_MAX))
    if (strikes('stall')) {
      const forMs = faults.severity(...STALL_MS)
      process.stallAfter(forMs % AIMED_EFFECTS_MAX, forMs)
    }
    if (strikes('asleep')) fallAsleep(world, 0)
    if (strikes('clockStep')) process.machineClock.step(faults.severity(-STEP_MS_MAX, STEP_MS_MAX))
    if (strikes('clockSetFar')) process.machineClock.step(faults.severity(-FAR_MS_MAX, FAR_MS_MAX))
    if (strikes('killed')) facts.killedAt ??= time.now
    if (strikes('diskFull')) facts.diskFullUntil = time.now + faults.severity(...DISK_FULL_MS)
    for (const kind of ['restrictedByHand', 'flattenedByHand', 'adoptedByHand'] as const)
      if (strikes(kind)) commandByHand(world, kind)
    if (strikes('manualByHand')) tradeByHand(world)
    if (strikes('diskLow')) {
      measureSpace(process, true)
      time.after(faults.severity(...DISK_FULL_MS), () => measureSpace(process, false))
    }
    if (time.now < START_AT + terminatedUntil && strikes('terminated')) {
      facts.isStopping = true
      process.stop(STOP_POLICIES[faults.severity(0, STOP_POLICIES.length)] ?? 'leave')
    }
    time.after(DEATH_GRID_MS, look)
  }
  time.after(DEATH_GRID_MS, look)
}

/** Total duration of the bursts and the quiet between them. */
function sumOf(jumps: WorldPlan['jumps']): number {
  return jumps.reduce(
    (sum, { burstMs, quietMs, outage }) => sum + burstMs + quietMs + (outage?.forMs ?? 0),
    0,
  )
}

/** The operator restricts or flattens; {@link releaseHalts} ends it after a look. */
function commandByHand(
  { process, plan, faults }: World,
  fault: 'restrictedByHand' | 'flattenedByHand' | 'adoptedByHand',
): void {
  if (fault === 'adoptedByHand') return adoptByHand({ process, plan, faults })
  const scopes = [ACCOUNT, ...plan.symbols, ...plan.strategies.map(({ id }) => strategyScope(id))]
  const drawn = faults.severity(0, 2 * scopes.length)
  const order = { scope: scopes[drawn >> 1] ?? ACCOUNT, reason: 'drill', by: 'world' }
  const mode = drawn % 2 === 0 ? 'reducing' : 'halted'
  const command: EngineCommand =
    fault === 'flattenedByHand'
      ? { kind: 'flatten', ...order }
      : { kind: 'restrict', mode, ...order }
  process.dispatch({ kind: 'commanded', command })
}

const HAND_COMMANDS = 8
const HAND_STEP_MS = 400

/** The operator trades as `manual` for some seconds. */
function tradeByHand(world: World): void {
  const { faults, time } = world
  const random = createRandom(String(faults.severity(0, 2 ** 30)))
  for (let index = 0; index < HAND_COMMANDS; index++)
    time.after(index * HAND_STEP_MS, () => commandManual(world, random))
}

/** A command whose answer was lost is given twice. */
function commandManual(world: World, random: Random): void {
  const { process, plan, faults, time } = world
  if (!faults.isOn) return
  const { symbols } = plan
  const symbol = pick(random, symbols)
  const owners = [...plan.strategies.map(({ id }) => id), MANUAL].map(strategyScope)
  const scope = pick(random, [ACCOUNT, ...symbols, ...owners, strategyScope(MANUAL)])
  const source = { reason: 'drill', by: 'world' }
  const key = `hand-${time.now}`
  const order = handOrder(world, random, { symbol, key, ...source })
  if (plan.isOfHands === true)
    return giveTwice(
      process,
      random,
      drawHandCommand(world, random, { order, symbol, key, ...source }),
    )
  const command = pick<EngineCommand>(random, [
    order,
    order,
    order,
    { kind: 'close', scope, share: pick(random, [0.3, 0.5, 0.8, 1]), key, ...source },
    { kind: 'cancel', what: pick(random, [symbol, MANUAL]), key, ...source },
  ])
  giveTwice(process, random, command)
}

function giveTwice(process: VirtualProcess, random: Random, command: EngineCommand): void {
  process.dispatch({ kind: 'commanded', command })
  if (random.integer(3) === 0) process.dispatch({ kind: 'commanded', command })
}

/** At the market or resting near it, and at times one that only closes. */
function handOrder(
  { exchange, process }: Pick<World, 'exchange' | 'process'>,
  random: Random,
  named: {
    readonly symbol: string
    readonly key: string
    readonly reason: string
    readonly by: string
  },
): Extract<EngineCommand, { kind: 'order' }> {
  const listed = exchange.instruments.find(({ symbol }) => symbol === named.symbol)
  if (listed === undefined) throw new RangeError(`${named.symbol} is not listed`)
  const side = pick(random, ['buy', 'sell'] as const)
  const resting = process.engine?.book.open.get(named.symbol)?.values().next().value?.terms.ticks
  const price =
    resting === undefined || random.integer(2) === 0
      ? {}
      : { price: formatOnGrid(listed.priceGrid, resting) }
  return {
    kind: 'order',
    side,
    size: formatOnGrid(listed.sizeGrid, listed.lotsMin + random.integer(3)),
    reduceOnly: random.integer(3) === 0,
    ...price,
    ...named,
  }
}

/**
 * The operator hands the unheld part of an instrument to a strategy; without one, that is refused.
 */
function adoptByHand({ process, plan, faults }: Pick<World, 'process' | 'plan' | 'faults'>): void {
  const drawn = faults.severity(0, plan.symbols.length * plan.strategies.length)
  const symbol = plan.symbols[drawn % plan.symbols.length] ?? ''
  const { id } = plan.strategies[Math.floor(drawn / plan.symbols.length)] ?? { id: '' }
  const command = {
    kind: 'adopt',
    symbol,
    strategyId: id,
    reason: 'looked at',
    by: 'world',
  } as const
  process.dispatch({ kind: 'commanded', command })
}

/** At one of its next effects. */
function fallAsleep({ time, process, facts, faults }: World, effects: number): void {
  if (time.now < facts.downUntil) return
  const forMs = faults.severity(...QUARTER_MS)
  facts.downUntil = time.now + forMs + STALL_MS[1]
  process.stallAfter(effects, forMs)
}

function measureSpace(process: VirtualProcess, isLow: boolean): void {
  process.dispatch({ kind: 'spaceMeasured', isLow, freeBytes: isLow ? 0 : 1e9 })
}

/** A dead process is restarted soon or late, and may die again early. */
function restarter(world: World, faults: VirtualFaults): ProcessWatcher {
  const { time, process, facts, plan } = world
  const startAgain = (): void => {
    facts.isStopping = false
    facts.stoppedClean = undefined
    if (plan.otherClocks.length > 0) return waitForLease(world)
    const n = gridMoment(time)
    const isSoon = faults.delayMs('process/restart', 0, 5, n) > 0
    const delayMs = isSoon ? 100 + faults.delayMs('process/down', 0, 1500, n) : LONG_DOWN_MS
    if (faults.strikes('clockSetWhileDown', 'process', n)) {
      const stepMs = faults.severity(-STEP_MS_MAX, STEP_MS_MAX)
      process.machineClock.step(stepMs % 2 === 0 ? stepMs : Math.trunc(stepMs / STEP_SCALE))
    }
    const isLong = faults.strikes('longDown', 'process', n)
    const soonest = time.now + (isLong ? faults.severity(...QUARTER_MS) : delayMs)
    facts.downUntil = Math.max(soonest, facts.restUntil)
    time.after(facts.downUntil - time.now, () => process.start())
  }
  return {
    onBirth: () => {
      if (faults.strikes('deathInRecovery', 'process', gridMoment(time))) {
        process.dieAfter(faults.severity(0, RECOVERY_EFFECTS_MAX))
      }
    },
    afterStep: (_, effects) => {
      const call = effects.find(({ kind }) => kind === 'sendBatch' || kind === 'sendCancelAll')
      if (call && faults.strikes('deathAtSend', call.kind)) {
        process.dieAfter(effects.indexOf(call) + faults.severity(0, SEND_EFFECTS_MAX))
      }
      const batch = effects.findIndex(({ kind }) => kind === 'sendBatch')
      if (batch >= 0 && faults.strikes('stallAtSend', 'sendBatch')) {
        process.stallAfter(batch, faults.severity(...STALL_MS))
      }
      if (batch >= 0 && faults.strikes('asleep', 'sendBatch')) fallAsleep(world, batch)
      hangAtCall(world, effects)
      const halt = effects.findIndex(
        (effect) => effect.kind === 'record' && isHaltRecord(effect.record),
      )
      if (halt >= 0 && faults.strikes('deathAtHalt', 'halt')) {
        process.dieAfter(halt + faults.severity(-1, RECORD_EFFECTS_MAX))
      }
      const doubt = effects.findIndex(
        (effect) => effect.kind === 'record' && isDoubtRecord(effect.record),
      )
      if (doubt >= 0 && faults.strikes('deathAtDoubt', 'doubt')) {
        process.dieAfter(doubt + faults.severity(-1, RECORD_EFFECTS_MAX))
      }
    },
    onDeath: startAgain,
    onStopped: () => {
      if (!facts.isLastStop) startAgain()
    },
  }
}

/** The operator releases the kill switch some time after all is clean. */
function operate(world: World, faults: VirtualFaults): ProcessWatcher {
  const { time, process, facts } = world
  return {
    afterStep: (_, effects) => {
      if (effects.some(isResend)) {
        if (faults.strikes('killedAtResend', 'sendBatch'))
          time.after(KILLED_AFTER_MS, () => (facts.killedAt ??= time.now))
        if (faults.strikes('asleepAtResend', 'sendBatch'))
          fallAsleep(
            world,
            effects.findIndex(({ kind }) => kind === 'sendBatch'),
          )
      }
      const leaving = effects.find((effect) => effect.kind === 'sendBatch')
      if (leaving && faults.strikes('killedAtSend', 'sendBatch')) facts.killedAt ??= time.now
      if (leaving && faults.strikes('restrictedAtSend', 'sendBatch')) {
        const order = { scope: leaving.batch.symbol, reason: 'drill', by: 'world' }
        process.dispatch({
          kind: 'commanded',
          command: { kind: 'restrict', mode: 'reducing', ...order },
        })
      }
    },
    onKillState: (state) => {
      if (state === 'released') facts.killedAt = undefined
      if (state !== 'clean') return
      time.after(RELEASED_AFTER_MS, () =>
        process.dispatch({
          kind: 'commanded',
          command: { kind: 'releaseKill', reason: 'calm', by: 'world' },
        }),
      )
    },
  }
}

/** Only copies of earlier orders. */
function isResend(effect: Effect): boolean {
  if (effect.kind !== 'record' || effect.record.kind !== 'send') return false
  return effect.record.orders.length === 0
}

function isHaltRecord(record: JournalRecord): boolean {
  return record.kind === 'restricted' && record.by === 'intentd'
}

/** Orders that the exchange may have cancelled by a close of its own. */
function isDoubtRecord(record: JournalRecord): boolean {
  return record.kind === 'cancel' && record.cause === 'liquidation'
}

/**
 * Faults of a process are drawn by the moment, so that one death less leaves the others in place.
 */
function gridMoment(time: VirtualTime): number {
  return Math.floor((time.now - START_AT) / DEATH_GRID_MS)
}

/** A fickle one decides otherwise in each process. */
function createStrategy(
  { seed, isFickle }: WorldPlan,
  { id, kind, size, decisions, every, oldKeys }: StrategyPlan,
  processes: () => number,
): Strategy {
  const seedNow = (): string =>
    isFickle && processes() > 1 ? `${seed}/${id}/${processes()}` : `${seed}/${id}`
  return createScriptedStrategy({ kind, size, decisions, every, oldKeys, seed: seedNow })
}

/** Keeps what later looks need. */
function noteFacts(world: World): ProcessWatcher {
  const { facts, time } = world
  /** Keyed by scope and reason; the strictest counts. */
  const held = new Map<string, { scope: string; mode: TradingMode; reason: string }>()
  const noteKept = (record: JournalRecord): void => {
    if (record.kind === 'fills') for (const fill of record.fills) facts.booked.add(fillKey(fill))
    if (record.kind === 'foreign')
      for (const orderId of record.orderIds) facts.disowned.add(orderId)
    for (const { strategyId, key } of keysUsedBy(record)) facts.placed.add(pairKey(strategyId, key))
    if (record.kind === 'deposit' && record.deposit.isCapital)
      facts.deposited += Number(record.deposit.amount)
  }
  return {
    // Non-durable records arrive again.
    onBirth: () => {
      facts.booked.clear()
      facts.placed.clear()
      facts.disowned.clear()
      facts.deposited = 0
      for (const record of world.process.journal.loadAll()) noteKept(record)
    },
    onRecord: (record) => {
      facts.records.push(record)
      noteKept(record)
      if (record.kind === 'restricted' && record.code !== 'kill') {
        const { scope, mode, reason } = record
        held.set(pairKey(scope, record.code), { scope, mode, reason })
        const halt = [...held.values()].find((one) => one.scope === scope && one.mode === 'halted')
        facts.halted.set(scope, { mode, reason, ...halt, at: time.now })
      }
      if (record.kind === 'released' && record.code !== 'kill') {
        for (const [key, { scope }] of held) {
          const isNamed = record.code === undefined || key === pairKey(scope, record.code)
          if (scope === record.scope && isNamed) held.delete(key)
        }
        if (![...held.values()].some(({ scope }) => scope === record.scope))
          facts.halted.delete(record.scope)
      }
      if (record.kind === 'send')
        for (const { clientOid, strategyId } of record.orders)
          facts.strategyOf.set(clientOid, strategyId)
    },
    onStopped: (clean) => {
      facts.stoppedClean = clean
    },
  }
}

/** Shares of a position's value, if no distance is measured. */
const MARGIN = { rate: 0.01, takerFeeRate: 0.0006 }

/** Steps that a crash takes at once, and usual holdings do not reach. */
const STEPS = { warn: 0.3, reduce: 0.2, flatten: 0.12 }

function toMarginSettings({
  symbols,
  liquidation,
  survives,
}: WorldPlan): Pick<EngineSettings, 'liquidation' | 'survives'> {
  if (liquidation === undefined && survives === undefined) return {}
  const ofAll = <Value>(value: Value) => new Map(symbols.map((symbol) => [symbol, value]))
  const { rate, takerFeeRate } = liquidation ? { ...liquidation, takerFeeRate: 0 } : MARGIN
  const rules = { tiers: [{ notionalMax: Number.POSITIVE_INFINITY, rate }], takerFeeRate }
  return {
    liquidation: { rules: ofAll(rules), ...(liquidation && { steps: STEPS }) },
    ...(survives && {
      survives: {
        moves: ofAll(survives.move),
        jointMoves: ofAll(survives.joint),
        isGap: survives.isGap,
      },
    }),
  }
}

/** A step of the market is a few millionths of a price. */
const NEAR_EXITS: ExitRules = {
  stop: { kind: 'share', millionths: 200 },
  trailing: { after: 60, distance: { kind: 'share', millionths: 40 } },
  breakEven: { after: 15, offset: 0 },
  profitTable: [
    { fromMs: 0, least: 400 },
    { fromMs: 6000, least: 80 },
  ],
  takeProfits: [{ at: 20, close: 400_000 }],
  timeLimitMs: 15_000,
  coolDownMs: 1500,
  protections: { stops: { count: 3, withinMs: 20_000, pauseMs: 4000 } },
}

/** Members of a universe are limited by value alone. */
const MEMBER_NOTIONAL_MAX = 300

/** What the process is configured with: the instruments that are fixed, and the rule. */
function withUniverses({ universe, symbols }: WorldPlan, settings: EngineSettings): EngineSettings {
  if (universe === undefined) return settings
  const fixed = new Set(universe.hasFixed ? symbols.slice(0, 1) : [])
  const isFixed = ([symbol]: readonly [string, unknown]): boolean => fixed.has(symbol)
  return {
    ...settings,
    instruments: new Map([...settings.instruments].filter(isFixed)),
    strategies: new Map(
      [...settings.strategies].map(([id, strategy]) => [
        id,
        {
          ...strategy,
          symbols: [...fixed],
          limits: new Map([...strategy.limits].filter(isFixed)),
        },
      ]),
    ),
    roster: {
      frame: { productType: 'USDT-FUTURES', marginCoin: 'USDT', leverage: LEVERAGE },
      fixed,
      readMax: universe.readMax,
    },
  }
}

/** The rule of a strategy, and what it and the checkers take for the limits of a member. */
function toUniverse(
  { universe, symbols }: WorldPlan,
  limits: Omit<StrategyLimits, 'positionMax' | 'orderSizeMax'>,
  instruments: EngineSettings['instruments'],
): Pick<StrategySettings, 'universe' | 'limits'> | undefined {
  if (universe === undefined) return undefined
  const fixed = new Set(universe.hasFixed ? symbols.slice(0, 1) : [])
  const ofMember = { positionNotionalMax: MEMBER_NOTIONAL_MAX, ...limits }
  const all = symbols.map((symbol): [string, StrategyLimits] => {
    const instrument = instruments.get(symbol)
    const most = instrument ? lotsMax(instrument) : 0
    return [symbol, { ...ofMember, positionMax: most, orderSizeMax: most }]
  })
  const own = all.map(([symbol, one]): [string, StrategyLimits] => [
    symbol,
    fixed.has(symbol) ? { ...one, positionMax: 12, orderSizeMax: ORDER_LOTS_MAX } : one,
  ])
  return {
    universe: { rule: ruleOf(universe), fixed, limits: ofMember },
    limits: new Map(own),
  }
}

/** Trades by hand on every instrument. */
function manualOf(
  { hasManual, symbols }: WorldPlan,
  limited: Partial<StrategyLimits> | undefined,
): readonly [StrategyId, StrategySettings][] {
  if (hasManual !== true) return []
  const limits = { positionMax: 12, orderSizeMax: ORDER_LOTS_MAX, openOrdersMax: 20, ...limited }
  const own = new Map(symbols.map((symbol) => [symbol, limits]))
  return [[MANUAL, { id: MANUAL, symbols, feeds: new Map(), limits: own, isByHand: true }]]
}

function buildSettings(plan: WorldPlan, listed: readonly ListedInstrument[]): EngineSettings {
  const instruments = new Map(listed.map((one) => [one.symbol, toInstrument(one)]))
  const limited = limitsOf(plan)
  const pace = paceLimitsOf(plan)
  const strategies = plan.strategies.map(({ id, symbols }): [StrategyId, StrategySettings] => [
    toStrategyId(id),
    {
      id: toStrategyId(id),
      symbols,
      feeds: new Map(),
      ...(plan.hasExits === true && { exits: NEAR_EXITS }),
      ...(plan.hasStops === true && { exits: FOLLOWED_EXITS }),
      limits: new Map(
        symbols.map((symbol) => [
          symbol,
          {
            positionMax: 12,
            orderSizeMax: ORDER_LOTS_MAX,
            openOrdersMax: 20,
            ...limited.strategy,
            ...pace.strategy,
          },
        ]),
      ),
      ...toUniverse(
        plan,
        { openOrdersMax: 20, ...limited.strategy, ...pace.strategy },
        instruments,
      ),
    },
  ])
  return {
    salt: 'salt',
    version: '0',
    environment: 'simulator',
    configHash: '0',
    productType: 'USDT-FUTURES',
    positionMode: plan.positionMode,
    marginMode: 'crossed',
    instruments,
    strategies: new Map([...strategies, ...manualOf(plan, limited.strategy)]),
    limits: makeLimits({
      dataAgeMaxMs: 1500,
      accountAgeMaxMs: ACCOUNT_AGE_MAX_MS,
      priceCollarRatio: 0.01,
      openOrdersMax: plan.openOrdersMax,
      orderNotionalMax: plan.orderNotionalMax,
      grossNotionalMax: plan.grossNotionalMax,
      ...limited.account,
      ...pace.account,
    }),
    ...limited.losses,
    ...toMarginSettings(plan),
    figures: FIGURES,
    isExclusive: plan.isExclusive,
    feeCoins: FEE_COIN_PRICES,
    execution: {
      batchOrdersMax: plan.batchOrdersMax,
      fillVisibilityMs: 400,
      matchingLagMs: 150,
      acceptanceWindowMs: ACCEPTANCE_WINDOW_MS,
      unwantedMsMax: 5000,
      displacedWithinMs: 5000,
      takerCollarRatio: 0.001,
      crossedToleranceMs: 1500,
      stopTimeoutMs: 30_000 + STOP_MS_PER_MORE * Math.max(0, plan.symbols.length - FEW_SYMBOLS),
    },
    foreignFills: plan.foreignFills,
    ...(plan.hasStops === true && { listsExits: true }),
    onRestart: plan.onRestart,
  }
}

/** As in a daemon: each instrument is cancelled and read twice. */
const STOP_MS_PER_MORE = 2000
const FEW_SYMBOLS = 4

function toInstrument(listed: ListedInstrument): Instrument {
  return {
    symbol: listed.symbol,
    productType: listed.productType,
    marginCoin: listed.marginCoin,
    tick: listed.priceGrid,
    lot: listed.sizeGrid,
    lotsMin: listed.lotsMin,
    notionalMin: decimal(listed.notionalMin),
    leverage: LEVERAGE,
  }
}
