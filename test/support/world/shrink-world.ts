import { type Invariant, type Violation, type WorldWatcher } from './world.ts'
import { minimise } from './minimise.ts'
import { START_AT, runWorld } from './virtual-world.ts'
import { type StrategyPlan, type WorldPlan } from './world-plan.ts'

export interface ShrinkOptions {
  /** A plan whose run violates an invariant. */
  readonly plan: WorldPlan
  /** Maximum runs; the result so far is returned. */
  readonly runsMax?: number
  /** Checkers beside the usual ones. */
  readonly extra?: readonly Invariant['watch'][]
}

export interface ShrunkWorld {
  /** Violates the same invariant by a script, with as little as was found. */
  readonly plan: WorldPlan
  readonly violation: Violation
  readonly runs: number
  /** No single fault can be omitted; false if the runs did not suffice. */
  readonly isMinimal: boolean
}

/** Enough for a world of a hundred faults, half a minute at most. */
const RUNS_MAX = 300

/** Tolerance for a longer start and one more call. */
const SPARE_MS = 5000

/** A failing plan, and the decisions on which its strategies acted. */
interface Failing {
  readonly plan: WorldPlan
  readonly violation: Violation
  readonly spoken: readonly SpokenDecision[]
}

interface SpokenDecision {
  readonly strategyId: string
  readonly decision: number
}

type Pass = (failing: Failing, attempt: (plan: WorldPlan) => boolean) => void

/**
 * Removes whatever a failing world does not need: faults, strategies, decisions, symbols, time, and
 * unusual settings; repeatedly, until nothing can go. Undefined if the plan does not fail.
 */
export function shrinkWorld({
  plan,
  runsMax = RUNS_MAX,
  extra = [],
}: ShrinkOptions): ShrunkWorld | undefined {
  const first = inspectWorld(plan, extra)
  if (!first.violation) return undefined
  const { id } = first.violation
  let best: Failing = {
    ...first,
    plan: { ...plan, script: [...first.script] },
    violation: first.violation,
  }
  let runs = 1
  const attempt = (candidate: WorldPlan): boolean => {
    if (runs >= runsMax) return false
    runs += 1
    const { violation, spoken } = inspectWorld(candidate, extra)
    if (violation?.id !== id) return false
    best = { plan: candidate, violation, spoken }
    return true
  }
  if (!attempt(best.plan)) return undefined
  for (let before = ''; before !== JSON.stringify(best.plan);) {
    before = JSON.stringify(best.plan)
    for (const pass of PASSES) pass(best, attempt)
  }
  return { plan: best.plan, violation: best.violation, runs, isMinimal: runs < runsMax }
}

const PASSES: readonly Pass[] = [
  // A shorter world makes further runs quicker.
  shorten,
  dropJumps,
  dropFaults,
  dropStrategies,
  dropDecisions,
  hasten,
  dropSymbols,
  simplify,
  dropFaults,
]

function dropJumps({ plan }: Failing, attempt: (plan: WorldPlan) => boolean): void {
  minimise(plan.jumps, (jumps) => attempt({ ...plan, jumps: [...jumps] }))
}

function dropFaults({ plan }: Failing, attempt: (plan: WorldPlan) => boolean): void {
  minimise(plan.script ?? [], (script) => attempt({ ...plan, script: [...script] }))
}

function dropStrategies({ plan }: Failing, attempt: (plan: WorldPlan) => boolean): void {
  minimise(
    plan.strategies,
    (strategies) => strategies.length > 0 && attempt({ ...plan, strategies: [...strategies] }),
  )
}

function dropDecisions({ plan, spoken }: Failing, attempt: (plan: WorldPlan) => boolean): void {
  minimise(spoken, (kept) =>
    attempt({
      ...plan,
      strategies: plan.strategies.map((strategy) => withDecisions(strategy, kept)),
    }),
  )
}

function withDecisions(strategy: StrategyPlan, kept: readonly SpokenDecision[]): StrategyPlan {
  const own = kept.filter(({ strategyId }) => strategyId === strategy.id)
  const decisions = [...new Set(own.map(({ decision }) => decision))].sort(
    (left, right) => left - right,
  )
  return { ...strategy, decisions }
}

