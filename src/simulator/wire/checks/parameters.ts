import { withCapitals } from '../../../protocol/capitals.ts'
import { type Endpoint } from '../../../protocol/endpoint.ts'
import { parameterRefusals, type Refusal, refusals } from './refusal.ts'
import { type WireRequest } from '../wire-request.ts'

/** What public clients write with capitals (`GTC`, `Open`) and the document in small letters. */
const SMALL: ReadonlySet<string> = new Set(['force', 'side', 'tradeSide', 'orderType'])

/** Document: no endpoint takes more than a dozen parameters; this is a cap on work, not a rule. */
const QUERY_PARAMETERS_MAX = 64

const BODY_DEPTH_MAX = 64

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
  if (endpoint.parts === 'queryAndBody') return readParts(request)
  const read = endpoint.method === 'GET' ? parseQuery(request.query) : parseBody(request)
  if (!read.ok) return read
  const texts = endpoint.outside === true ? withTexts(read.parameters) : read.parameters
  return { ok: true, parameters: withoutEmptyValues(withLetters(texts)) }
}

/** The query of a request by name, percent-encoding undone. */
export function readQueryText(query: string): Readonly<Record<string, string>> {
  const read = parseQuery(query)
  return read.ok ? (read.parameters as Record<string, string>) : {}
}

/** Query and body as they came: nothing of them is the exchange's own. */
function readParts(request: WireRequest): ReadParameters | Refusal {
  const query = parseQuery(request.query)
  if (!query.ok) return query
  if (isTooDeep(request.body)) return refusals.bodyUnreadable
  const body = parseBody(request)
  return body.ok ? { ok: true, parameters: { query: query.parameters, body: body.parameters } } : body
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

/** Whoever echoes a body follows it all the way down. Brackets in texts count too: nobody nests this deep. */
function isTooDeep(body: string): boolean {
  let depth = 0
  for (const character of body) {
    if (character === '{' || character === '[') depth++
    else if (character === '}' || character === ']') depth--
    if (depth > BODY_DEPTH_MAX) return true
  }
  return false
}

function isObject(value: unknown): value is Parameters {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Sets an own property even when the name is `__proto__`. */
function define(target: Parameters, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true })
}

/**
 * Outside the document a number is taken for its text: a public client sends prices of trigger orders so.
 * The document's own endpoints want texts.
 */
function withTexts(parameters: Parameters): Parameters {
  const kept: Parameters = {}
  for (const [name, value] of Object.entries(parameters)) {
    define(kept, name, typeof value === 'number' ? String(value) : value)
  }
  return kept
}

/** Letters as the document has them, at the top and in the objects of lists: that is as deep as requests go. */
function withLetters(parameters: Parameters, levels = 1): Parameters {
  const kept: Parameters = {}
  for (const [name, value] of Object.entries(parameters)) {
    if (!Array.isArray(value)) define(kept, name, inLetters(name, value))
    else if (levels === 0) define(kept, name, value)
    else
      define(
        kept,
        name,
        value.map((item: unknown) => (isObject(item) ? withLetters(item, levels - 1) : item)),
      )
  }
  return kept
}

function inLetters(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value
  return SMALL.has(name) ? value.toLowerCase() : withCapitals({ [name]: value })[name]
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
