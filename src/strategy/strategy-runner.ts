import { AsyncResource } from 'node:async_hooks'
import type { DecisionNotes } from '../domain/strategy-wait.ts'
import type { Instrument } from '../domain/instrument.ts'
import type { Intent } from '../domain/intent.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import type { Clock } from '../lib/clock.ts'
import { deepFreeze, isRecord } from '../lib/plain-data.ts'
import type { Strategy, StrategyLog } from './define-strategy.ts'
import { resolveNeeds } from './needs.ts'
import { type IntentDenial, readIntents } from './read-intents.ts'
import { SnapshotView } from './snapshot-view.ts'
import {
  describeThrown,
  isStrategyFailure,
  placedIn,
  runAsStrategy,
  strategyFailure,
  type StrategyFailure,
  type StrategyFailureCode,
} from './strategy-failure.ts'
import { PlotSheet } from './instrument-view.ts'
import { cleanLine } from '../lib/text/clean-text.ts'

/** A slow decision delays all other strategies, so it is logged. */
export const SLOW_MS = 50

export interface DecisionTime {
  readonly elapsedMs: number
  readonly cpuMs: number | undefined
  readonly isSlow: boolean
}

/** Our own plain data, which the strategy cannot change. */
export interface DecisionMade extends DecisionTime, DecisionNotes {
  readonly kind: 'decided'
  readonly intents: readonly Intent[]
  readonly denials: readonly IntentDenial[]
  readonly state: unknown
}

interface DecisionFailed extends DecisionTime {
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

export class StrategyRunner {
  readonly strategyId: string
  readonly #strategy: Strategy
  readonly #params: unknown
  readonly #view: SnapshotView
  readonly #plots = new PlotSheet()
  readonly #clock: Clock
  readonly #threadCpuMs: () => number | undefined
  readonly #log: BoundedLog | undefined
  /** Entering this one scope takes 30 ns; a new scope for each decision would take 450 ns. */
  readonly #scope: AsyncResource
  #state: unknown
  #stored: unknown
  #intents: readonly Intent[] = []
  #stray: StrategyFailure | undefined

  /** @throws Failure if initialState throws or returns no plain JSON, or the needs are invalid */
  constructor(options: StrategyRunnerOptions) {
    this.strategyId = options.strategyId
    this.#strategy = options.strategy
    // A strategy that changed its params would not be pure.
    this.#params = deepFreeze(options.params)
    this.#view = new SnapshotView(
      options.instruments,
      resolveNeeds(options.strategy, options.params),
      this.#plots,
    )
    this.#clock = options.clock
    this.#threadCpuMs = options.threadCpuMs ?? (() => undefined)
    this.#log = options.onSaid && new BoundedLog(options.onSaid)
    this.#scope = runAsStrategy(options.strategyId, () => new AsyncResource('strategy'))
    this.#state = firstState(options)
    this.#stored = toStored(options.strategy, this.#state)
  }

