import { createHmac, type KeyObject } from 'node:crypto'

/** What scheme A signs. Instants are Unix ms in a string, exactly as in the ACCESS-TIMESTAMP header. */
export interface SchemeARequest {
  readonly timestamp: string
  readonly method: 'GET' | 'POST'
  /** Without the query. */
  readonly path: string
  /** As {@link formatQuery} made it: without `?`, empty when there is none. */
  readonly query: string
  /** The exact bytes that are sent; empty for GET. */
  readonly body: string
}

/**
 * Scheme A: base64(HMAC-SHA256(secret, timestamp + METHOD + path + ["?" + query] + body)).
 * The document does not show it; the prehash is what the exchange's public clients agree on.
 */
export function signSchemeA(secret: string | KeyObject, request: SchemeARequest): string {
  const { timestamp, method, path, query, body } = request
  const prehash = `${timestamp}${method}${path}${query === '' ? '' : `?${query}`}${body}`
  return createHmac('sha256', secret).update(prehash).digest('base64')
}

/** Characters that need no percent-encoding, plus the comma of lists: signed alike by every reading. */
const UNRESERVED = /^[A-Za-z0-9._~,-]*$/

/**
 * The query in ascending order of its keys, as it stands both in the URL and under the signature.
 * @throws RangeError when a value holds a character on whose encoding clients of the exchange disagree.
 */
export function formatQuery(parameters: Readonly<Record<string, string | undefined>>): string {
  const pairs: string[] = []
  for (const key of Object.keys(parameters).sort()) {
    const value = parameters[key]
    if (value === undefined) continue
    if (!UNRESERVED.test(value)) throw new RangeError(`query value of ${key} holds a reserved character`)
    pairs.push(`${key}=${value}`)
  }
  return pairs.join('&')
}

/** The headers of a scheme A request. Document: Authentication, Scheme A. */
export interface SchemeAHeaders extends Record<string, string> {
  'ACCESS-KEY': string
  'ACCESS-SIGN': string
  'ACCESS-PASSPHRASE': string
  'ACCESS-TIMESTAMP': string
}
