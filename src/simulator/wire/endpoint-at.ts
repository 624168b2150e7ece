import { type Endpoint } from '../../protocol/endpoint.ts'
import { formatPath } from '../../protocol/endpoint-path.ts'
import { servedNames, servedRow, type ServedName } from './served-rows.ts'
import { type WireRequest } from './wire-request.ts'

/** A row under its name, which is what its handler is found by. */
export type NamedEndpoint = Endpoint & { readonly name: ServedName }

/** The row that a request is for; undefined when the exchange has no such address. */
export type EndpointFinder = (request: WireRequest) => NamedEndpoint | undefined

/** @param platformCoin The platform's own coin, which stands in a path in small letters. */
export function createEndpointFinder(platformCoin: string): EndpointFinder {
  const endpoints = new Map<string, NamedEndpoint>()
  for (const name of servedNames) {
    const row = servedRow(name)
    const path = formatPath(row.path, { platform_coin: platformCoin.toLowerCase() })
    endpoints.set(`${row.method} ${path}`, { ...row, path, name })
  }
  return ({ method, path }) => endpoints.get(`${method} ${path}`)
}
