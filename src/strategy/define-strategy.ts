import type { z } from 'zod'
import type { Intent } from '../domain/intent.ts'
import { didYouMeanEnd } from '../lib/did-you-mean.ts'
import type { IndicatorSpecs, NoIndicators } from './indicators/specs.ts'
import type { InstrumentRules } from './instrument-rules.ts'
import type { DecideOn, Needs } from './needs.ts'
import type { StrategyLog } from './strategy-log.ts'
import type { SnapshotView } from './snapshot-view.ts'

/** What `decide` answers: what the strategy wants now, and what it wants to remember. */
export interface Decision<State> {
  /** At most 500, of which a quote has at most 200 levels. */
  readonly intents: readonly Intent[]
  /**
   * Plain JSON, handed to the next `decide`, which cannot change it: return another. Stored with every decision that wants something new, every ten seconds
   * otherwise, and at a stop: after a crash `decide` may be given one of up to ten seconds before, from which nothing
   * else was wanted since. Count nothing in it that the snapshot says.
   */
  readonly state: State
}

/** A strategy as its author writes it. Pure: same snapshot, params and state, same answer. */
export interface StrategyDefinition<
  Params extends z.ZodType,
  State,
  Indicators extends IndicatorSpecs = NoIndicators,
> {
  /** Names the code, for people; the `id` of the strategy file names what trades. */
  readonly name: string
  /** The shape of `params` in the strategy file. */
  readonly params: Params
  /** Candles and indicators that the host keeps and works out. May depend on the params. */
  readonly needs?: Needs<Indicators> | ((params: z.output<Params>) => Needs<Indicators>)
  /**
   * When it is asked; default `'snapshot'`. With `'candle'` when one of its needed candles closes, with `'fill'` at
   * each fill of its own; always at the first snapshot of a run and after a release.
   */
  readonly decides?: DecideOn | readonly DecideOn[]
  /** Counts the shapes of the state, from 1. One of another version is migrated, or the start is refused. */
  readonly state?: {
    readonly version: number
    /** @param version of the old one: 1 for one of before versions were declared. */
    migrate?(old: unknown, version: number): State
  }
  /** What is remembered before the first decision. Plain JSON. */
  initialState(params: z.output<Params>): State
  /** What a schema cannot say, a sentence each; reported by `intentd check`. */
  check?(params: z.output<Params>, instruments: readonly InstrumentRules[]): readonly string[]
  /** Synchronous: no I/O, no clock (the snapshot has the time), no randomness. */
  decide(
    snapshot: SnapshotView<NoInfer<Indicators>>,
    context: {
      readonly params: z.output<Params>
      readonly state: NoInfer<State>
      readonly log: StrategyLog
    },
  ): Decision<NoInfer<State>>
}

/** A strategy as the daemon runs it: nothing that it answers is trusted. */
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

/** Whatever was made here and not by hand. */
const defined = new WeakSet<object>()

/**
 * What a strategy file exports by default.
 *
 * @throws TypeError when a part is missing (a strategy may be plain JavaScript, which no compiler checks).
 */
export function defineStrategy<
  Params extends z.ZodType,
  State,
  Indicators extends IndicatorSpecs = NoIndicators,
>(definition: StrategyDefinition<Params, State, Indicators>): Strategy {
  // Its views have what it declares: the runner makes them from that.
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
