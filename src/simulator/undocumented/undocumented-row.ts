import { z } from 'zod'
import { textOrNull } from '../../protocol/answer-values.ts'
import { type Endpoint } from '../../protocol/endpoint.ts'
import { exchangeId, foreignClientOid } from '../../protocol/values.ts'
import { type AccountRef } from '../shared/account.ts'
import { type Reply } from '../shared/reply.ts'

/**
 * A row of an endpoint outside the document, which public clients call before anything else, with what answers it. The
 * request lets unknown parameters through. The daemon never depends on it.
 */
export interface UndocumentedRow<State, Request extends z.ZodType, Response extends z.ZodType> extends Omit<
  Endpoint<string, Request, Response>,
  'name' | 'toWire' | 'rules'
> {
  readonly answer: (state: State, account: AccountRef, request: z.input<Request>) => Reply<z.input<Response>>
}

/** Keeps the row's exact types. */
export function undocumented<State, Request extends z.ZodType, Response extends z.ZodType>(
  row: UndocumentedRow<State, Request, Response>,
): UndocumentedRow<State, Request, Response> {
  return row
}

const columns = {
  auth: 'schemeA',
  limit: { calls: 10, perMs: 1000, scope: 'uid' },
  section: 'outside the document',
  outside: true,
} as const

export const readColumns = { ...columns, method: 'GET', retry: 'safe' } as const
export const placeColumns = { ...columns, method: 'POST', retry: 'protocol' } as const
/** Of cancels and settings. */
export const changeColumns = { ...columns, method: 'POST', retry: 'repeatable' } as const
export const publicColumns = {
  ...readColumns,
  auth: 'public',
  limit: { calls: 20, perMs: 1000, scope: 'ip' },
} as const

/** How an order is named in a request: when both ids are given, orderId prevails. */
export const byEitherId = { orderId: exchangeId.optional(), clientOid: foreignClientOid.optional() }

export interface OrderName {
  readonly orderId?: string | undefined
  readonly clientOid?: string | undefined
}

/** A row of an answer: these of its fields are there, and all others are texts, or null where there is nothing. */
export function textRow<const Names extends readonly string[]>(...names: Names) {
  const shape = Object.fromEntries(names.map((name) => [name, z.string()]))
  return z.object(shape as Record<Names[number], z.ZodString>).catchall(textOrNull)
}
