import type { Endpoint } from './endpoint.ts'
import { formatQuery } from './signing.ts'

export interface WrittenRequest {
  /** Made by {@link formatQuery}. */
  readonly query: string
  readonly body: string
}

export function toWireRequest(endpoint: Endpoint, request: unknown): unknown {
  return endpoint.toWire === undefined ? request : endpoint.toWire(request)
}

/**
 * A GET has a query, a POST a body, the gateway both. Values keep the object's order; undefined
 * ones are left out.
 * @throws RangeError if a query value has a character whose encoding differs between clients
 */
export function writeRequest(endpoint: Endpoint, request: unknown): WrittenRequest {
  if (endpoint.parts === 'queryAndBody') {
    const { query, body } = request as { query: Record<string, string>; body: unknown }
    return { query: formatQuery(query), body: JSON.stringify(body) }
  }
  if (endpoint.method === 'POST') return { query: '', body: JSON.stringify(request) }
  return { query: formatQuery(request as Record<string, string | undefined>), body: '' }
}
