import type { z } from 'zod'

/** `uid`: counted per account, all its keys together. `ip`: counted per address. */
export type LimitScope = 'uid' | 'ip'

/** A documented rate limit: at most `calls` in any `perMs` milliseconds. Document: Limits. */
export interface RateLimit {
  readonly calls: number
  readonly perMs: number
  readonly scope: LimitScope
  /** The lower limit of copy-trading traders, where the document has one. */
  readonly copyTraderCalls?: number
  /** The document has none: our own caution. */
  readonly isAssumed?: true
}

/** How a call is signed. Scheme B goes to the gateway's address. Document: Authentication. */
export type Auth = 'public' | 'schemeA' | 'schemeB'

/**
 * What may be done after an answer that never came.
 * `safe`: a read, ask again. `repeatable`: doing it twice does no harm, ask again.
 * `protocol`: never by itself; only evidence of what became of the first may decide.
 */
export type Retry = 'safe' | 'repeatable' | 'protocol'

/** What the document calls the account's position mode. */
export type PositionMode = 'one_way_mode' | 'hedge_mode'

/** What a rule may know beyond the request itself. A rule that lacks its fact finds nothing wrong. */
export interface RuleContext {
  readonly positionMode: PositionMode
  /** Unix ms of the exchange's clock. */
  readonly now?: number
  /** The pending order that a modification is for. */
  readonly planOrder?: { readonly type: 'limit' | 'market'; readonly trailing: boolean }
}

/**
 * A row of the table. Columns stand in the order of the document.
 *
 * Oddities of spelling live here and nowhere else, one place an endpoint:
 *
 * - `request` is the wire: strict, and it takes every name that the document uses for a field. Both sides
 *   check by it, the client what it is about to send, a server what came. Samples in lower case are put in
 *   capitals before that ({@link withCapitals}).
 * - `toWire` makes it of the clean request, in which a field has one name. Absent: they are the same.
 * - `response` takes the wire (`z.input`, what a server answers) and yields the clean shape (`z.output`, what
 *   a caller of the client sees): one name a field, lists that are always there, `undefined` for null, empty
 *   and missing alike. Rows that are read many times a second leave null and empty values as they are.
 */
export interface Endpoint<
  Name extends string = string,
  Request extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
  Clean = z.input<Request>,
> {
  readonly name: Name
  readonly method: 'GET' | 'POST'
  /** May hold `{parameters}` that come from the configuration: see {@link formatPath}. */
  readonly path: string
  readonly auth: Auth
  readonly limit: RateLimit
  readonly retry: Retry
  /** The heading of the document that the row was written from; undocumented endpoints have none. */
  readonly section: string
  /** Not in the document, served to clients that ask for it before anything else. */
  readonly outside?: true
  /** `queryAndBody`: the request is `{ query, body }`. Default: a GET has a query, a POST a body. */
  readonly parts?: 'queryAndBody'
  /** Lists every instrument of a market: the only answers that are read beyond {@link ANSWER_BYTES_MAX}. */
  readonly listsMarket?: true
  /** The envelope's text field. Default `msg`. */
  readonly textField?: 'message'
  /** Strict: an unknown parameter, a missing one or a wrong value is refused before anything is sent. */
  readonly request: Request
  toWire?(request: Clean): z.input<Request>
  /** The envelope's `data`. Unknown fields are let through: the exchange adds fields without notice. */
  readonly response: Response
  /** Rules for the client that need to know more than the request: each broken one as a sentence. */
  rules?(request: z.output<Request>, context: RuleContext): readonly string[]
}

/**
 * Largest answer that is read of an endpoint that lists no market: ten times a page of the longest rows (500 conversions),
 * or a batch result of a thousand orders.
 */
export const ANSWER_BYTES_MAX = 1_048_576

/** Keeps the row's exact types while checking its columns. */
export function defineEndpoint<
  const Name extends string,
  Request extends z.ZodType,
  Response extends z.ZodType,
  Clean = z.input<Request>,
>(endpoint: Endpoint<Name, Request, Response, Clean>): Endpoint<Name, Request, Response, Clean> {
  return endpoint
}
