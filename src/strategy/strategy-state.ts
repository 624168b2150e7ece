/** What a strategy remembers: plain JSON, kept as text, so that neither side holds a reference into the other. */
import { type Strategy } from './define-strategy.ts'
import { runAsStrategy } from './strategy-context.ts'
import { describeThrown, strategyFailure } from './strategy-failure.ts'

/** Largest state, in characters of JSON: it is written to the journal every ten seconds, and with every new wish. */
const STATE_LENGTH_MAX = 262_144

/** Deepest nesting of a state: far beyond need, and the end of a walk that would never end (a cycle). */
const DEPTH_MAX = 32

export interface FirstStateOptions {
  readonly strategy: Strategy
  readonly params: unknown
  readonly stateText?: string | undefined
}

/**
 * The state of the first decision: what the journal kept, or else what the strategy begins with.
 *
 * @throws Failure when neither can be had.
 */
export function firstState({ strategy, params, stateText }: FirstStateOptions): string {
  if (stateText === undefined) return writeState(initialState(strategy, params))
  try {
    JSON.parse(stateText)
    return stateText
  } catch (cause) {
    throw strategyFailure('STRATEGY_STATE_UNREADABLE', { facts: { strategy: strategy.name }, cause })
  }
}

function initialState(strategy: Strategy, params: unknown): unknown {
  try {
    return runAsStrategy(strategy.name, () => strategy.initialState(params))
  } catch (cause) {
    throw strategyFailure('STRATEGY_INITIAL_STATE', {
      facts: { strategy: strategy.name, thrown: describeThrown(cause) },
      cause,
    })
  }
}

/** The state as JSON text. @throws Failure that names the path of what JSON cannot say. */
export function writeState(state: unknown): string {
  const found = findUnserialisable(state)
  if (found !== undefined) {
    throw strategyFailure('STRATEGY_STATE_NOT_SERIALISABLE', {
      facts: { found },
      hint: 'keep numbers, texts, booleans, null, lists and plain objects of these',
    })
  }
  const text = JSON.stringify(state)
  if (text.length <= STATE_LENGTH_MAX) return text
  throw strategyFailure('STRATEGY_STATE_TOO_LARGE', {
    facts: { characters: text.length, limit: STATE_LENGTH_MAX },
    hint: 'remember sums and averages, not the history',
  })
}

/**
 * What JSON would lose or change, as a path and a reason: `levels[2].at: a Date`. Undefined when the value
 * survives the round trip. A property that is `undefined` does: it is absent afterwards.
 */
function findUnserialisable(value: unknown, path = 'state', depth = 0): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${path}: ${value}`
  if (typeof value !== 'object') return `${path}: ${value === undefined ? 'undefined' : `a ${typeof value}`}`
  if (depth >= DEPTH_MAX) return `${path}: nested deeper than ${DEPTH_MAX} levels, or in itself`
  if (Array.isArray(value)) {
    // Not forEach and friends: they step over holes, which JSON turns into null.
    for (let index = 0; index < value.length; index++) {
      const found = findUnserialisable(value[index], `${path}[${index}]`, depth + 1)
      if (found !== undefined) return found
    }
    return undefined
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null)
    return `${path}: not a plain object (${Object.prototype.toString.call(value)})`
  if ('toJSON' in value) return `${path}: an object with toJSON`
  for (const [key, part] of Object.entries(value)) {
    const found = part === undefined ? undefined : findUnserialisable(part, `${path}.${key}`, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}
