import { createHash, timingSafeEqual } from 'node:crypto'
import {
  feedOfSignal,
  SENDER_AHEAD_MS_MAX,
  type Signal,
  type SignalValue,
} from '../../domain/signal.ts'
import { readSignalFields, type SignalFields } from '../../domain/signal-fields.ts'
import { randomHex } from '../../lib/entropy.ts'
import type { Secret } from '../../lib/secret.ts'
import { RateBucket } from '../../lib/rate-bucket.ts'
import { parseSignalBody } from './signal-body.ts'

/** One signal that is taken. */
export interface SignalRule {
  readonly name: string
  readonly secret: Secret
  readonly secretField?: string | undefined
  readonly idField?: string | undefined
  readonly timeField?: string | undefined
  readonly windowMs: number
  readonly perMinute: number
  readonly fields: SignalFields
}

/**
 * `repeated`: taken before. `outdated`: one that was sent later is taken. Undefined: the account
 * takes none now.
 */
export type SignalOutcome = 'taken' | 'repeated' | 'outdated' | undefined

export type SignalResult = 'taken' | 'repeated' | 'refused' | 'limited' | 'notNow'

export interface SignalGateOptions {
  readonly rules: readonly SignalRule[]
  /** Unix ms, our clock. */
  readonly now: () => number
  readonly monotonic: () => number
  /** Resolves once the signal is durable. */
  readonly take: (signal: Signal) => Promise<SignalOutcome>
  /**
   * @param name undefined unless the sender has shown the secret
   * @param why repeats nothing of what was sent
   */
  readonly onAnswered: (name: string | undefined, result: SignalResult, why: string) => void
}

export interface SignalAnswer {
  readonly status: number
  /** Seconds; of a 429. */
  readonly retryAfter?: number
  readonly body: Readonly<Record<string, string>>
}

/** The head of a request allows this. */
export type Admission =
  | { readonly kind: 'closed'; readonly answer: SignalAnswer }
  | { readonly kind: 'open'; readonly rule: SignalRule | undefined; readonly isProved: boolean }

/** Mistyped tests while a sender is set up. */
const UNPROVED_PER_MINUTE = 60
const ID = /^[\w.:-]{1,64}$/
const DIGEST_LENGTH = 16
/** Unix seconds of any day are below, milliseconds since 2001 above. */
const SECONDS_BELOW = 1e11
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/

/**
 * Decides before the body is read, so that a flood costs no parsing. Senders without the secret in
 * a header share one rate; their body is always read, so that neither answer nor work tells an
 * unknown name, a wrong secret and a missing one apart.
 */
export class SignalGate {
  readonly #options: SignalGateOptions
  readonly #rules: ReadonlyMap<string, SignalRule>
  readonly #rates: ReadonlyMap<string, RateBucket>
  readonly #unproved: RateBucket
  /** Compared where there is no such signal. */
  readonly #noSecret = randomHex(32)

  constructor(options: SignalGateOptions) {
    const { rules, monotonic } = options
    this.#options = options
    this.#rules = new Map(rules.map((rule) => [rule.name, rule]))
    this.#rates = new Map(
      rules.map(({ name, perMinute }) => [name, new RateBucket(perMinute, monotonic)]),
    )
    const byBody = rules.filter(({ secretField }) => secretField !== undefined)
    const perMinute = byBody.reduce((sum, rule) => sum + rule.perMinute, UNPROVED_PER_MINUTE)
    this.#unproved = new RateBucket(perMinute, monotonic)
  }

  /** @param shown the secret of the head */
  admit(name: string, shown: string | undefined): Admission {
    const rule = this.#rules.get(name)
    const isProved = this.#isSecret(rule, shown) && rule !== undefined
    const rate = isProved ? this.#rates.get(name) : this.#unproved
    if (rate?.take() === true) return { kind: 'open', rule, isProved }
    return { kind: 'closed', answer: this.#limit(isProved ? name : undefined, rate) }
  }

  /** @param bytes of the body; undefined if it is longer than allowed */
  async answer(
    { rule, isProved }: Extract<Admission, { readonly kind: 'open' }>,
    bytes: Uint8Array | undefined,
  ): Promise<SignalAnswer> {
    const body = bytes && parseSignalBody(bytes)
    const known = isProved ? rule : this.#proveByBody(rule, body)
    if (known === undefined) return this.#refuse(undefined, 401, WRONG_SECRET)
    const { name } = known
    const rate = this.#rates.get(name)
    if (!isProved && rate?.take() !== true) return this.#limit(name, rate)
    if (bytes === undefined) return this.#refuse(name, 413, TOO_LONG)
    if (body === undefined) return this.#refuse(name, 400, NO_OBJECT)
    const read = this.#readSignal(known, body)
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

  #refuse(name: string | undefined, status: number, why: string): SignalAnswer {
    this.#options.onAnswered(name, 'refused', why)
    return { status, body: { error: why } }
  }

  #limit(name: string | undefined, rate: RateBucket | undefined): SignalAnswer {
    this.#options.onAnswered(name, 'limited', TOO_MANY)
    const retryAfter = Math.max(1, Math.ceil((rate?.waitMs ?? 0) / 1000))
    return { status: 429, retryAfter, body: { error: TOO_MANY } }
  }

  #proveByBody(
    rule: SignalRule | undefined,
    body: Readonly<Record<string, unknown>> | undefined,
  ): SignalRule | undefined {
    const { secretField } = rule ?? {}
    const shown = secretField === undefined ? undefined : ownField(body ?? {}, secretField)
    const isSecret = this.#isSecret(rule, typeof shown === 'string' ? shown : undefined)
    return isSecret ? rule : undefined
  }

  /** One comparison, whatever was shown and whether or not the signal exists. */
  #isSecret(rule: SignalRule | undefined, shown = ''): boolean {
    const secret = rule?.secret.reveal() ?? this.#noSecret
    return timingSafeEqual(digest(shown), digest(secret))
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
    // In no other field either, so the secret is not journaled.
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
const TOO_MANY = 'too many in a minute'
const WRONG_SECRET = 'no such signal, or another secret'
const TOO_LONG = 'the body is too long'
const NO_OBJECT = 'the body is no JSON object of one level, with each name once'
const OUTDATED = 'one that was sent later is taken already'
const NOT_NOW = 'the account takes no signals now; send it again'

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function ownField(body: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(body, name) ? body[name] : undefined
}

function toId(value: unknown): string | undefined {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
  return typeof text === 'string' && ID.test(text) ? text : undefined
}

function nameContents(value: SignalValue, time: unknown): string {
  return digest(JSON.stringify([value, time ?? null]))
    .toString('hex')
    .slice(0, DIGEST_LENGTH)
}

function toTime(value: unknown): number | undefined {
  if (typeof value === 'string' && ISO.test(value)) {
    const at = Date.parse(value)
    return Number.isNaN(at) ? undefined : at
  }
  const number = typeof value === 'string' && /^\d{9,13}$/.test(value) ? Number(value) : value
  if (typeof number !== 'number' || !Number.isFinite(number)) return undefined
  return number < SECONDS_BELOW ? number * 1000 : number
}
