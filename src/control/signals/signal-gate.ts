import { createHash } from 'node:crypto'
import {
  feedOfSignal,
  SENDER_AHEAD_MS_MAX,
  type Signal,
  type SignalValue,
} from '../../domain/signal.ts'
import { parseTime } from '../../lib/text/parse-time.ts'
import { readSignalFields, type SignalFields } from '../../domain/signal-fields.ts'
import { ownField } from './signal-body.ts'
import type { OnAnswered, ProvedSignal, SignalAnswer, SignalKey } from './signal-guard.ts'

export interface SignalRule extends SignalKey {
  readonly idField?: string | undefined
  readonly timeField?: string | undefined
  readonly windowMs: number
  readonly fields: SignalFields
}

/**
 * `repeated`: it was taken before. `outdated`: one that was sent later was taken. Undefined: the
 * account takes no signals now.
 */
export type SignalOutcome = 'taken' | 'repeated' | 'outdated' | undefined

export interface SignalGateOptions {
  readonly rules: readonly SignalRule[]
  /** Unix ms, our clock. */
  readonly now: () => number
  /** Resolves once the signal is durable. */
  readonly take: (signal: Signal) => Promise<SignalOutcome>
  readonly onAnswered: OnAnswered
}

const ID = /^[\w.:-]{1,64}$/
const DIGEST_LENGTH = 16
/** Unix seconds of any day are below, milliseconds since 2001 above. */
const SECONDS_BELOW = 1e11
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/

/** Reads signals whose senders have shown the secret, and hands them to the account. */
export class SignalGate {
  readonly #options: SignalGateOptions
  readonly #rules: ReadonlyMap<string, SignalRule>

  constructor(options: SignalGateOptions) {
    this.#options = options
    this.#rules = new Map(options.rules.map((rule) => [rule.name, rule]))
  }

  async answer({ name, body }: ProvedSignal): Promise<SignalAnswer> {
    const rule = this.#rules.get(name)
    if (rule === undefined) throw new Error(`no signal ${name} is taken`)
    const read = this.#readSignal(rule, body)
    if ('problem' in read) return this.#refuse(name, 400, read.problem)
    return this.#deliver(name, read.signal)
  }

  async #deliver(name: string, signal: Signal): Promise<SignalAnswer> {
    const { take, onAnswered } = this.#options
    const outcome = await take(signal)
    if (outcome === 'outdated') return this.#refuse(name, 409, OUTDATED)
    onAnswered(name, outcome ?? 'notNow', outcome === undefined ? NOT_NOW : '')
    if (outcome === undefined) return { status: 503, body: { error: NOT_NOW } }
    const result = outcome === 'taken' ? 'taken' : 'already known'
    return { status: 200, body: { result, id: signal.id } }
  }

  #refuse(name: string, status: number, why: string): SignalAnswer {
    this.#options.onAnswered(name, 'refused', why)
    return { status, body: { error: why } }
  }

  #readSignal(
    rule: SignalRule,
    body: Readonly<Record<string, unknown>>,
  ): { readonly signal: Signal } | { readonly problem: string } {
    const { idField, timeField, secretField, secret } = rule
    const own = new Set([idField, timeField, secretField])
    const given = Object.fromEntries(Object.entries(body).filter(([name]) => !own.has(name)))
    const read = readSignalFields(rule.fields, given)
    if ('problem' in read) return read
    const time = timeField === undefined ? undefined : ownField(body, timeField)
    const sentAt = toTime(time)
    if (timeField !== undefined) {
      const late = time === undefined ? MISSING_TIME : this.#objectToTime(rule, sentAt)
      if (late !== undefined) return { problem: `${timeField} ${late}` }
    }
    const id =
      idField === undefined ? nameContents(read.value, time) : toId(ownField(body, idField))
    if (id === undefined) {
      const isMissing = idField !== undefined && ownField(body, idField) === undefined
      return { problem: `${idField} ${isMissing ? MISSING_ID : NO_ID}` }
    }
    // No other field may contain the secret, or it would be in the journal.
    if (JSON.stringify([id, read.value]).includes(JSON.stringify(secret.reveal()).slice(1, -1)))
      return { problem: 'a field repeats the secret' }
    const sent = sentAt === undefined ? {} : { sentAt }
    return { signal: { feed: feedOfSignal(rule.name), id, value: read.value, ...sent } }
  }

  #objectToTime({ windowMs }: SignalRule, at: number | undefined): string | undefined {
    if (at === undefined) return `is no time: write ${TIMES}`
    const agoMs = this.#options.now() - at
    if (agoMs > windowMs) return `is more than ${windowMs} ms ago`
    return agoMs < -SENDER_AHEAD_MS_MAX ? TOO_FAR_AHEAD : undefined
  }
}

const TIMES = 'Unix seconds or ms, or ISO 8601 with its zone, such as 2026-01-02T12:00:00Z'
const MISSING_TIME = `is missing: it says when the signal was sent (timeField); send ${TIMES}`
const ID_FORM = '1 to 64 letters, digits, _ . : -'
const NO_ID = `is no id: ${ID_FORM}`
const MISSING_ID = `is missing: it names the signal, so that it is taken once (idField); send ${ID_FORM}`
const TOO_FAR_AHEAD = `is more than ${SENDER_AHEAD_MS_MAX} ms ahead of our clock`
const OUTDATED = 'one that was sent later is taken already'
const NOT_NOW = 'the account takes no signals now; send it again'

function toId(value: unknown): string | undefined {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
  return typeof text === 'string' && ID.test(text) ? text : undefined
}

function nameContents(value: SignalValue, time: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify([value, time ?? null]))
    .digest('hex')
    .slice(0, DIGEST_LENGTH)
}

function toTime(value: unknown): number | undefined {
  if (typeof value === 'string' && ISO.test(value)) return parseTime(value)
  const number = typeof value === 'string' && /^\d{9,13}$/.test(value) ? Number(value) : value
  if (typeof number !== 'number' || !Number.isFinite(number)) return undefined
  return number < SECONDS_BELOW ? number * 1000 : number
}
