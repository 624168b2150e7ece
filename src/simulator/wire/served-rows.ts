import type { z } from 'zod'
import type { Endpoint } from '../../protocol/endpoint.ts'
import { formatPath } from '../../protocol/endpoint-path.ts'
import { endpoints } from '../../protocol/endpoints.ts'
import { undocumentedRows } from '../undocumented/undocumented.ts'
import type { WireRequest } from './wire-request.ts'

/** Every address of the exchange: the document's table, then what lies outside it. */
export const servedRows = { ...endpoints, ...undocumentedRows }

export type ServedName = keyof typeof servedRows
export type ServedRequestOf<Name extends ServedName> = z.input<(typeof servedRows)[Name]['request']>
/** What a server answers in the envelope's `data`. */
export type ServedResponseOf<Name extends ServedName> = z.input<
  (typeof servedRows)[Name]['response']
>

export const servedNames = Object.keys(servedRows) as readonly ServedName[]

/** The row with its columns but without its exact schemas. */
export function servedRow(name: ServedName): NamedEndpoint {
  return { ...servedRows[name], name }
}

/** A row under its name, which is what its handler is found by. */
export type NamedEndpoint = Endpoint & { readonly name: ServedName }

/**
 * @param platformCoin The platform's own coin, which stands in a path in small letters.
 * @returns finds the row that a request is for; undefined when the exchange has no such address.
 */
export function createEndpointFinder(platformCoin: string) {
  const byAddress = new Map<string, NamedEndpoint>()
  for (const name of servedNames) {
    const row = servedRow(name)
    const path = formatPath(row.path, { platform_coin: platformCoin.toLowerCase() })
    byAddress.set(`${row.method} ${path}`, { ...row, path })
  }
  return ({ method, path }: WireRequest) => byAddress.get(`${method} ${path}`)
}
