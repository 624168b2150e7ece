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
    if (!UNRESERVED.test(value))
      throw new RangeError(`query value of ${key} holds a reserved character`)
    pairs.push(`${key}=${value}`)
  }
  return pairs.join('&')
}

/** What scheme B signs. Document: Authentication, Scheme B. */
export interface SchemeBRequest {
  /** Request path without query. */
  readonly apiPath: string
  /** Every query parameter under its own name, as its value is before percent-encoding. */
  readonly query: Readonly<Record<string, string>>
  /** The raw JSON text exactly as it is sent; empty when there is none. */
  readonly body: string
  readonly apiKey: string
  /** Unix ms in a string, exactly as in the header. */
  readonly timestamp: string
}

export const SCHEME_B_HEADERS = {
  apiKey: 'x-api-key',
  timestamp: 'x-api-timestamp',
  signature: 'x-api-signature',
} as const

/** Document: "rejected when it differs from server time by more than 10 minutes either way". */
export const SCHEME_B_TOLERANCE_MS = 10 * 60_000

/**
 * Scheme B: a flat JSON object of apiPath, body, the query parameters and two headers, its keys in
 * alphabetical order, as text; base64(HMAC-SHA256(secret, text)).
 * @throws RangeError when a query parameter has the name of another entry: one of them would go unsigned.
 */
export function signSchemeB(secret: string | KeyObject, request: SchemeBRequest): string {
  return createHmac('sha256', secret).update(schemeBText(request)).digest('base64')
}

/** Written by hand: an object would put keys that look like numbers first, whatever the alphabet says. */
function schemeBText({ apiPath, query, body, apiKey, timestamp }: SchemeBRequest): string {
  const entries = new Map([
    ['apiPath', apiPath],
    ['body', body],
    [SCHEME_B_HEADERS.apiKey as string, apiKey],
    [SCHEME_B_HEADERS.timestamp as string, timestamp],
  ])
  for (const [name, value] of Object.entries(query)) {
    if (entries.has(name)) throw new RangeError(`a query parameter must not be called ${name}`)
    entries.set(name, value)
  }
  const pairs = [...entries.keys()]
    .sort()
    .map((name) => `${JSON.stringify(name)}:${JSON.stringify(entries.get(name))}`)
  return `{${pairs.join(',')}}`
}

/** The parameters of a query that {@link formatQuery} made, which needs no decoding. */
export function readQuery(query: string): Readonly<Record<string, string>> {
  if (query === '') return {}
  return Object.fromEntries(
    query.split('&').map((pair) => {
      const at = pair.indexOf('=')
      return [pair.slice(0, at), pair.slice(at + 1)] as const
    }),
  )
}
