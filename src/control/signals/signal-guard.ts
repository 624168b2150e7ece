import { createHash, timingSafeEqual } from 'node:crypto'
import { randomHex } from '../../lib/entropy.ts'
import { RateBucket } from '../../lib/rate-bucket.ts'
import type { Secret } from '../../lib/secret.ts'
import { ownField, parseSignalBody } from './signal-body.ts'

export interface SignalKey {
  readonly name: string
  readonly secret: Secret
  readonly secretField?: string | undefined
  readonly perMinute: number
}

export type SignalResult = 'taken' | 'repeated' | 'refused' | 'limited' | 'notNow'

/**
 * @param name undefined unless the sender has shown the secret
 * @param why repeats nothing of what was sent
 */
export type OnAnswered = (name: string | undefined, result: SignalResult, why: string) => void

export interface SignalGuardOptions {
  readonly keys: readonly SignalKey[]
  readonly monotonic: () => number
  readonly onAnswered: OnAnswered
}

export interface SignalAnswer {
  readonly status: number
  /** Seconds; of a 429. */
  readonly retryAfter?: number
  readonly body: Readonly<Record<string, string>>
}

interface Closed {
  readonly kind: 'closed'
  readonly answer: SignalAnswer
}

export type Admission =
  | Closed
  | { readonly kind: 'open'; readonly key: SignalKey | undefined; readonly isProved: boolean }

export interface ProvedSignal {
  readonly name: string
  readonly body: Readonly<Record<string, unknown>>
}

/** Enough for mistyped tests while a sender is set up. */
const UNPROVED_PER_MINUTE = 60
const TOO_MANY = 'too many in a minute'
const WRONG_SECRET = 'no such signal, or another secret'
const TOO_LONG = 'the body is too long'
const NO_OBJECT = 'the body is no JSON object of one level, with each name once'

/**
 * Decides before the body is read, so that a flood costs no parsing. Senders without the secret in
 * a header share one rate. Their body is always read, so that neither the answer nor its time tells
 * an unknown name, a wrong secret and a missing one apart.
 */
export class SignalGuard {
  readonly #onAnswered: OnAnswered
  readonly #keys: ReadonlyMap<string, SignalKey>
  readonly #rates: ReadonlyMap<string, RateBucket>
  readonly #unproved: RateBucket
  readonly #noSecret = randomHex(32)

  constructor({ keys, monotonic, onAnswered }: SignalGuardOptions) {
    this.#onAnswered = onAnswered
    this.#keys = new Map(keys.map((key) => [key.name, key]))
    this.#rates = new Map(
      keys.map(({ name, perMinute }) => [name, new RateBucket(perMinute, monotonic)]),
    )
    const byBody = keys.filter(({ secretField }) => secretField !== undefined)
    const perMinute = byBody.reduce((sum, key) => sum + key.perMinute, UNPROVED_PER_MINUTE)
    this.#unproved = new RateBucket(perMinute, monotonic)
  }

  /** @param shown the secret of the head */
  admit(name: string, shown: string | undefined): Admission {
    const key = this.#keys.get(name)
    const isProved = this.#isSecret(key, shown) && key !== undefined
    const rate = isProved ? this.#rates.get(name) : this.#unproved
    if (rate?.take() === true) return { kind: 'open', key, isProved }
    return this.#limit(isProved ? name : undefined, rate)
  }

  /** @param bytes of the body; undefined if it is longer than allowed */
  prove(
    { key, isProved }: Extract<Admission, { readonly kind: 'open' }>,
    bytes: Uint8Array | undefined,
  ): Closed | { readonly kind: 'proved'; readonly signal: ProvedSignal } {
    const body = bytes && parseSignalBody(bytes)
    const known = isProved ? key : this.#proveByBody(key, body)
    if (known === undefined) return this.#refuse(undefined, 401, WRONG_SECRET)
    const { name } = known
    const rate = this.#rates.get(name)
    if (!isProved && rate?.take() !== true) return this.#limit(name, rate)
    if (bytes === undefined) return this.#refuse(name, 413, TOO_LONG)
    if (body === undefined) return this.#refuse(name, 400, NO_OBJECT)
    return { kind: 'proved', signal: { name, body } }
  }

  #refuse(name: string | undefined, status: number, why: string): Closed {
    this.#onAnswered(name, 'refused', why)
    return { kind: 'closed', answer: { status, body: { error: why } } }
  }

  #limit(name: string | undefined, rate: RateBucket | undefined): Closed {
    this.#onAnswered(name, 'limited', TOO_MANY)
    const retryAfter = Math.max(1, Math.ceil((rate?.waitMs ?? 0) / 1000))
    return { kind: 'closed', answer: { status: 429, retryAfter, body: { error: TOO_MANY } } }
  }

  #proveByBody(
    key: SignalKey | undefined,
    body: ProvedSignal['body'] | undefined,
  ): SignalKey | undefined {
    const { secretField } = key ?? {}
    const shown = secretField === undefined ? undefined : ownField(body ?? {}, secretField)
    const isSecret = this.#isSecret(key, typeof shown === 'string' ? shown : undefined)
    return isSecret ? key : undefined
  }

  /** Makes one comparison in any case, whether or not the signal exists. */
  #isSecret(key: SignalKey | undefined, shown = ''): boolean {
    const secret = key?.secret.reveal() ?? this.#noSecret
    return timingSafeEqual(digest(shown), digest(secret))
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
