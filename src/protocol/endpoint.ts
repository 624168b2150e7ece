import type { z } from 'zod'

/** `uid`: per account over all its keys. `ip`: per address. */
export type LimitScope = 'uid' | 'ip'

/** At most `calls` in any `perMs`. Document: Limits. */
export interface RateLimit {
  readonly calls: number
  readonly perMs: number
  readonly scope: LimitScope
  /** The lower limit of copy-trading traders. */
  readonly copyTraderCalls?: number
  /** The document has no limit; this one is our own. */
  readonly isAssumed?: true
}

/** Scheme B goes to the gateway's address. Document: Authentication. */
export type Auth = 'public' | 'schemeA' | 'schemeB'

/**
 * How a call without an answer may be repeated. `safe`: a read. `repeatable`: twice does no harm.
 * `protocol`: never automatically; evidence of the first call's outcome decides.
 */
export type Retry = 'safe' | 'repeatable' | 'protocol'

export type PositionMode = 'one_way_mode' | 'hedge_mode'

/** Facts for rules besides the request. A rule without its fact reports no problem. */
export interface RuleContext {
  readonly positionMode: PositionMode
  /** Exchange clock. */
  readonly now?: number
  readonly planOrder?: { readonly type: 'limit' | 'market'; readonly trailing: boolean }
}

/**
 * A row of the table, in the order of the document. The oddities of an endpoint's spelling are
 * handled in its row and nowhere else:
 *
 * - `request` is the wire: strict, with every name that the document uses for a field. The client
 *   checks requests with it before sending, the server after receiving ({@link withCapitals}
 *   first).
 * - `toWire` converts the clean request, which has one name for each field. If it is absent, both
 *   are the same.
 * - `response` takes the wire (`z.input`, written by a server) and yields the clean shape
 *   (`z.output`, read by a caller): one name for each field, lists always present, `undefined` for
 *   null, empty and missing. Rows read many times a second keep null and empty values.
 */
export interface Endpoint<
  Name extends string = string,
  Request extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
  Clean = z.input<Request>,
> {
  readonly name: Name
  readonly method: 'GET' | 'POST'
  /** May contain `{parameters}`: {@link formatPath}. */
  readonly path: string
  readonly auth: Auth
  readonly limit: RateLimit
  readonly retry: Retry
  /** The document's heading, or where it is beyond the document. */
  readonly section: string
  /**
   * Not in the document: the simulator serves it to public clients, and our client calls it if it
   * is in the table of `beyond/`.
   */
  readonly outside?: true
  /** `queryAndBody`: `{ query, body }`. Default: a GET has a query, a POST a body. */
  readonly parts?: 'queryAndBody'
  /**
   * It lists every instrument of a market: only such answers may exceed {@link ANSWER_BYTES_MAX}.
   */
  readonly listsMarket?: true
  /** The envelope's text field. Default `msg`. */
  readonly textField?: 'message'
  /** Strict: wrong values and unknown or missing parameters are refused before anything is sent. */
  readonly request: Request
  toWire?(request: Clean): z.input<Request>
  /** Unknown fields pass, because the exchange adds some without notice. */
  readonly response: Response
  /** Rules that need more than the request; a sentence for each broken one. */
  rules?(request: z.output<Request>, context: RuleContext): readonly string[]
}

/**
 * Ten times a page of the longest rows (500 conversions), or a batch result of a thousand orders.
 */
export const ANSWER_BYTES_MAX = 1_048_576

/** Keeps the exact types of the columns. */
export function defineEndpoint<
  const Name extends string,
  Request extends z.ZodType,
  Response extends z.ZodType,
  Clean = z.input<Request>,
>(endpoint: Endpoint<Name, Request, Response, Clean>): Endpoint<Name, Request, Response, Clean> {
  return endpoint
}
