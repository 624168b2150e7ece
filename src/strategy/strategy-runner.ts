import type { Instrument } from '../domain/instrument.ts'
import type { Intent } from '../domain/intent.ts'
import type { PlotPoint } from '../domain/plot.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import type { Clock } from '../lib/clock.ts'
import { deepFreeze } from '../lib/plain-data.ts'
import type { Strategy } from './define-strategy.ts'
import { resolveNeeds } from './needs.ts'
import { BoundedLog, type Listen, PlotSheet, SILENT_LOG } from './strategy-output.ts'
import { type IntentDenial, readIntents } from './read-intents.ts'
import { createStrategyScope } from './strategy-context.ts'
import { SnapshotView } from './snapshot-view.ts'
import {
  describeThrown,
  isStrategyFailure,
  placedIn,
  strategyFailure,
  type StrategyFailure,
  type StrategyFailureCode,
} from './strategy-failure.ts'
import { firstState, readState, toStored, writeState } from './strategy-state.ts'

/** A longer decision is logged as slow: it delays all other strategies. */
export const SLOW_MS = 50

export interface DecisionTime {
  readonly elapsedMs: number
  readonly cpuMs: number | undefined
  readonly isSlow: boolean
}

/** Our own plain data, which the strategy cannot change. */
export interface DecisionMade extends DecisionTime {
  readonly kind: 'decided'
  /** An unchanged intent is the same object as before. */
  readonly intents: readonly Intent[]
  readonly denials: readonly IntentDenial[]
  /** Those that have changed; absent: none has. */
  readonly plots?: readonly PlotPoint[]
  /** Frozen, and the same object if unchanged. */
  readonly state: unknown
}

/** The strategy threw or returned an invalid answer; its state is unchanged. */
export interface DecisionFailed extends DecisionTime {
  readonly kind: 'failed'
  readonly code: StrategyFailureCode
  readonly message: string
  readonly isPaused?: boolean
}

export type DecisionResult = DecisionMade | DecisionFailed

export interface StrategyRunnerOptions {
  readonly strategyId: string
  readonly strategy: Strategy
  readonly params: unknown
  readonly instruments: readonly Instrument[]
  readonly stateText?: string | undefined
  readonly clock: Clock
  readonly threadCpuMs?: (() => number | undefined) | undefined
  readonly onSaid?: Listen | undefined
}

/** @throws Failure if initialState throws or returns no plain JSON, or the needs are invalid */
export function createStrategyRunner(options: StrategyRunnerOptions): StrategyRunner {
  return new StrategyRunner(options)
}

export class StrategyRunner {
  readonly strategyId: string
  readonly #strategy: Strategy
  readonly #params: unknown
  readonly #view: SnapshotView
  readonly #plots = new PlotSheet()
  readonly #clock: Clock
  readonly #threadCpuMs: () => number | undefined
  readonly #log: BoundedLog | undefined
  readonly #decideAsStrategy: () => unknown
  #state: unknown
  #stored: unknown
  #intents: readonly Intent[] = []
  #stray: StrategyFailure | undefined

  constructor(options: StrategyRunnerOptions) {
    this.strategyId = options.strategyId
    this.#strategy = options.strategy
    // All decisions share it: a strategy that wrote into it would not be pure.
    this.#params = deepFreeze(options.params)
    this.#view = new SnapshotView(
      options.instruments,
      resolveNeeds(options.strategy, options.params),
      this.#plots,
    )
    this.#clock = options.clock
    this.#threadCpuMs = options.threadCpuMs ?? (() => undefined)
    this.#log = options.onSaid && new BoundedLog(options.onSaid)
    const runAsStrategy = createStrategyScope(options.strategyId)
    const decide = (): unknown => this.#decide()
    this.#decideAsStrategy = () => runAsStrategy(decide)
    this.#state = firstState(options)
    this.#stored = toStored(options.strategy, this.#state)
  }

  get stateText(): string {
    return writeState(this.#stored)
  }

  /** Every decision fails from now on. */
  breakDown(error: unknown): void {
    this.#stray ??= strategyFailure('STRATEGY_STRAY', {
      facts: { thrown: describeThrown(error) },
      hint: 'decide must be synchronous: no timers, no promises; fixed code needs a restart',
      cause: error,
    })
  }

  decide(snapshot: Snapshot): DecisionResult {
    const startedAt = this.#clock.monotonic()
    const cpuBefore = this.#threadCpuMs()
    try {
      const decision = readDecision(this.#ask(snapshot))
      const state = readState(decision.state, this.#state)
      const { intents, denials } = readIntents(this.strategyId, decision.intents, this.#intents)
      if (state !== this.#state) this.#stored = toStored(this.#strategy, state)
      this.#state = state
      this.#intents = intents
      const { elapsedMs, cpuMs, isSlow } = this.#timeSince(startedAt, cpuBefore)
      return {
        kind: 'decided',
        intents,
        denials,
        state: this.#stored,
        elapsedMs,
        cpuMs,
        isSlow,
        ...this.#plots.take(),
      }
    } catch (error) {
      const { code, message } = toStrategyFailure(error)
      return { kind: 'failed', code, message, ...this.#timeSince(startedAt, cpuBefore) }
    }
  }

  #ask(snapshot: Snapshot): unknown {
    if (this.#stray !== undefined) throw this.#stray
    this.#view.pointAt(snapshot)
    this.#log?.begin(snapshot.takenAt)
    return this.#decideAsStrategy()
  }

  #decide(): unknown {
    const log = this.#log ?? SILENT_LOG
    try {
      return this.#strategy.decide(this.#view, { params: this.#params, state: this.#state, log })
    } catch (error) {
      throw isStrategyFailure(error) ? placedIn(error) : error
    }
  }

  #timeSince(startedAt: number, cpuBefore: number | undefined): DecisionTime {
    const elapsedMs = this.#clock.monotonic() - startedAt
    const cpuNow = cpuBefore === undefined ? undefined : this.#threadCpuMs()
    return { elapsedMs, cpuMs: cpuNow && cpuNow - (cpuBefore ?? 0), isSlow: elapsedMs > SLOW_MS }
  }
}

function readDecision(answer: unknown): { intents: readonly unknown[]; state: unknown } {
  if (typeof answer !== 'object' || answer === null)
    throw noDecision(`it returned ${String(answer)}`)
  if ('then' in answer) {
    // Its rejection would end the process.
    Promise.resolve(answer).catch(() => undefined)
    throw strategyFailure('STRATEGY_ASYNC', {
      hint: 'decide must be synchronous: no async, no await',
    })
  }
  if (!('intents' in answer) || !Array.isArray(answer.intents))
    throw noDecision('intents is not a list')
  if (!('state' in answer)) throw noDecision('state is missing')
  return { intents: answer.intents, state: answer.state }
}

function noDecision(found: string): StrategyFailure {
  return strategyFailure('STRATEGY_NO_DECISION', {
    facts: { found },
    hint: 'return { intents: […], state } each time',
  })
}

function toStrategyFailure(error: unknown): StrategyFailure {
  if (isStrategyFailure(error)) return error
  return strategyFailure('STRATEGY_THREW', {
    facts: { thrown: describeThrown(error) },
    cause: error,
  })
}
