import { createHmac, type KeyObject } from 'node:crypto'

/** `timestamp`: Unix ms, exactly as in the ACCESS-TIMESTAMP header. */
export interface SchemeARequest {
  readonly timestamp: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly query: string
  readonly body: string
}

/**
 * base64(HMAC-SHA256(secret, timestamp + METHOD + path + ["?" + query] + body)), on which the
 * exchange's public clients agree; the document does not show it.
 */
export function signSchemeA(secret: string | KeyObject, request: SchemeARequest): string {
  const { timestamp, method, path, query, body } = request
  const prehash = `${timestamp}${method}${path}${query === '' ? '' : `?${query}`}${body}`
  return createHmac('sha256', secret).update(prehash).digest('base64')
}

/** All clients sign these and the comma of lists alike, without percent-encoding. */
const UNRESERVED = /^[A-Za-z0-9._~,-]*$/

/**
 * In ascending order of keys, in the URL and the signed text.
 * @throws RangeError if a value has a character whose encoding differs between clients
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

/** Document: Authentication, Scheme B. */
export interface SchemeBRequest {
  readonly apiPath: string
  readonly query: Readonly<Record<string, string>>
  readonly body: string
  readonly apiKey: string
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
 * base64(HMAC-SHA256(secret, text)). The text is a flat JSON object of apiPath, body, query
 * parameters and two headers, with keys in alphabetical order.
 * @throws RangeError if a query parameter has the name of another entry, which would be unsigned
 */
export function signSchemeB(secret: string | KeyObject, request: SchemeBRequest): string {
  return createHmac('sha256', secret).update(schemeBText(request)).digest('base64')
}

/** An object would put keys that look like numbers first. */
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

/** A query made by {@link formatQuery} needs no decoding. */
export function readQuery(query: string): Readonly<Record<string, string>> {
  if (query === '') return {}
  return Object.fromEntries(
    query.split('&').map((pair) => {
      const at = pair.indexOf('=')
      return [pair.slice(0, at), pair.slice(at + 1)] as const
    }),
  )
}
