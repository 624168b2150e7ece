import type { z } from 'zod'

/** `uid`: counted per account over all its keys. `ip`: counted per address. */
export type LimitScope = 'uid' | 'ip'

/** A documented rate limit: at most `calls` in any `perMs` milliseconds. Document: Limits. */
export interface RateLimit {
  readonly calls: number
  readonly perMs: number
  readonly scope: LimitScope
  /** The lower limit for copy-trading traders, if the document has one. */
  readonly copyTraderCalls?: number
  /** True if the document has no limit and this one is our own. */
  readonly isAssumed?: true
}

/** How a call is signed. Scheme B goes to the gateway's address. Document: Authentication. */
export type Auth = 'public' | 'schemeA' | 'schemeB'

/**
 * How a call without an answer may be repeated. `safe`: a read, which can be repeated.
 * `repeatable`: doing it twice does no harm. `protocol`: never automatically; evidence of the first
 * call's outcome decides.
 */
export type Retry = 'safe' | 'repeatable' | 'protocol'

/** Position modes as the document names them. */
export type PositionMode = 'one_way_mode' | 'hedge_mode'

/** Facts for a rule besides the request. A rule that lacks a fact reports no problem. */
export interface RuleContext {
  readonly positionMode: PositionMode
  /** Unix ms of the exchange's clock. */
  readonly now?: number
  /** The pending order to be modified. */
  readonly planOrder?: { readonly type: 'limit' | 'market'; readonly trailing: boolean }
}

/**
 * A row of the table. Columns are in the order of the document.
 *
 * Each endpoint's oddities of spelling are handled in its row and nowhere else:
 *
 * - `request` is the wire: strict, and it accepts every name that the document uses for a field.
 *   The client checks requests with it before sending, the server after receiving. Lower-case
 *   samples are put into upper case before that ({@link withCapitals}).
 * - `toWire` converts the clean request, which has one name for each field. If it is absent, both
 *   are the same.
 * - `response` takes the wire (`z.input`, written by a server) and yields the clean shape
 *   (`z.output`, read by a caller of the client): one name for each field, lists always present,
 *   `undefined` for null, empty and missing. Rows read many times a second keep null and empty
 *   values.
 */
export interface Endpoint<
  Name extends string = string,
  Request extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
  Clean = z.input<Request>,
> {
  readonly name: Name
  readonly method: 'GET' | 'POST'
  /** May contain `{parameters}` from the configuration: see {@link formatPath}. */
  readonly path: string
  readonly auth: Auth
  readonly limit: RateLimit
  readonly retry: Retry
  /** The document's heading for this endpoint, or where it is beyond the document. */
  readonly section: string
  /**
   * True if the endpoint is not in the document: the simulator serves it to public clients, and our
   * client calls it if it is in the table of `beyond/`.
   */
  readonly outside?: true
  /**
   * `queryAndBody`: the request is `{ query, body }`. Default: a GET has a query, a POST a body.
   */
  readonly parts?: 'queryAndBody'
  /**
   * True if it lists every instrument of a market: only these answers may exceed {@link
   * ANSWER_BYTES_MAX}.
   */
  readonly listsMarket?: true
  /** The envelope's text field. Default `msg`. */
  readonly textField?: 'message'
  /** Strict: unknown or missing parameters and wrong values are refused before anything is sent. */
  readonly request: Request
  toWire?(request: Clean): z.input<Request>
  /**
   * The envelope's `data`. Unknown fields pass, because the exchange adds fields without notice.
   */
  readonly response: Response
  /**
   * Rules of the client that need more than the request; each broken one is returned as a sentence.
   */
  rules?(request: z.output<Request>, context: RuleContext): readonly string[]
}

/**
 * Maximum size of an answer, unless it lists a market: ten times a page of the longest rows (500
 * conversions), or a batch result of a thousand orders.
 */
export const ANSWER_BYTES_MAX = 1_048_576

/** Checks the columns of a row and keeps their exact types. */
export function defineEndpoint<
  const Name extends string,
  Request extends z.ZodType,
  Response extends z.ZodType,
  Clean = z.input<Request>,
>(endpoint: Endpoint<Name, Request, Response, Clean>): Endpoint<Name, Request, Response, Clean> {
  return endpoint
}
