import { type AccountRef, type AccountSetup } from '../core/account.ts'
import { type Reply } from '../core/reply.ts'
import { type ServedName, type ServedRequestOf, type ServedResponseOf } from './served-rows.ts'

/** Who asks, and when. */
export interface Caller {
  /** {@link NOBODY} for public endpoints. */
  readonly account: AccountRef
  /** Unix ms of the exchange's clock. */
  readonly now: number
}

/** The caller of a public endpoint: no account has an empty UID. */
export const NOBODY: AccountRef = { uid: '' }

export type Handler<Name extends ServedName> = (
  request: ServedRequestOf<Name>,
  caller: Caller,
) => Reply<ServedResponseOf<Name>>

/** What answers each row. An exchange with a row that nothing answers does not compile. */
export type Handlers = { readonly [Name in ServedName]: Handler<Name> }

/** What the wire asks of the exchange behind it. */
export interface ServedExchange {
  readonly handlers: Handlers
  /** Whose API key it is. */
  accountByKey(apiKey: string): AccountSetup | undefined
  /** Whose key of the signed gateway it is. */
  accountByGatewayKey(apiKey: string): AccountSetup | undefined
}