function dropSymbols({ plan }: Failing, attempt: (plan: WorldPlan) => boolean): void {
  minimise(plan.symbols, (symbols) => symbols.length > 0 && attempt(withSymbols(plan, symbols)))
}

function withSymbols(plan: WorldPlan, symbols: readonly string[]): WorldPlan {
  const strategies = plan.strategies.map((strategy) => ({
    ...strategy,
    symbols: strategy.symbols.filter((symbol) => symbols.includes(symbol)),
  }))
  return {
    ...plan,
    symbols: [...symbols],
    strategies: strategies.filter((one) => one.symbols.length > 0),
  }
}

/** A fault at an earlier draw needs fewer events before it. */
function hasten({ plan }: Failing, attempt: (plan: WorldPlan) => boolean): void {
  let script = plan.script ?? []
  for (const [index, { n }] of script.entries()) {
    for (const earlier of new Set([0, 1, n >> 1, n - 1])) {
      const moved = script.map((fault, at) => (at === index ? { ...fault, n: earlier } : fault))
      if (earlier >= n || earlier < 0 || !attempt({ ...plan, script: moved })) continue
      script = moved
      break
    }
  }
}

/**
 * Trouble lasts little longer than until the violation, or half as long. Some time is left, so that
 * a world kept still is in trouble when its subject happens slightly later.
 */
function shorten({ plan, violation }: Failing, attempt: (plan: WorldPlan) => boolean): void {
  const jumpsMs = plan.jumps.reduce((sum, { burstMs, quietMs }) => sum + burstMs + quietMs, 0)
  const untilMs = Math.ceil((violation.at - START_AT - jumpsMs + SPARE_MS) / 1000) * 1000
  let { faultyMs } = plan
  if (untilMs > 0 && untilMs < faultyMs && attempt({ ...plan, faultyMs: untilMs }))
    faultyMs = untilMs
  while (faultyMs >= 2 * SPARE_MS && attempt({ ...plan, faultyMs: faultyMs / 2 })) faultyMs /= 2
}

/** The plainest value of each setting with which the world fails. */
function simplify({ plan }: Failing, attempt: (plan: WorldPlan) => boolean): void {
  const plain: readonly Partial<WorldPlan>[] = [
    { otherClocks: [] },
    { skewMs: 0 },
    { hasTwin: false },
    { hasOverseer: false },
    { pageFills: 100 },
    { onRestart: 'cancel' },
    { stop: 'cancel' },
    { moveTicks: 1 },
    { apiTrader: 0 },
    { faults: {} },
    { positionMode: 'one_way_mode' },
  ]
  let best = plan
  const change = (part: Partial<WorldPlan>): void => {
    const candidate = { ...best, ...part }
    if (JSON.stringify(candidate) !== JSON.stringify(best) && attempt(candidate)) best = candidate
  }
  for (const part of plain) change(part)
  for (const name of Object.keys(plan.core)) {
    const core = Object.fromEntries(Object.entries(best.core).filter(([other]) => other !== name))
    change({ core })
  }
  for (const { id } of plan.strategies) {
    for (let size = 1; size < sizeOf(best, id); size++)
      change({ strategies: withSize(best, id, size) })
  }
}

function sizeOf({ strategies }: WorldPlan, id: string): number {
  return strategies.find((strategy) => strategy.id === id)?.size ?? 0
}

function withSize({ strategies }: WorldPlan, id: string, size: number): StrategyPlan[] {
  return strategies.map((strategy) => (strategy.id === id ? { ...strategy, size } : strategy))
}

/** Runs a world and notes on which decisions its strategies acted. */
function inspectWorld(plan: WorldPlan, extra: readonly Invariant['watch'][]) {
  const spoken: SpokenDecision[] = []
  const { violations, script } = runWorld(plan, [() => watchDecisions(spoken), ...extra])
  return { plan, violation: violations[0], spoken, script }
}

function watchDecisions(spoken: SpokenDecision[]): WorldWatcher {
  return {
    afterStep(event) {
      if (event.kind !== 'decided' || event.intents.length === 0) return
      const { decisions } = event.state as { readonly decisions: number }
      spoken.push({ strategyId: event.strategyId, decision: decisions - 1 })
    },
  }
}
