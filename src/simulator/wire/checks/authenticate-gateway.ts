import { readQueryText } from './parameters.ts'
import { SCHEME_B_HEADERS, signSchemeB } from '../../../protocol/signing.ts'
import { type AccountSetup } from '../../shared/account.ts'
import { type AuthenticateOptions, isSameText } from './authenticate.ts'
import { accept, type Reply } from '../../shared/reply.ts'
import { gatewayRefusals } from './refusal.ts'
import { type WireRequest } from '../wire-request.ts'

/**
 * Scheme B. Document: "A request from a client that is not on the whitelist, or with an invalid signature, is
 * answered with HTTP 403"; what is not a signed request at all, or carries a time too far off, is a bad one.
 * The whitelist comes before the clock, and the clock before the signature.
 */
export function authenticateGateway(
  request: WireRequest,
  { accountByKey, toleranceMs, now }: AuthenticateOptions<AccountSetup>,
): Reply<AccountSetup> {
  const key = request.headers[SCHEME_B_HEADERS.apiKey]
  const timestamp = request.headers[SCHEME_B_HEADERS.timestamp]
  const signature = request.headers[SCHEME_B_HEADERS.signature]
  if (!key || !timestamp || !signature)
    return gatewayRefusals.badRequest('a signed request has three headers')
  const account = accountByKey(key)
  if (account?.gateway?.isWhitelisted !== true) return gatewayRefusals.forbidden('not on the whitelist')
  if (!/^\d{1,16}$/.test(timestamp)) return gatewayRefusals.badRequest('x-api-timestamp is not Unix ms')
  if (Math.abs(now - Number(timestamp)) > toleranceMs) {
    return gatewayRefusals.badRequest('x-api-timestamp is more than 10 minutes off')
  }
  const expected = expectedSignature(account.gateway.secret, { request, key, timestamp })
  if (expected === undefined) return gatewayRefusals.badRequest('a query parameter has a reserved name')
  return isSameText(signature, expected)
    ? accept(account)
    : gatewayRefusals.forbidden('the signature is invalid')
}

interface SignedParts {
  readonly request: WireRequest
  readonly key: string
  readonly timestamp: string
}

/** Over the body as it came, and the query's values before percent-encoding. */
function expectedSignature(secret: string, { request, key, timestamp }: SignedParts): string | undefined {
  try {
    const query = readQueryText(request.query)
    return signSchemeB(secret, { apiPath: request.path, query, body: request.body, apiKey: key, timestamp })
  } catch {
    return undefined
  }
}
