import { z } from 'zod'
import { textOrNull } from '../../protocol/answer-values.ts'
import type { Endpoint, RateLimit } from '../../protocol/endpoint.ts'
import { exchangeId, foreignClientOid, productType, symbol } from '../../protocol/values.ts'
import type { AccountRef } from '../shared/account.ts'
import { readHistory, type HistoryQuery } from '../shared/history-page.ts'
import { accept, type OrderReference, type Reply } from '../shared/reply.ts'

/** Public clients call these endpoints; the daemon never depends on them. */
export interface UndocumentedRow<
  State,
  Request extends z.ZodType,
  Response extends z.ZodType,
> extends Omit<Endpoint<string, Request, Response>, 'name' | 'toWire' | 'rules'> {
  readonly answer: (
    state: State,
    account: AccountRef,
    request: z.input<Request>,
  ) => Reply<z.input<Response>>
}

export type RowRequest<Shape extends z.ZodRawShape> = z.input<z.ZodObject<Shape>>

interface RowColumns<State, Shape extends z.ZodRawShape, Response extends z.ZodType> {
  readonly asks?: Shape
  readonly shows: Response
  readonly answer: (
    state: State,
    account: AccountRef,
    request: RowRequest<Shape>,
  ) => Reply<z.input<Response>>
  readonly calls?: number
}

type RowKind = Pick<Endpoint, 'method' | 'retry'> & Partial<Pick<Endpoint, 'auth'> & RateLimit>

function kindOf({ method, retry, auth = 'schemeA', scope = 'uid', calls: usual = 10 }: RowKind) {
  return <State, Shape extends z.ZodRawShape, Response extends z.ZodType>(
    path: string,
    { asks, shows, answer, calls = usual }: RowColumns<State, Shape, Response>,
  ): UndocumentedRow<State, z.ZodObject<Shape, z.core.$loose>, Response> => ({
    method,
    path: `/api/v2${path}`,
    auth,
    retry,
    limit: {
      calls,
      perMs: 1e3,
      scope,
    },
    section: 'outside the document',
    outside: true,
    request: z.looseObject(asks ?? ({} as Shape)),
    response: shows,
    answer,
  })
}

type EndpointRow<Shape extends z.ZodRawShape, Response extends z.ZodType> = Endpoint<
  string,
  z.ZodObject<Shape>,
  Response
>

export function fromTable<State, Shape extends z.ZodRawShape, Response extends z.ZodType>(
  { method, path, auth, limit, retry, section, request, response }: EndpointRow<Shape, Response>,
  answer: UndocumentedRow<State, z.ZodObject<Shape>, Response>['answer'],
): UndocumentedRow<State, z.ZodObject<Shape, z.core.$loose>, Response> {
  return {
    method,
    path,
    auth,
    retry,
    limit,
    section,
    outside: true,
    request: z.looseObject(request.shape),
    response,
    answer,
  }
}

export const read = kindOf({ method: 'GET', retry: 'safe' })
export const readPublic = kindOf({
  method: 'GET',
  retry: 'safe',
  auth: 'public',
  scope: 'ip',
  calls: 20,
})
export const place = kindOf({ method: 'POST', retry: 'protocol' })
export const change = kindOf({ method: 'POST', retry: 'repeatable' })

export const byEitherId = { orderId: exchangeId.optional(), clientOid: foreignClientOid.optional() }

export const span = {
  startTime: z.string().optional(),
  endTime: z.string().optional(),
  limit: z.string().optional(),
}

export const ofProduct = { productType, symbol: symbol.optional() }

export const orderPage = { ...ofProduct, idLessThan: exchangeId.optional(), ...span, ...byEitherId }

export const orderIdList = z.array(z.looseObject(byEitherId)).optional()

export function textRow<const Names extends readonly string[]>(...names: Names) {
  const shape = Object.fromEntries(names.map((name) => [name, z.string()]))
  return z.object(shape as Record<Names[number], z.ZodString>).catchall(textOrNull)
}

export const pageOfOrders = z.object({
  entrustedList: z.array(textRow('orderId', 'symbol')).nullish(),
  endId: textOrNull,
})

interface RowPageOptions<Order, Row> {
  readonly now: number
  readonly timeOf?: (order: Order) => number
  readonly toRow: (order: Order) => Row
}

/**
 * Newest first. A limit above 100 is silently cut. `endId` is the next page's idLessThan.
 *
 * @param orders by id, lowest first
 */
export function showPage<Order extends OrderReference, Row>(
  orders: readonly Order[],
  query: HistoryQuery & RowRequest<typeof byEitherId>,
  { toRow, ...options }: RowPageOptions<Order, Row>,
) {
  const found = readHistory(orders, query, {
    ...options,
    limitMax: 100,
    idOf: ({ orderId }) => orderId,
    accepts: ({ orderId, clientOid }) =>
      orderId === (query.orderId ?? orderId) && clientOid === (query.clientOid ?? clientOid),
  })
  if (!found.ok) return found
  return accept({ entrustedList: found.data.map(toRow), endId: found.data.at(-1)?.orderId ?? '' })
}
