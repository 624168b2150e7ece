import { type StrategyId, toStrategyId } from '../../domain/ids.ts'
import type { Intent } from '../../domain/intent.ts'
import type { Core } from '../../engine/state/core.ts'
import { newestStates } from '../../engine/strategies/take-decision.ts'
import type { Effect } from '../../engine/effect.ts'
import type { EngineEvent } from '../../engine/event.ts'
import type { Clock } from '../../lib/clock.ts'
import { writeValue } from '../../lib/value-text.ts'
import type { StrategyRunner } from '../../strategy/strategy-runner.ts'
import type { ReplayWatcher } from '../recordings/replay.ts'
import { createRunner, type LoadedStrategy, readStrategy } from './strategies.ts'
import type { loadStrategyFile } from '../../config/load-config.ts'
import { ConfigError } from '../../config/yaml/problem.ts'
import type { EngineSettings } from '../../engine/settings.ts'
import { Failure } from '../../lib/failure.ts'

export type Wishes = readonly Intent[] | string

export interface ChangedDecision {
  readonly at: number
  /** All instruments if one of the two failed. */
  readonly symbol: string
  readonly was: Wishes
  readonly now: Wishes
}

export interface ChangedStrategyOptions {
  readonly strategy: LoadedStrategy
  readonly clock: Clock
  readonly onChange: (change: ChangedDecision) => void
}

/**
 * The changed strategy is asked whenever the recorded one was, with its own state but recorded
 * positions, orders and fills. Each run begins with the recorded state.
 */
export class ChangedStrategy implements ReplayWatcher {
  readonly #options: ChangedStrategyOptions
  #runner: StrategyRunner | undefined
  #said: Wishes | undefined
  decisions = 0
  changed = 0

  constructor(options: ChangedStrategyOptions) {
    this.#options = options
  }

  get #id(): StrategyId {
    return this.#options.strategy.id
  }

  onBegin(core: Core): void {
    const { strategy, clock } = this.#options
    this.#runner = createRunner(strategy, newestStates(core), clock)
    this.#said = undefined
  }

  onStep({ at, event, effects }: Parameters<Required<ReplayWatcher>['onStep']>[0]): void {
    this.#compare(at, event)
    for (const effect of effects) this.#ask(effect)
  }

  #ask(effect: Effect): void {
    if (effect.kind !== 'decide' || effect.strategyId !== this.#id || !this.#runner) return
    const result = this.#runner.decide(effect.snapshot)
    if (result.kind === 'decided') this.#said = result.intents
    else this.#said = result.message
  }

  #compare(at: number, event: EngineEvent): void {
    if (event.kind !== 'decided' && event.kind !== 'decisionFailed') return
    if (event.strategyId !== this.#id || this.#said === undefined) return
    const was = event.kind === 'decided' ? event.intents : event.reason
    const changes = differences(was, this.#said)
    this.#said = undefined
    this.decisions += 1
    if (changes.length > 0) this.changed += 1
    for (const change of changes) this.#options.onChange({ at, ...change })
  }
}

const ALL_INSTRUMENTS = '*'

function differences(was: Wishes, now: Wishes): readonly Omit<ChangedDecision, 'at'>[] {
  if (typeof was === 'string' || typeof now === 'string') {
    return was === now ? [] : [{ symbol: ALL_INSTRUMENTS, was, now }]
  }
  const symbols = new Set([...was, ...now].map(({ symbol }) => symbol))
  return [...symbols].flatMap((symbol) => {
    const [before, after] = [was, now].map((intents) =>
      intents.filter((intent) => intent.symbol === symbol),
    )
    if (!before || !after || writeValue(before) === writeValue(after)) return []
    return [{ symbol, was: before, now: after }]
  })
}

/**
 * The changed strategy replaces the recorded one with its id.
 * @throws ConfigError for invalid params; Failure if the recording has nothing for it
 */
export async function loadChangedStrategy(
  { strategy, document: source }: ReturnType<typeof loadStrategyFile>,
  { strategies, instruments, positionMode }: EngineSettings,
): Promise<LoadedStrategy> {
  const recorded = strategies.get(toStrategyId(strategy.id))
  if (!recorded) {
    throw new Failure({
      code: 'REPLAY_STRATEGY_UNKNOWN',
      sentence: 'no strategy of this id was recorded',
      facts: { file: strategy.file, id: strategy.id, recorded: [...strategies.keys()].join(' ') },
      hint: 'give the changed file the id of the strategy that it is to be compared with',
    })
  }
  const unseen = strategy.instruments.filter((symbol) => !recorded.symbols.includes(symbol))
  if (unseen.length > 0) {
    throw new Failure({
      code: 'REPLAY_INSTRUMENT_UNSEEN',
      sentence: 'the recorded strategy was not shown these instruments',
      facts: {
        file: strategy.file,
        instruments: unseen.join(' '),
        recorded: recorded.symbols.join(' '),
      },
    })
  }
  const loaded = await readStrategy(strategy, { source, positionMode, instruments })
  if ('problems' in loaded) throw new ConfigError(loaded.problems)
  return loaded
}
