import type { z } from 'zod'
import type { Intent } from '../domain/intent.ts'
import { didYouMeanEnd } from '../lib/did-you-mean.ts'
import type { IndicatorSpecs, NoIndicators } from './indicators/specs.ts'
import type { InstrumentRules } from './instrument-rules.ts'
import type { DecideOn, Needs } from './needs.ts'
import type { SnapshotView } from './snapshot-view.ts'

/** The log does not affect decisions, and does nothing in a backtest. */
export interface StrategyLog {
  /**
   * Writes a line `strategy.said` to the daemon's log: at most 10 a decision and 100 a minute; the
   * rest is counted.
   */
  info(
    message: string,
    fields?: Readonly<Record<string, number | string | boolean | undefined>>,
  ): void
}

export interface Decision<State> {
  /** At most 500; a quote has at most 200 levels. */
  readonly intents: readonly Intent[]
  /**
   * Plain JSON for the next `decide`, which must return another one instead of changing it. It is
   * stored with each decision that wants something new, at a stop, and every ten seconds. After a
   * crash it may be that old, so do not count in it what the snapshot states.
   */
  readonly state: State
}

export interface StrategyDefinition<
  Params extends z.ZodType,
  State,
  Indicators extends IndicatorSpecs = NoIndicators,
> {
  /** Names the code in messages; the `id` of the strategy file names what trades. */
  readonly name: string
  readonly params: Params
  /** The host computes them. They may depend on the params. */
  readonly needs?: Needs<Indicators> | ((params: z.output<Params>) => Needs<Indicators>)
  /**
   * Default `'snapshot'`. In addition, `decide` is always called at the first snapshot of a run and
   * after a release.
   */
  readonly decides?: DecideOn | readonly DecideOn[]
  /** A state of another version is migrated, or the start is refused. */
  readonly state?: {
    readonly version: number
    /** @param version of the old state; 1 if none was declared */
    migrate?(old: unknown, version: number): State
  }
  initialState(params: z.output<Params>): State
  /** Checks what a schema cannot express; `intentd check` reports each sentence. */
  check?(params: z.output<Params>, instruments: readonly InstrumentRules[]): readonly string[]
  /** It is synchronous and pure: no I/O, no clock (the snapshot has the time), no randomness. */
  decide(
    snapshot: SnapshotView<NoInfer<Indicators>>,
    context: {
      readonly params: z.output<Params>
      readonly state: NoInfer<State>
      readonly log: StrategyLog
    },
  ): Decision<NoInfer<State>>
}

export interface Strategy {
  readonly name: string
  readonly params: z.ZodType
  readonly needs?: Needs | ((params: unknown) => Needs)
  readonly decides?: DecideOn | readonly DecideOn[]
  readonly state?: {
    readonly version: number
    migrate?(old: unknown, version: number): unknown
  }
  initialState(params: unknown): unknown
  check?(params: unknown, instruments: readonly InstrumentRules[]): unknown
  decide(
    snapshot: SnapshotView,
    context: { readonly params: unknown; readonly state: unknown; readonly log: StrategyLog },
  ): unknown
}

const defined = new WeakSet<object>()

/**
 * Makes the default export of a strategy file. @throws TypeError if a part is missing (plain
 * JavaScript has no compiler)
 */
export function defineStrategy<
  Params extends z.ZodType,
  State,
  Indicators extends IndicatorSpecs = NoIndicators,
>(definition: StrategyDefinition<Params, State, Indicators>): Strategy {
  const strategy = Object.freeze({ ...definition }) as unknown as Strategy
  assertComplete(strategy)
  defined.add(strategy)
  return strategy
}

export function isStrategy(value: unknown): value is Strategy {
  return typeof value === 'object' && value !== null && defined.has(value)
}

const PARTS: readonly string[] = [
  'name',
  'params',
  'needs',
  'decides',
  'state',
  'initialState',
  'check',
  'decide',
] satisfies readonly (keyof Strategy)[]

function assertComplete(definition: Partial<Strategy>): void {
  const { name, params, initialState, check, decide } = definition
  const unknown = Object.keys(definition).find((part) => !PARTS.includes(part))
  const wrong =
    (unknown === undefined
      ? undefined
      : `${unknown} is no part of a strategy${didYouMeanEnd(unknown, PARTS)}`) ??
    (typeof name !== 'string' || name === '' ? 'name must be a word' : undefined) ??
    (typeof params?.safeParse !== 'function'
      ? 'params must be a zod schema, z.strictObject({ … })'
      : undefined) ??
    (typeof initialState !== 'function' ? 'initialState must be a function' : undefined) ??
    (typeof decide !== 'function' ? 'decide must be a function' : undefined) ??
    (check !== undefined && typeof check !== 'function' ? 'check must be a function' : undefined)
  if (wrong !== undefined) throw new TypeError(`defineStrategy: ${wrong}`)
}
