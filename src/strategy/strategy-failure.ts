import { AsyncLocalStorage } from 'node:async_hooks'
import process from 'node:process'
import { Failure, type FailureDetails, messageOf } from '../lib/failure.ts'
import { cleanLine } from '../lib/text/clean-text.ts'
import { withoutPlace } from '../lib/without-place.ts'

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
  STRATEGY_STATE_VERSION:
    'the stored state of the strategy is of another version, and does not migrate',
  STRATEGY_STATE_NOT_SERIALISABLE: 'the state of the strategy cannot be stored as JSON',
  STRATEGY_STATE_TOO_LARGE:
    'the state of the strategy is too large to be stored with every decision',
  STRATEGY_THREW: 'decide of the strategy threw',
  STRATEGY_STRAY:
    'code of the strategy failed outside of decide, so what it does is not known any more',
  STRATEGY_ENDS_PROCESS: 'the strategy wanted to end the process',
  STRATEGY_ASYNC: 'decide of the strategy returned a promise',
  STRATEGY_NO_DECISION: 'decide of the strategy did not return { intents, state }',
  STRATEGY_HANGS: 'decide of the strategy did not come back in its time',
  STRATEGY_MEMORY: 'the strategy keeps more memory than thread.heapMb allows',
  STRATEGY_THREAD: 'the strategy cannot be run in a thread of its own',
  STRATEGY_IMPURE: 'the strategy imports something that its thread does not have',
  STRATEGY_DRAFT: 'the code of a draft is loaded only where the guard runs',
  STRATEGY_NAME_UNKNOWN: 'the strategy asked for something that is not there',
  INSTRUMENT_NOT_BOUND: 'the strategy file does not list the instrument',
  SIZE_OFF_GRID: 'the size is not a whole number of lots',
} as const

export type StrategyFailureCode = keyof typeof STRATEGY_FAILURES

export interface StrategyFailure extends Failure {
  readonly code: StrategyFailureCode
}

export function strategyFailure(
  code: StrategyFailureCode,
  details: Omit<FailureDetails, 'code' | 'sentence'> = {},
): StrategyFailure {
  return new Failure({ code, sentence: STRATEGY_FAILURES[code], ...details }) as StrategyFailure
}

export function isStrategyFailure(error: unknown): error is StrategyFailure {
  return error instanceof Failure && Object.hasOwn(STRATEGY_FAILURES, error.code)
}

const THROWN_LENGTH_MAX = 300

/**
 * Returns one line, with the place in the code. Never throws, whatever the value does when
 * accessed.
 */
export function describeThrown(error: unknown): string {
  try {
    const frame = error instanceof Error ? frameOf(error) : undefined
    const name = error instanceof Error ? `${error.name}: ` : ''
    const message = shorten(cleanLine(`${name}${messageOf(error)}`).replaceAll(/\s+/g, ' '))
    return frame === undefined ? message : `${message} (${shorten(frame)})`
  } catch {
    return 'something that cannot be printed'
  }
}

/** Strategy threads lose the global `process`. */
const ownProcess = process

/** Folder names are cut before the text is shortened, so that it is the same on every machine. */
function shorten(text: string): string {
  if (text.length <= THROWN_LENGTH_MAX) return text
  return withoutPlace(text, ownProcess.cwd()).slice(0, THROWN_LENGTH_MAX)
}

const OWN_FOLDERS = ['..', '../../bin'].map(
  (folder) => new URL(`${folder}/`, import.meta.url).pathname,
)

function frameOf(error: Error): string | undefined {
  const frames = [...(error.stack ?? '').matchAll(/\n\s+at (.*)/g)].map(([, frame = '']) => frame)
  const foreign = frames.filter(
    (frame) => !frame.includes('node:') && !OWN_FOLDERS.some((folder) => frame.includes(folder)),
  )
  return foreign.find((frame) => !frame.includes('/node_modules/')) ?? foreign[0] ?? frames[0]
}

export function strategyPlace(error: Error): string | undefined {
  // A `?` and a digest follow a file that changed since it was first read.
  const [, file, line] = /(\/[^()?]+)(?:\?[^():]*)?:(\d+):\d+\)?$/.exec(frameOf(error) ?? '') ?? []
  return file === undefined ? undefined : `${file.replace(/^\/\/+/, '/')}:${line}`
}

export function placedIn(failure: StrategyFailure): StrategyFailure {
  const { code, facts, hint } = failure
  const at = strategyPlace(failure)
  if (at === undefined || Object.hasOwn(facts, 'at')) return failure
  return strategyFailure(code, { facts: { ...facts, at }, ...(hint === undefined ? {} : { hint }) })
}

/**
 * Work that a strategy starts keeps the strategy's name, so effects on the process harm only this
 * strategy (STR1).
 */
const context = new AsyncLocalStorage<string>()

export function runAsStrategy<Result>(name: string, code: () => Result): Result {
  guardProcess()
  return context.run(name, code)
}

export function strategyAtFault(): string | undefined {
  return context.getStore()
}

const ENDS = ['exit', 'reallyExit', 'abort'] as const

let isGuarded = false

/** A strategy that wants to end the process gets an error; other code ends it. */
function guardProcess(): void {
  if (isGuarded) return
  isGuarded = true
  for (const name of ENDS) guardFunction(name, () => true)
  guardFunction('kill', ([pid]) => pid === process.pid)
}

function guardFunction(name: string, isOfUs: (args: readonly unknown[]) => boolean): void {
  const original: unknown = Reflect.get(process, name)
  if (typeof original !== 'function') return
  Reflect.set(process, name, (...args: readonly unknown[]): unknown => {
    if (strategyAtFault() === undefined || !isOfUs(args)) {
      return Reflect.apply(original, process, args) as unknown
    }
    throw strategyFailure('STRATEGY_ENDS_PROCESS', {
      facts: { called: `process.${name}` },
      hint: 'throw an error: the daemon halts a strategy that fails ten times in a row',
    })
  })
}

export function onBreakdown(
  fail: (error: unknown, strategy: string | undefined) => void,
): () => void {
  const hear = (error: unknown) => fail(error, strategyAtFault())
  process.on('uncaughtException', hear)
  return () => process.off('uncaughtException', hear)
}