  get stateText(): string {
    return JSON.stringify(this.#stored)
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
      if (this.#stray !== undefined) throw this.#stray
      this.#view.pointAt(snapshot)
      this.#log?.begin(snapshot.takenAt)
      this.#plots.begin()
      const decision = readDecision(this.#scope.runInAsyncScope(this.#askStrategy))
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

  readonly #askStrategy = (): unknown => {
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
    // An unheard rejection would end the process.
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

/** Bounds what is written to the journal every ten seconds, and with each new wish. */
const STATE_LENGTH_MAX = 262_144

const DEPTH_MAX = 32

interface FirstStateOptions {
  readonly strategy: Strategy
  readonly params: unknown
  readonly stateText?: string | undefined
}

/** @throws Failure if the journal has none and the strategy gives none */
function firstState({ strategy, params, stateText }: FirstStateOptions): unknown {
  if (stateText === undefined) return readState(initialState(strategy, params))
  try {
    return toPresentVersion(strategy, deepFreeze(JSON.parse(stateText) as unknown))
  } catch (cause) {
    if (isStrategyFailure(cause)) throw cause
    throw strategyFailure('STRATEGY_STATE_UNREADABLE', {
      facts: { strategy: strategy.name },
      cause,
    })
  }
}

interface VersionedState {
  readonly stateVersion: number
  readonly state: unknown
}

function toStored({ state: declared }: Strategy, state: unknown): unknown {
  return declared ? Object.freeze({ stateVersion: declared.version, state }) : state
}

function isVersioned(stored: unknown): stored is VersionedState {
  return isRecord(stored) && Object.keys(stored).join() === 'stateVersion,state'
}

/** @throws Failure STRATEGY_STATE_VERSION if it cannot be migrated */
function toPresentVersion(strategy: Strategy, stored: unknown): unknown {
  const declared = strategy.state
  const version = declared?.version ?? 1
  const { stateVersion, state } = isVersioned(stored) ? stored : { stateVersion: 1, state: stored }
  if (stateVersion === version) return state
  const facts = { strategy: strategy.name, stored: stateVersion, declared: version }
  if (declared?.migrate === undefined) {
    const hint =
      'write state: { version, migrate(old, version) { … } }, or give the strategy another id'
    throw strategyFailure('STRATEGY_STATE_VERSION', { facts, hint })
  }
  try {
    return readState(runAsStrategy(strategy.name, () => declared.migrate?.(state, stateVersion)))
  } catch (cause) {
    throw strategyFailure('STRATEGY_STATE_VERSION', {
      facts: { ...facts, thrown: describeThrown(cause) },
      cause,
    })
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

/**
 * Copies the state into frozen data of our own, so that neither side holds a reference into the
 * other.
 * @param known the previous result: its unchanged parts are reused
 * @throws Failure with the path of a value that JSON cannot express
 */
export function readState(state: unknown, known?: unknown): unknown {
  if (state === known) return known
  const count = { parts: 0 }
  const copy = copyData(state, known, count)
  if (copy === known) return known
  if (copy === NO_DATA)
    throw notSerialisable(findUnserialisable(state) ?? 'state: another at each look')
  if (count.parts > PARTS_SMALL)
    checkLength(count.parts > STATE_LENGTH_MAX ? count.parts : JSON.stringify(copy).length)
  return copy
}

function checkLength(characters: number): void {
  if (characters <= STATE_LENGTH_MAX) return
  throw strategyFailure('STRATEGY_STATE_TOO_LARGE', {
    facts: { characters, limit: STATE_LENGTH_MAX },
    hint: 'remember sums and averages, not the history',
  })
}

function notSerialisable(found: string): StrategyFailure {
  return strategyFailure('STRATEGY_STATE_NOT_SERIALISABLE', {
    facts: { found },
    hint: 'keep numbers, texts, booleans, null, lists and plain objects of these',
  })
}

/** Each part takes at most 25 characters of JSON. */
const PARTS_SMALL = STATE_LENGTH_MAX / 25

const NO_DATA = Symbol('no data')

/**
 * Each property is read once, so that getters cannot change it later.
 * @param count of values and characters ends a copy that is too large
 */
function copyData(value: unknown, known: unknown, count: { parts: number }, depth = 0): unknown {
  count.parts += typeof value === 'string' ? value.length + 1 : 1
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : NO_DATA
  if (typeof value !== 'object' || depth >= DEPTH_MAX) return NO_DATA
  if (Array.isArray(value)) return copyList(value, known, count, depth)
  if (!isPlain(value)) return NO_DATA
  const before = isRecord(known) ? known : NOTHING
  const copy: Record<string, unknown> = { ...value }
  let isSame = known === before
  // `for … in` takes a third of the time of `Object.keys`.
  for (const key in copy) {
    if (!Object.hasOwn(copy, key)) continue
    if (count.parts > STATE_LENGTH_MAX) break
    const read = copy[key]
    if (typeof read === 'number' && Number.isFinite(read)) {
      count.parts += key.length + 1
      if (isSame && read !== before[key]) isSame = false
      continue
    }
    if (read === undefined) {
      delete copy[key]
      continue
    }
    count.parts += key.length
    const part = copyData(read, before[key], count, depth + 1)
    if (part === NO_DATA) return NO_DATA
    if (part !== read) copy[key] = part
    if (isSame && part !== before[key]) isSame = false
  }
  return isSame && haveSameNames(copy, before) ? known : Object.freeze(copy)
}

function haveSameNames(one: object, other: object): boolean {
  const [names, others] = [Object.keys(one), Object.keys(other)]
  return names.length === others.length && names.every((name, place) => name === others[place])
}

const NOTHING: Readonly<Record<string, unknown>> = {}

function copyList(
  list: readonly unknown[],
  known: unknown,
  count: { parts: number },
  depth: number,
): unknown {
  const before: readonly unknown[] = Array.isArray(known) ? known : []
  const copy: unknown[] = []
  let isSame = known === before && list.length === before.length
  for (let index = 0; index < list.length && count.parts <= STATE_LENGTH_MAX; index++) {
    const part = copyData(list[index], before[index], count, depth + 1)
    if (part === NO_DATA) return NO_DATA
    isSame &&= part === before[index]
    copy.push(part)
  }
  return isSame ? known : Object.freeze(copy)
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return (prototype === Object.prototype || prototype === null) && !('toJSON' in value)
}

/**
 * Names a part, such as `levels[2].at: a Date`. A property that is `undefined` is accepted, and
 * left out.
 */
function findUnserialisable(value: unknown, path = 'state', depth = 0): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${path}: ${value}`
  if (typeof value !== 'object')
    return `${path}: ${value === undefined ? 'undefined' : `a ${typeof value}`}`
  if (depth >= DEPTH_MAX) return `${path}: nested deeper than ${DEPTH_MAX} levels, or in itself`
  if (Array.isArray(value)) {
    // forEach skips holes, which JSON turns into null.
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
    const found =
      part === undefined ? undefined : findUnserialisable(part, `${path}.${key}`, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

export interface SaidLine {
  readonly message: string
  readonly facts: Readonly<Record<string, unknown>>
}

type Listen = (line: SaidLine) => void

const LINES_MAX = 10
const LINES_A_MINUTE_MAX = 100
const MINUTE_MS = 60_000
const LENGTH_MAX = 500
const FIELDS_MAX = 20

const SILENT_LOG: StrategyLog = { info: () => undefined }

export class BoundedLog implements StrategyLog {
  readonly #listen: Listen
  #lines = 0
  #minuteAt = 0
  #linesOfMinute = 0
  #dropped = 0

  constructor(listen: Listen) {
    this.#listen = listen
  }

  begin(now: number): void {
    this.#lines = 0
    if (Math.abs(now - this.#minuteAt) < MINUTE_MS) return
    this.#minuteAt = now
    this.#linesOfMinute = 0
    if (this.#dropped > 0)
      this.#listen({ message: 'lines were left out', facts: { lines: this.#dropped } })
    this.#dropped = 0
  }

  info: StrategyLog['info'] = (message, fields = {}) => {
    if (this.#lines >= LINES_MAX || this.#linesOfMinute >= LINES_A_MINUTE_MAX) {
      this.#dropped += 1
      return
    }
    this.#lines += 1
    this.#linesOfMinute += 1
    const shown: readonly [string, unknown][] = Object.entries(fields)
      .slice(0, FIELDS_MAX)
      .map(([name, value]): [string, unknown] => [
        cleanLine(name).slice(0, LENGTH_MAX),
        toShown(value),
      ])
    const line = cleanLine(String(message)).slice(0, LENGTH_MAX)
    this.#listen({ message: line, facts: Object.fromEntries<unknown>(shown) })
  }
}

function toShown(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'boolean'
    ? value
    : cleanLine(String(value)).slice(0, LENGTH_MAX)
}
