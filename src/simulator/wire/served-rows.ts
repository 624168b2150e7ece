import type { z } from 'zod'
import type { Endpoint } from '../../protocol/endpoint.ts'
import { formatPath } from '../../protocol/endpoint-path.ts'
import { endpoints } from '../../protocol/endpoints.ts'
import { undocumentedRows } from '../undocumented/undocumented.ts'
import type { ReceivedRequest } from './wire-request.ts'

export const servedRows = { ...endpoints, ...undocumentedRows }

export type ServedName = keyof typeof servedRows
export type ServedRequestOf<Name extends ServedName> = z.input<(typeof servedRows)[Name]['request']>
export type ServedResponseOf<Name extends ServedName> = z.input<
  (typeof servedRows)[Name]['response']
>

export const servedNames = Object.keys(servedRows) as readonly ServedName[]

export function servedRow(name: ServedName): NamedEndpoint {
  return { ...servedRows[name], name }
}

export type NamedEndpoint = Endpoint & { readonly name: ServedName }

/**
 * @param platformCoin part of a path, in lower case
 * @returns finds the row of a request; undefined if the exchange has no such path
 */
export function createEndpointFinder(platformCoin: string) {
  const byAddress = new Map<string, NamedEndpoint>()
  for (const name of servedNames) {
    const row = servedRow(name)
    const path = formatPath(row.path, { platform_coin: platformCoin.toLowerCase() })
    byAddress.set(`${row.method} ${path}`, { ...row, path })
  }
  return ({ method, path }: ReceivedRequest) => byAddress.get(`${method} ${path}`)
}
