import { isRecord } from '../../../lib/plain-data.ts'
import { withCapitals } from '../../../protocol/capitals.ts'
import type { Endpoint } from '../../../protocol/endpoint.ts'
import { accept, type Reply } from '../../shared/reply.ts'
import type { ReceivedRequest } from '../wire-request.ts'
import { wireRefusals } from './refusal.ts'
import { parseBoundedJson } from '../../../lib/text/bounded-json.ts'

/** Public clients write these in upper case (`GTC`, `Open`). */
const SMALL: ReadonlySet<string> = new Set(['force', 'side', 'tradeSide', 'orderType'])

const QUERY_PARAMETERS_MAX = 64

export type Parameters = Record<string, unknown>

/** Document: "empty keeps", "empty means none". */
export function readParameters(endpoint: Endpoint, request: ReceivedRequest): Reply<Parameters> {
  if (endpoint.parts === 'queryAndBody') return readParts(request)
  const read = endpoint.method === 'GET' ? parseQuery(request.query) : parseBody(request)
  return read.ok ? accept(asDocumented(endpoint.outside ? withTexts(read.data) : read.data)) : read
}

export function readQueryText(query: string): Readonly<Record<string, string>> {
  const read = parseQuery(query)
  return read.ok ? read.data : {}
}

function readParts(request: ReceivedRequest): Reply<Parameters> {
  const query = parseQuery(request.query)
  if (!query.ok) return query
  const body = parseBody(request)
  return body.ok ? accept({ query: query.data, body: body.data }) : body
}

function parseQuery(query: string): Reply<Record<string, string>> {
  const pairs = query === '' ? [] : query.split('&')
  if (pairs.length > QUERY_PARAMETERS_MAX) return wireRefusals.parametersTooMany
  const entries = pairs.map((pair) => {
    const at = pair.indexOf('=')
    return (at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]).map(decodeText)
  })
  return accept(Object.fromEntries(entries) as Record<string, string>)
}

function decodeText(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/** Checked before the JSON, so that a form is refused as a form. */
function parseBody({ headers, body }: ReceivedRequest): Reply<Parameters> {
  const contentType = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
  if (contentType !== 'application/json') return wireRefusals.contentTypeWrong
  try {
    const parsed: unknown = parseBoundedJson(body === '' ? '{}' : body)
    return isRecord(parsed) ? accept(parsed) : wireRefusals.bodyUnreadable
  } catch {
    return wireRefusals.bodyUnreadable
  }
}

function withTexts(parameters: Parameters): Parameters {
  const texts = Object.entries(parameters).map(([name, value]) => [
    name,
    typeof value === 'number' ? String(value) : value,
  ])
  return Object.fromEntries(texts) as Parameters
}

function asDocumented(parameters: Parameters, levels = 1): Parameters {
  const given = Object.entries(parameters).filter(([, value]) => value !== '' && value !== null)
  const written = given.map(([name, value]) => {
    if (!Array.isArray(value)) return [name, inLetters(name, value)]
    if (levels === 0) return [name, value]
    return [
      name,
      value.map((item: unknown) => (isRecord(item) ? asDocumented(item, levels - 1) : item)),
    ]
  })
  return Object.fromEntries(written) as Parameters
}

function inLetters(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value
  return SMALL.has(name) ? value.toLowerCase() : withCapitals({ [name]: value })[name]
}
