import { z } from 'zod'
import { textOrNull } from '../../protocol/answer-values.ts'
import type { Endpoint, RateLimit } from '../../protocol/endpoint.ts'
import { exchangeId, foreignClientOid, productType, symbol } from '../../protocol/values.ts'
import type { AccountRef } from '../shared/account.ts'
import { readHistory, type HistoryQuery } from '../shared/history-page.ts'
import { accept, type OrderReference, type Reply } from '../shared/reply.ts'

/**
 * A row of an endpoint outside the document, which public clients call before anything else, with what answers it. The
 * request lets unknown parameters through. The daemon never depends on it.
 */
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

/** What is asked under such names, as its handler sees it. */
export type Asked<Shape extends z.ZodRawShape> = z.input<z.ZodObject<Shape>>

/** In which columns the rows of one kind differ. */
interface Columns<State, Shape extends z.ZodRawShape, Response extends z.ZodType> {
  readonly asks?: Shape
  readonly shows: Response
  readonly answer: (
    state: State,
    account: AccountRef,
    request: Asked<Shape>,
  ) => Reply<z.input<Response>>
  /** Calls a second. */
  readonly calls?: number
}

type Kind = Pick<Endpoint, 'method' | 'retry'> & Partial<Pick<Endpoint, 'auth'> & RateLimit>

/** Makes the rows of a kind. @returns Takes the path behind `/api/v2`. */
function kindOf({ method, retry, auth = 'schemeA', scope = 'uid', calls: usual = 10 }: Kind) {
  return <State, Shape extends z.ZodRawShape, Response extends z.ZodType>(
    path: string,
    { asks, shows, answer, calls = usual }: Columns<State, Shape, Response>,
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

export const read = kindOf({ method: 'GET', retry: 'safe' })
export const readPublic = kindOf({
  method: 'GET',
  retry: 'safe',
  auth: 'public',
  scope: 'ip',
  calls: 20,
})
export const place = kindOf({ method: 'POST', retry: 'protocol' })
/** A cancel or a setting. */
export const change = kindOf({ method: 'POST', retry: 'repeatable' })

/** How an order is named in a request: when both ids are given, orderId prevails. */
export const byEitherId = { orderId: exchangeId.optional(), clientOid: foreignClientOid.optional() }

/** Of a list: between which times (Unix ms), and how many. */
export const span = {
  startTime: z.string().optional(),
  endTime: z.string().optional(),
  limit: z.string().optional(),
}

/** All futures of a product type, or those of one symbol. */
export const ofProduct = { productType, symbol: symbol.optional() }

/** A page of futures orders; a list of trigger orders does not look at the times. */
export const orderPage = { ...ofProduct, idLessThan: exchangeId.optional(), ...span, ...byEitherId }

/** The orders that are to be cancelled, each by either id. */
export const orderIdList = z.array(z.looseObject(byEitherId)).optional()

/** A row of an answer: these of its fields are there, and all others are texts, or null where there is nothing. */
export function textRow<const Names extends readonly string[]>(...names: Names) {
  const shape = Object.fromEntries(names.map((name) => [name, z.string()]))
  return z.object(shape as Record<Names[number], z.ZodString>).catchall(textOrNull)
}

export const pageOfOrders = z.object({
  entrustedList: z.array(textRow('orderId', 'symbol')).nullish(),
  endId: textOrNull,
})

interface PageOptions<Order, Row> {
  /** Unix ms of the exchange's clock. */
  readonly now: number
  /** Unix ms; left out where the times that are asked for do not count. */
  readonly timeOf?: (order: Order) => number
  readonly toRow: (order: Order) => Row
}

/**
 * The page that is asked for, newest first, of the orders that have the ids it names. A limit above 100 is silently cut.
 * `endId` is the page's last: the next page's idLessThan.
 *
 * @param orders By id, lowest first.
 */
export function showPage<Order extends OrderReference, Row>(
  orders: readonly Order[],
  query: HistoryQuery & Asked<typeof byEitherId>,
  { toRow, ...options }: PageOptions<Order, Row>,
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
