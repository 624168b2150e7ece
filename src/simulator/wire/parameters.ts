import { type Endpoint } from '../../protocol/endpoint.ts'
import { parameterRefusals, type Refusal, refusals } from './refusal.ts'
import { type WireRequest } from './wire-request.ts'

/** Parameters that the document's samples also write in lower case. */
const CAPITALISED: readonly string[] = ['productType', 'symbol']

/** Document: no endpoint takes more than a dozen parameters; this is a cap on work, not a rule. */
const QUERY_PARAMETERS_MAX = 64

/** A parameter's value before its schema has seen it. */
export type Parameters = Record<string, unknown>

export interface ReadParameters {
  readonly ok: true
  readonly parameters: Parameters
}

/**
 * Takes the parameters off the wire: the query of a GET, the JSON object of a POST. An empty value counts as
 * none given, as the document says of optional ones ("empty keeps", "empty means none"), and what samples
 * write in lower case is put in capitals.
 */
export function readParameters(endpoint: Endpoint, request: WireRequest): ReadParameters | Refusal {
  const read = endpoint.method === 'GET' ? parseQuery(request.query) : parseBody(request)
  return read.ok ? { ok: true, parameters: withoutEmptyValues(withCapitals(read.parameters)) } : read
}

function parseQuery(query: string): ReadParameters | Refusal {
  const parameters: Parameters = {}
  const pairs = query === '' ? [] : query.split('&')
  if (pairs.length > QUERY_PARAMETERS_MAX) return parameterRefusals.broken('too many parameters', 400)
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    const [name, value] = at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]
    define(parameters, decodeText(name), decodeText(value))
  }
  return { ok: true, parameters }
}

function decodeText(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/** The content type before the JSON: a form is refused as a form, not as bad JSON. */
function parseBody({ headers, body }: WireRequest): ReadParameters | Refusal {
  const contentType = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
  if (contentType !== 'application/json') return refusals.contentTypeWrong
  try {
    const parsed: unknown = JSON.parse(body === '' ? '{}' : body)
    return isObject(parsed) ? { ok: true, parameters: { ...parsed } } : refusals.bodyUnreadable
  } catch {
    return refusals.bodyUnreadable
  }
}

function isObject(value: unknown): value is Parameters {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Sets an own property even when the name is `__proto__`. */
function define(target: Parameters, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true })
}

function withCapitals(parameters: Parameters): Parameters {
  for (const name of CAPITALISED) {
    const value = parameters[name]
    if (typeof value === 'string') parameters[name] = value.toUpperCase()
  }
  return parameters
}

/** Drops empty texts from an object and from the objects in its lists: one level, which is all there is. */
function withoutEmptyValues(parameters: Parameters): Parameters {
  const kept: Parameters = {}
  for (const [name, value] of Object.entries(parameters)) {
    if (value === '' || value === null) continue
    define(kept, name, Array.isArray(value) ? value.map(withoutEmptyItem) : value)
  }
  return kept
}

function withoutEmptyItem(item: unknown): unknown {
  if (!isObject(item)) return item
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== '' && value !== null))
}
