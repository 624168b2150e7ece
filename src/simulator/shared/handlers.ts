import type { EndpointName, WireRequestOf, WireResponseOf } from '../../protocol/endpoints.ts'
import type { AccountRef } from './account.ts'
import type { Reply } from './reply.ts'

export const NOBODY: AccountRef = { uid: '' }

type Handler<State, Request, Data> = (
  state: State,
  account: AccountRef,
  request: Request,
) => Reply<Data>

export type Handlers<State> = {
  readonly [Name in EndpointName]?: Handler<State, WireRequestOf<Name>, WireResponseOf<Name>>
}

export type HandlerTable<State> = Readonly<Record<string, Handler<State, never, unknown>>>
export type HandlerRequest<Handle> = Handle extends (
  state: never,
  account: never,
  request: infer Request,
) => unknown
  ? Request
  : never
export type ReplyOf<Handle> = Handle extends (...parameters: never) => infer Answer ? Answer : never

export type BoundHandlers<Table> = {
  readonly [Name in keyof Table]: (
    account: AccountRef,
    request: HandlerRequest<Table[Name]>,
  ) => ReplyOf<Table[Name]>
}

export function bindHandlers<State, Table extends HandlerTable<State>>(
  state: State,
  table: Table,
): BoundHandlers<Table> {
  const bound = Object.entries(table).map(([name, handle]) => [
    name,
    (account: AccountRef, request: never) => handle(state, account, request),
  ])
  return Object.fromEntries(bound) as BoundHandlers<Table>
}
