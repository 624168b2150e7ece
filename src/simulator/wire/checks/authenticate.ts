import { createHash, timingSafeEqual } from 'node:crypto'
import { signSchemeA } from '../../../protocol/signing.ts'
import { accept, type Reply } from '../../shared/reply.ts'
import { refusals } from './refusal.ts'
import { type WireRequest } from '../wire-request.ts'

/** What the wire must know of an account to check a signature. */
export interface Credentials {
  readonly secret: string
  readonly passphrase: string
  /** The addresses that the key is bound to; none when left out. */
  readonly boundToIps?: readonly string[]
}

export interface AuthenticateOptions<Account extends Credentials> {
  readonly accountByKey: (key: string) => Account | undefined
  /** How far the signed timestamp may stand from the exchange's clock, either way, ms. */
  readonly toleranceMs: number
  /** Unix ms. */
  readonly now: number
}

/**
 * Scheme A, checked in the order of the real exchange: the key before everything else, the clock before the
 * signature, the passphrase last.
 *
 * A signature is good in either of two readings, because public clients disagree and both work: over the
 * query exactly as it stands in the URL, or over its values before percent-encoding. They are the same text
 * for values of unreserved characters.
 */
export function authenticate<Account extends Credentials>(
  request: WireRequest,
  { accountByKey, toleranceMs, now }: AuthenticateOptions<Account>,
): Reply<Account> {
  const { headers } = request
  const key = headers['access-key']
  if (!key) return refusals.keyMissing
  const account = accountByKey(key)
  if (account === undefined) return refusals.keyUnknown
  if (account.boundToIps?.includes(request.remoteAddress) === false) return refusals.addressUnknown
  const signature = headers['access-sign']
  if (!signature) return refusals.signMissing
  const timestamp = headers['access-timestamp']
  if (!timestamp) return refusals.timestampMissing
  if (!/^\d{1,16}$/.test(timestamp)) return refusals.timestampInvalid
  if (Math.abs(now - Number(timestamp)) > toleranceMs) return refusals.timestampExpired
  if (!isSignedBy(account.secret, { request, timestamp, signature })) return refusals.signWrong
  const passphrase = headers['access-passphrase']
  if (!passphrase) return refusals.passphraseMissing
  if (!isSameText(passphrase, account.passphrase)) return refusals.passphraseWrong
  return accept(account)
}

interface SignedRequest {
  readonly request: WireRequest
  readonly timestamp: string
  readonly signature: string
}

function isSignedBy(secret: string, { request, timestamp, signature }: SignedRequest): boolean {
  const { method, path, query, body } = request
  if (method !== 'GET' && method !== 'POST') return false
  const signed = { timestamp, method, path, body } as const
  if (isSameText(signature, signSchemeA(secret, { ...signed, query }))) return true
  const decoded = decodeQuery(query)
  return decoded !== query && isSameText(signature, signSchemeA(secret, { ...signed, query: decoded }))
}

/** The query with its percent-encoding undone, in the order of the wire; unchanged when it is not valid. */
function decodeQuery(query: string): string {
  try {
    return query.includes('%') ? decodeURIComponent(query) : query
  } catch {
    return query
  }
}

/** Compares in a time that depends on neither text: both are hashed to the same length first. */
export function isSameText(left: string, right: string): boolean {
  return timingSafeEqual(
    createHash('sha256').update(left).digest(),
    createHash('sha256').update(right).digest(),
  )
}
