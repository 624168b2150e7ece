/** Every way in which a strategy can disappoint the daemon: the code and the sentence behind it. */
import { Failure, messageOf, type FailureDetails } from '../lib/failure.ts'

export const STRATEGY_FAILURES = {
  STRATEGY_FILE_MISSING: 'there is no strategy file at this path',
  STRATEGY_FILE_KIND: 'a strategy is a .ts, .mts, .js or .mjs file',
  STRATEGY_IN_NODE_MODULES: 'TypeScript under node_modules is not run',
  STRATEGY_SYNTAX: 'the strategy file does not parse',
  STRATEGY_SYNTAX_NOT_ERASABLE: 'the strategy uses TypeScript syntax that has to be compiled',
  STRATEGY_IMPORT_MISSING: 'the strategy imports something that is not there',
  STRATEGY_IMPORT_THREW: 'the strategy threw while it was being loaded',
  STRATEGY_IMPORT_HANGS: 'the strategy file does not come to its end while it is loaded',
  STRATEGY_DEFAULT_MISSING: 'the strategy file has no default export',
  STRATEGY_NOT_DEFINED: 'the default export was not made by defineStrategy',
  STRATEGY_NEEDS: 'what the strategy needs cannot be kept or worked out',
  STRATEGY_INITIAL_STATE: 'initialState of the strategy threw',
  STRATEGY_STATE_UNREADABLE: 'the stored state of the strategy is not JSON',
  STRATEGY_STATE_VERSION: 'the stored state of the strategy is of another version, and does not migrate',
  STRATEGY_STATE_NOT_SERIALISABLE: 'the state of the strategy cannot be stored as JSON',
  STRATEGY_STATE_TOO_LARGE: 'the state of the strategy is too large to be stored with every decision',
  STRATEGY_THREW: 'decide of the strategy threw',
  STRATEGY_STRAY: 'code of the strategy failed outside of decide, so what it does is not known any more',
  STRATEGY_ENDS_PROCESS: 'the strategy wanted to end the process',
  STRATEGY_ASYNC: 'decide of the strategy returned a promise',
  STRATEGY_NO_DECISION: 'decide of the strategy did not return { intents, state }',
  STRATEGY_HANGS: 'decide of the strategy did not come back in its time',
  STRATEGY_MEMORY: 'the strategy keeps more memory than thread.heapMb allows',
  STRATEGY_THREAD: 'the strategy cannot be run in a thread of its own',
  STRATEGY_IMPURE: 'the strategy imports a module of Node',
  INSTRUMENT_NOT_BOUND: 'the strategy file does not list the instrument',
  SIZE_OFF_GRID: 'the size is not a whole number of lots',
} as const

export type StrategyFailureCode = keyof typeof STRATEGY_FAILURES

export interface StrategyFailure extends Failure {
  readonly code: StrategyFailureCode
}

/** A {@link Failure} with a code of this module, whose sentence comes from the table. */
export function strategyFailure(
  code: StrategyFailureCode,
  details: Omit<FailureDetails, 'code' | 'sentence'> = {},
): StrategyFailure {
  return new Failure({ code, sentence: STRATEGY_FAILURES[code], ...details }) as StrategyFailure
}

export function isStrategyFailure(error: unknown): error is StrategyFailure {
  return error instanceof Failure && Object.hasOwn(STRATEGY_FAILURES, error.code)
}

/** Longest description of what was thrown: it may be anything, of any size. */
const THROWN_LENGTH_MAX = 300

/** What was thrown and where, in one line; never throws, whatever the thing does when it is looked at. */
export function describeThrown(error: unknown): string {
  try {
    const frame = error instanceof Error ? /\n\s+at (.*)/.exec(error.stack ?? '')?.[1] : undefined
    const name = error instanceof Error ? `${error.name}: ` : ''
    const message = `${name}${messageOf(error)}`.replaceAll(/\s+/g, ' ').slice(0, THROWN_LENGTH_MAX)
    return frame === undefined ? message : `${message} (${frame.slice(0, THROWN_LENGTH_MAX)})`
  } catch {
    return 'something that cannot be printed'
  }
}
