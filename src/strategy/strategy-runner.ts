import type { Instrument } from '../domain/instrument.ts'
import type { Intent } from '../domain/intent.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import type { Clock } from '../lib/clock.ts'
import { deepFreeze } from '../lib/plain-data.ts'
import type { Strategy } from './define-strategy.ts'
import { resolveNeeds } from './needs.ts'
import { type IntentDenial, readIntents } from './read-intents.ts'
import { createStrategyScope } from './strategy-context.ts'
import { BoundedLog, type Listen, SILENT_LOG } from './strategy-log.ts'
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

/** From here a decision is reported as slow, in ms: it holds up every other strategy of the process. */
const SLOW_MS = 50

/** A decision that came to pass. All of it is plain data of our own, which the strategy cannot change. */
export interface Decided {
  readonly kind: 'decided'
  /** An intent that says what it said in the decision before is the same object. */
  readonly intents: readonly Intent[]
  /** The intents that make no sense; the others stand. */
  readonly denials: readonly IntentDenial[]
  /** What the strategy remembers from now on: frozen, and the same object where nothing of it has changed. */
  readonly state: unknown
  readonly tookMs: number
  readonly isSlow: boolean
}

/** The strategy threw or answered nonsense; its state is what it was before. */
export interface DecisionFailed {
  readonly kind: 'failed'
  readonly code: StrategyFailureCode
  /** For people: the code, a sentence, facts, and what was thrown. */
  readonly message: string
  readonly tookMs: number
  readonly isSlow: boolean
  /** It is not asked for a while. */
  readonly isPaused?: boolean
}

export type DecisionResult = Decided | DecisionFailed

export interface StrategyRunnerOptions {
  readonly strategyId: string
  readonly strategy: Strategy
  /** As the strategy's own schema gave them back. */
  readonly params: unknown
  readonly instruments: readonly Instrument[]
  /** What the journal kept; absent for a strategy that never decided. */
  readonly stateText?: string | undefined
  readonly clock: Clock
  /** Hears what the strategy says; absent: nobody does. */
  readonly onSaid?: Listen | undefined
}

/** @throws Failure when the first state cannot be had: initialState throws, or is not plain JSON; or what it needs. */
export function createStrategyRunner(options: StrategyRunnerOptions): StrategyRunner {
  return new StrategyRunner(options)
}

/** The narrow way to a strategy: a snapshot goes in, JSON comes out. It never throws. */
export class StrategyRunner {
  readonly strategyId: string
  readonly #strategy: Strategy
  readonly #params: unknown
  readonly #view: SnapshotView
  readonly #clock: Clock
  readonly #log: BoundedLog | undefined
  /** Has the strategy's code run under its name. */
  readonly #decideAsStrategy: () => unknown
  #state: unknown
  /** The same as it is stored: with its version. */
  #stored: unknown
  #intents: readonly Intent[] = []
  #stray: StrategyFailure | undefined

  constructor(options: StrategyRunnerOptions) {
    this.strategyId = options.strategyId
    this.#strategy = options.strategy
    // Shared by all decisions: a strategy that wrote into them would no longer be a function of its input.
    this.#params = deepFreeze(options.params)
    this.#view = new SnapshotView(options.instruments, resolveNeeds(options.strategy, options.params))
    this.#clock = options.clock
    this.#log = options.onSaid && new BoundedLog(options.onSaid)
    const runAsStrategy = createStrategyScope(options.strategyId)
    const decide = (): unknown => this.#decide()
    this.#decideAsStrategy = () => runAsStrategy(decide)
    this.#state = firstState(options)
    this.#stored = toStored(options.strategy, this.#state)
  }

  /** What the strategy remembers, as JSON text. */
  get stateText(): string {
    return writeState(this.#stored)
  }

  /** Its code failed where nobody waited for it: it is not asked any more, and each decision fails from now on. */
  breakDown(error: unknown): void {
    this.#stray ??= strategyFailure('STRATEGY_STRAY', {
      facts: { thrown: describeThrown(error) },
      hint: 'decide must be synchronous: no timers, no promises; fixed code needs a restart',
      cause: error,
    })
  }

  decide(snapshot: Snapshot): DecisionResult {
    const startedAt = this.#clock.monotonic()
    try {
      const decision = readDecision(this.#ask(snapshot))
      const state = readState(decision.state, this.#state)
      const { intents, denials } = readIntents(this.strategyId, decision.intents, this.#intents)
      if (state !== this.#state) this.#stored = toStored(this.#strategy, state)
      this.#state = state
      this.#intents = intents
      const tookMs = this.#clock.monotonic() - startedAt
      return { kind: 'decided', intents, denials, state: this.#stored, tookMs, isSlow: tookMs > SLOW_MS }
    } catch (error) {
      return this.#fail(error, startedAt)
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

  #fail(error: unknown, startedAt: number): DecisionFailed {
    const { code, message } = toStrategyFailure(error)
    const tookMs = this.#clock.monotonic() - startedAt
    return { kind: 'failed', code, message, tookMs, isSlow: tookMs > SLOW_MS }
  }
}

function readDecision(answer: unknown): { intents: readonly unknown[]; state: unknown } {
  if (typeof answer !== 'object' || answer === null) throw noDecision(`it returned ${String(answer)}`)
  if ('then' in answer) {
    // Its rejection would otherwise end the process: nobody else waits for this promise.
    Promise.resolve(answer).catch(() => undefined)
    throw strategyFailure('STRATEGY_ASYNC', { hint: 'decide must be synchronous: no async, no await' })
  }
  if (!('intents' in answer) || !Array.isArray(answer.intents)) throw noDecision('intents is not a list')
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
  return strategyFailure('STRATEGY_THREW', { facts: { thrown: describeThrown(error) }, cause: error })
}
