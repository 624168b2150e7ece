import { type z } from 'zod'
import { type Endpoint } from '../../protocol/endpoint.ts'
import { endpoints } from '../../protocol/endpoints.ts'
import { undocumented } from '../../protocol/undocumented.ts'

/** Every address of the exchange: the document's table, then what lies outside it. */
export const servedRows = { ...endpoints, ...undocumented } as const

export type ServedName = keyof typeof servedRows
export type ServedRequestOf<Name extends ServedName> = z.input<(typeof servedRows)[Name]['request']>
/** What a server answers in the envelope's `data`. */
export type ServedResponseOf<Name extends ServedName> = z.input<(typeof servedRows)[Name]['response']>

export const servedNames = Object.keys(servedRows) as readonly ServedName[]

/** The row with its columns but without its exact schemas. */
export function servedRow(name: ServedName): Endpoint {
  return servedRows[name]
}
