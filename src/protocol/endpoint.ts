import type { z } from 'zod'

/** `uid`: per account over all its keys. `ip`: per address. */
export type LimitScope = 'uid' | 'ip'

/** Document: Limits. */
export interface RateLimit {
  readonly calls: number
  readonly perMs: number
  readonly scope: LimitScope
  readonly copyTraderCalls?: number
  readonly isAssumed?: true
}

/** Scheme B goes to the gateway's address. Document: Authentication. */
export type Auth = 'public' | 'schemeA' | 'schemeB'

/**
 * How to repeat a call without an answer. `safe`: a read. `repeatable`: harmless. `protocol`: never
 * automatically; evidence of the first call's outcome decides.
 */
export type Retry = 'safe' | 'repeatable' | 'protocol'

export type WirePositionMode = 'one_way_mode' | 'hedge_mode'

/** A rule without its fact reports no problem. */
export interface RuleContext {
  readonly positionMode: WirePositionMode
  /** Exchange clock. */
  readonly now?: number
  readonly planOrder?: { readonly type: 'limit' | 'market'; readonly trailing: boolean }
}

/**
 * An endpoint is a row of the table, in the document's order, which alone knows its oddities:
 *
 * - `request` is the wire: strict, with every name of the document for a field. The client checks
 *   before sending, the server after receiving ({@link withCapitals} first).
 * - `toWire` converts the clean request, with one name for each field. Absent: both are the same.
 * - `response` takes the wire (`z.input`, written by a server) and yields the clean shape
 *   (`z.output`): one name for each field, lists always present, `undefined` for null, empty and
 *   missing. Rows read many times a second keep null and empty values.
 */
export interface Endpoint<
  Name extends string = string,
  Request extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
  Clean = z.input<Request>,
> {
  readonly name: Name
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly auth: Auth
  readonly limit: RateLimit
  readonly retry: Retry
  readonly section: string
  /**
   * Not in the document: the simulator serves it to public clients; our client calls those in
   * `beyond/`.
   */
  readonly outside?: true
  /** `queryAndBody`: `{ query, body }`. Default: a GET has a query, a POST a body. */
  readonly parts?: 'queryAndBody'
  /** Only answers about a whole market may exceed {@link ANSWER_BYTES_MAX}. */
  readonly listsMarket?: true
  /** The envelope's text field. Default `msg`. */
  readonly textField?: 'message'
  readonly request: Request
  toWire?(request: Clean): z.input<Request>
  readonly response: Response
  /** Rules that a schema cannot check. @returns a sentence for each broken one */
  rules?(request: z.output<Request>, context: RuleContext): readonly string[]
}

/** It is ten times a page of the longest rows (500 conversions), or a thousand batch results. */
export const ANSWER_BYTES_MAX = 1_048_576

export function defineEndpoint<
  const Name extends string,
  Request extends z.ZodType,
  Response extends z.ZodType,
  Clean = z.input<Request>,
>(endpoint: Endpoint<Name, Request, Response, Clean>): Endpoint<Name, Request, Response, Clean> {
  return endpoint
}
