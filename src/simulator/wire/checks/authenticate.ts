import { createHash, timingSafeEqual } from 'node:crypto'
import {
  SCHEME_B_HEADERS,
  SCHEME_B_TOLERANCE_MS,
  signSchemeA,
  signSchemeB,
} from '../../../protocol/signing.ts'
import type { ExchangeAccountSetup } from '../../shared/account.ts'
import { accept, type Reply } from '../../shared/reply.ts'
import type { ReceivedRequest } from '../wire-request.ts'
import { readQueryText } from './parameters.ts'
import { gatewayRefusals, wireRefusals } from './refusal.ts'

export interface AuthenticateOptions {
  readonly accountByKey: (key: string) => ExchangeAccountSetup | undefined
  readonly toleranceMs: number
  readonly now: number
}

const UNIX_MS = /^\d{1,16}$/

export function authenticate(
  request: ReceivedRequest,
  { accountByKey, toleranceMs, now }: AuthenticateOptions,
): Reply<ExchangeAccountSetup> {
  const { headers } = request
  const key = headers['access-key']
  if (!key) return wireRefusals.keyMissing
  const account = accountByKey(key)
  if (account === undefined) return wireRefusals.keyUnknown
  if (account.boundToIps?.includes(request.remoteAddress) === false)
    return wireRefusals.addressUnknown
  const isDemoCall = headers['paptrading'] === '1'
  if (account.isDemo !== undefined && account.isDemo !== isDemoCall)
    return wireRefusals.environmentWrong
  const signature = headers['access-sign']
  if (!signature) return wireRefusals.signMissing
  const timestamp = headers['access-timestamp']
  if (!timestamp) return wireRefusals.timestampMissing
  if (!UNIX_MS.test(timestamp)) return wireRefusals.timestampInvalid
  if (Math.abs(now - Number(timestamp)) > toleranceMs) return wireRefusals.timestampExpired
  const expected = signaturesOf(account.secret, request, timestamp)
  if (!expected.some((text) => isSameText(signature, text))) return wireRefusals.signWrong
  const passphrase = headers['access-passphrase']
  if (!passphrase) return wireRefusals.passphraseMissing
  return isSameText(passphrase, account.passphrase) ? accept(account) : wireRefusals.passphraseWrong
}

/** Public clients disagree, so both forms count: as in the URL, or before percent-encoding. */
function signaturesOf(secret: string, request: ReceivedRequest, timestamp: string): string[] {
  const { method, path, query, body } = request
  if (method !== 'GET' && method !== 'POST') return []
  const readings = new Set([query, decodeQuery(query)])
  return [...readings].map((text) =>
    signSchemeA(secret, { timestamp, method, path, body, query: text }),
  )
}

function decodeQuery(query: string): string {
  try {
    return query.includes('%') ? decodeURIComponent(query) : query
  } catch {
    return query
  }
}

/**
 * Document: HTTP 403 for a foreign address or an invalid signature; a missing signature or a wrong
 * time is a bad request. The whitelist is checked first, then the clock, then the signature.
 */
export function authenticateGateway(
  request: ReceivedRequest,
  { accountByKey, now }: Omit<AuthenticateOptions, 'toleranceMs'>,
): Reply<ExchangeAccountSetup> {
  const { headers, path: apiPath, body } = request
  const apiKey = headers[SCHEME_B_HEADERS.apiKey]
  const timestamp = headers[SCHEME_B_HEADERS.timestamp]
  const signature = headers[SCHEME_B_HEADERS.signature]
  if (!apiKey || !timestamp || !signature)
    return gatewayRefusals.badRequest('a signed request has three headers')
  const account = accountByKey(apiKey)
  if (account?.gateway?.isWhitelisted !== true)
    return gatewayRefusals.forbidden('not on the whitelist')
  if (!UNIX_MS.test(timestamp)) return gatewayRefusals.badRequest('x-api-timestamp is not Unix ms')
  if (Math.abs(now - Number(timestamp)) > SCHEME_B_TOLERANCE_MS)
    return gatewayRefusals.badRequest('x-api-timestamp is more than 10 minutes off')
  try {
    const query = readQueryText(request.query)
    const expected = signSchemeB(account.gateway.secret, {
      apiPath,
      query,
      body,
      apiKey,
      timestamp,
    })
    return isSameText(signature, expected)
      ? accept(account)
      : gatewayRefusals.forbidden('the signature is invalid')
  } catch {
    return gatewayRefusals.badRequest('a query parameter has a reserved name')
  }
}

function isSameText(left: string, right: string): boolean {
  return timingSafeEqual(
    createHash('sha256').update(left).digest(),
    createHash('sha256').update(right).digest(),
  )
}
