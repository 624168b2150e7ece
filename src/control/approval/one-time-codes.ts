import { createRequire } from 'node:module'
import type * as Otplib from 'otplib'
import { Secret } from '../../lib/secret.ts'
import type { Pairing, PairingStore } from './pairing-file.ts'

const PERIOD_S = 30
/** Allows for one more step, because codes are typed slowly and clocks differ (RFC 6238, 5.2). */
const TOLERANCE_S = 30
const CODE = /^\d{6}$/

const WRONG_MAX = 5
const WRONG_WITHIN_MS = 600_000
const FIRST_LOCK_MS = 900_000
const LOCK_MS_MAX = 86_400_000
const DOUBLINGS_MAX = 10

export type CodeVerdict =
  | { readonly kind: 'right'; readonly counter: number }
  | { readonly kind: 'wrong'; readonly left: number }
  | { readonly kind: 'used' | 'unpaired' }
  | { readonly kind: 'locked'; readonly until: number; readonly isNew: boolean }

export interface OneTimeCodesOptions {
  readonly store: PairingStore
  /** The machine's clock, because the phone knows no other time. */
  readonly now: () => number
}

/**
 * TOTP (RFC 6238). A code counts once, and afterwards no older one. Wrong codes lock all codes, and
 * each further lock before a right code lasts twice as long, up to a day.
 */
export class OneTimeCodes {
  readonly #store: PairingStore
  readonly #now: () => number

  constructor({ store, now }: OneTimeCodesOptions) {
    this.#store = store
    this.#now = now
  }

  /** @throws Failure PAIRING_EXPOSED, PAIRING_UNREADABLE */
  get isPaired(): boolean {
    return this.#store.load() !== undefined
  }

  /**
   * Uses the code up, durably before it returns. @throws if the pairing cannot be read or written,
   * or another daemon uses it now: the code has then not counted
   */
  use(code: string): CodeVerdict {
    // A lock file beside a pairing that does not exist would need a folder.
    if (!this.isPaired) return { kind: 'unpaired' }
    return this.#store.alone(() => this.#use(code))
  }

  #use(code: string): CodeVerdict {
    const pairing = this.#store.load()
    if (pairing === undefined) return { kind: 'unpaired' }
    const now = this.#now()
    if (now < pairing.lockedUntil)
      return { kind: 'locked', until: pairing.lockedUntil, isNew: false }
    const counter = counterOf(pairing.secret, code, now)
    if (counter === undefined) return this.#noteWrong(pairing, now)
    if (counter <= pairing.usedCounter) return { kind: 'used' }
    const clean = { wrongAt: [], locks: 0, lockedUntil: 0 }
    this.#store.save({ ...pairing, ...clean, usedCounter: counter })
    return { kind: 'right', counter }
  }

  #noteWrong(pairing: Pairing, now: number): CodeVerdict {
    // A time in the future, after the clock was set back, still counts.
    const recent = pairing.wrongAt.filter((at) => now - at < WRONG_WITHIN_MS)
    const wrongAt = [...recent, now]
    if (wrongAt.length < WRONG_MAX) {
      this.#store.save({ ...pairing, wrongAt })
      return { kind: 'wrong', left: WRONG_MAX - wrongAt.length }
    }
    const lockMs = Math.min(
      LOCK_MS_MAX,
      FIRST_LOCK_MS * 2 ** Math.min(pairing.locks, DOUBLINGS_MAX),
    )
    const until = now + lockMs
    this.#store.save({ ...pairing, wrongAt: [], locks: pairing.locks + 1, lockedUntil: until })
    return { kind: 'locked', until, isNew: true }
  }
}

/** The 30 s step of a code; undefined if it is of no step near `now`. */
export function counterOf(secret: Secret, code: string, now: number): number | undefined {
  if (!CODE.test(code)) return undefined
  const found = otplib().verifySync({
    secret: secret.reveal(),
    token: code,
    epoch: Math.floor(now / 1000),
    period: PERIOD_S,
    epochTolerance: TOLERANCE_S,
  })
  return found.valid && 'timeStep' in found ? found.timeStep : undefined
}

export function createSecret(): Secret {
  return new Secret(otplib().generateSecret())
}

/** `otpauth://totp/…`. It holds the secret. */
export function pairingUri(secret: Secret, name: string): string {
  return otplib().generateURI({ issuer: 'intentd', label: name, secret: secret.reveal() })
}

/** Takes 40 ms, which no start should wait for. */
function otplib(): typeof Otplib {
  return createRequire(import.meta.url)('otplib') as typeof Otplib
}
