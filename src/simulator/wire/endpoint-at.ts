import { type Endpoint } from '../../protocol/endpoint.ts'
import { endpointNamed } from '../../protocol/endpoints.ts'
import { servedNames, type ServedName } from './handlers.ts'
import { type WireRequest } from './wire-request.ts'

/** A row of the table under its name, which is what its handler is found by. */
export type NamedEndpoint = Endpoint & { readonly name: ServedName }

const ENDPOINTS: ReadonlyMap<string, NamedEndpoint> = new Map(
  servedNames.map((name) => {
    const endpoint = { ...endpointNamed(name), name }
    return [`${endpoint.method} ${endpoint.path}`, endpoint]
  }),
)

/** The row that a request is for; undefined when the exchange has no such address. */
export function endpointAt({ method, path }: WireRequest): NamedEndpoint | undefined {
  return ENDPOINTS.get(`${method} ${path}`)
}
