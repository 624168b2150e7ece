import { z } from 'zod'
import { textOrNull } from '../../protocol/answer-values.ts'
import { type Endpoint, type LimitScope, type Retry } from '../../protocol/endpoint.ts'
import { exchangeId, foreignClientOid } from '../../protocol/values.ts'
import { type AccountRef } from '../shared/account.ts'
import { type HistoryRules } from '../shared/history-page.ts'
import { accept, type Reply } from '../shared/reply.ts'

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

/** What is asked under such names, as its handler sees it. */
export type Asked<Shape extends z.ZodRawShape> = z.input<z.ZodObject<Shape>>

/** In which columns the rows of one kind differ. */
interface Columns<State, Shape extends z.ZodRawShape, Response extends z.ZodType> {
  readonly asks?: Shape
  readonly shows: Response
  readonly answer: (state: State, account: AccountRef, request: Asked<Shape>) => Reply<z.input<Response>>
  /** Calls a second. */
  readonly calls?: number
}

interface Kind {
  readonly method: 'GET' | 'POST'
  readonly retry: Retry
  readonly auth?: 'public'
  readonly scope?: LimitScope
  readonly calls?: number
}

/** Makes the rows of a kind. @returns Takes the path behind `/api/v2`. */
function kindOf({ method, retry, auth, scope = 'uid', calls: usual = 10 }: Kind) {
  return <State, Shape extends z.ZodRawShape, Response extends z.ZodType>(
    path: string,
    { asks, shows, answer, calls = usual }: Columns<State, Shape, Response>,
  ): UndocumentedRow<State, z.ZodObject<Shape, z.core.$loose>, Response> => ({
    ...{ method, path: `/api/v2${path}`, auth: auth ?? 'schemeA', retry },
    limit: { calls, perMs: 1000, scope },
    section: 'outside the document',
    outside: true,
    request: z.looseObject(asks ?? ({} as Shape)),
    response: shows,
    answer,
  })
}

export const read = kindOf({ method: 'GET', retry: 'safe' })
export const readPublic = kindOf({ method: 'GET', retry: 'safe', auth: 'public', scope: 'ip', calls: 20 })
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

/** A row of an answer: these of its fields are there, and all others are texts, or null where there is nothing. */
export function textRow<const Names extends readonly string[]>(...names: Names) {
  const shape = Object.fromEntries(names.map((name) => [name, z.string()]))
  return z.object(shape as Record<Names[number], z.ZodString>).catchall(textOrNull)
}

/** Lists are silently cut here, whatever limit was asked. */
export const LISTS: HistoryRules = { limitMax: 100 }

export const pageOfOrders = z.object({
  entrustedList: z.array(textRow('orderId', 'symbol')).nullish(),
  endId: textOrNull,
})

/** `endId` is the page's last: the next page's idLessThan. */
export function toPage<Row extends { readonly orderId: string }>(rows: Reply<Row[]>) {
  return rows.ok ? accept({ entrustedList: rows.data, endId: rows.data.at(-1)?.orderId ?? '' }) : rows
}
