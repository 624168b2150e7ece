import type { Endpoint } from './endpoint.ts'
import { formatQuery } from './signing.ts'

/** A request as it is signed and sent. */
export interface WrittenRequest {
  /** As {@link formatQuery} made it; empty when there is none. */
  readonly query: string
  /** JSON text; empty for a GET. */
  readonly body: string
}

/** The clean request under the names of the wire. What a row writes alike comes back as it is. */
export function toWireRequest(endpoint: Endpoint, request: unknown): unknown {
  return endpoint.toWire === undefined ? request : endpoint.toWire(request)
}

/**
 * A wire request that its row has checked, as text: a GET has a query, a POST a body, the gateway both.
 * Values of a body stand in the order of the given object; keys that are undefined are left out.
 * @throws RangeError when a query value holds a character on whose encoding clients disagree.
 */
export function writeRequest(endpoint: Endpoint, request: unknown): WrittenRequest {
  if (endpoint.parts === 'queryAndBody') {
    const { query, body } = request as { query: Record<string, string>; body: unknown }
    return { query: formatQuery(query), body: JSON.stringify(body) }
  }
  if (endpoint.method === 'POST') return { query: '', body: JSON.stringify(request) }
  return { query: formatQuery(request as Record<string, string | undefined>), body: '' }
}
