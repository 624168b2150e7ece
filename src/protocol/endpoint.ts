import { type z } from 'zod'

/** `uid`: counted per account, all its keys together. `ip`: counted per address. */
export type LimitScope = 'uid' | 'ip'

/** A documented rate limit: at most `calls` in any `perMs` milliseconds. Document: Limits. */
export interface RateLimit {
  readonly calls: number
  readonly perMs: number
  readonly scope: LimitScope
  /** The lower limit of copy-trading traders, where the document has one. */
  readonly copyTraderCalls?: number
}

/** How a call is signed. Document: Authentication. */
export type Auth = 'public' | 'schemeA' | 'schemeB'

/**
 * What may be done after an answer that never came.
 * `safe`: a read, ask again. `repeatable`: doing it twice does no harm, ask again.
 * `protocol`: only the order protocol may decide, by evidence.
 */
export type Retry = 'safe' | 'repeatable' | 'protocol'

/** What the document calls the account's position mode. */
export type PositionMode = 'one_way_mode' | 'hedge_mode'

/** What a rule may know of the account beyond the request itself. */
export interface RuleContext {
  readonly positionMode: PositionMode
}

/** A row of the table. Columns stand in the order of the document. */
export interface Endpoint<
  Name extends string = string,
  Request extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
> {
  readonly name: Name
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly auth: Auth
  readonly limit: RateLimit
  readonly retry: Retry
  /** The heading of the document that the row was written from. */
  readonly section: string
  /** Strict: an unknown parameter, a missing one or a wrong value is refused before anything is sent. */
  readonly request: Request
  /** The envelope's `data`. Unknown fields are let through: the exchange adds fields without notice. */
  readonly response: Response
  /** Rules that need to know the account: each broken one as a sentence. */
  readonly rules?: (request: z.output<Request>, context: RuleContext) => readonly string[]
}

/** Keeps the row's exact types while checking its columns. */
export function defineEndpoint<
  const Name extends string,
  Request extends z.ZodType,
  Response extends z.ZodType,
>(endpoint: Endpoint<Name, Request, Response>): Endpoint<Name, Request, Response> {
  return endpoint
}
