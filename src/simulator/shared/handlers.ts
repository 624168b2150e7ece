import type { EndpointName, WireRequestOf, WireResponseOf } from '../../protocol/endpoints.ts'
import type { AccountRef } from './account.ts'
import type { Reply } from './reply.ts'

/** The caller of a public endpoint: no account has an empty UID. */
export const NOBODY: AccountRef = { uid: '' }

/**
 * What answers an endpoint: the state of its part of the exchange, who asks ({@link NOBODY} where it is public), what
 * is asked. All has been played up to the moment of the request before, and what changes is stored after it.
 */
type Handler<State, Request, Data> = (
  state: State,
  account: AccountRef,
  request: Request,
) => Reply<Data>

/** The handlers of one part of the exchange, by the names of their rows in the document's table. */
export type Handlers<State> = {
  readonly [Name in EndpointName]?: Handler<State, WireRequestOf<Name>, WireResponseOf<Name>>
}

export type HandlerTable<State> = Readonly<Record<string, Handler<State, never, unknown>>>
export type RequestTo<Handle> = Handle extends (
  state: never,
  account: never,
  request: infer Request,
) => unknown
  ? Request
  : never
export type ReplyOf<Handle> = Handle extends (...parameters: never) => infer Answer ? Answer : never

/** The handlers of a table with their state at hand. */
export type Bound<Table> = {
  readonly [Name in keyof Table]: (
    account: AccountRef,
    request: RequestTo<Table[Name]>,
  ) => ReplyOf<Table[Name]>
}

export function bindHandlers<State, Table extends HandlerTable<State>>(
  state: State,
  table: Table,
): Bound<Table> {
  const bound = Object.entries(table).map(([name, handle]) => [
    name,
    (account: AccountRef, request: never) => handle(state, account, request),
  ])
  return Object.fromEntries(bound) as Bound<Table>
}
