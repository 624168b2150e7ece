import { type AccountRef, type AccountSetup } from '../shared/account.ts'
import { type Reply } from '../shared/reply.ts'
import { type ServedName } from './served-rows.ts'

/** What the wire asks of the exchange behind it. */
export interface ServedExchange {
  /** @param request What the row's schema has passed. @param now Unix ms of the exchange's clock. */
  answer(name: ServedName, account: AccountRef, request: never, now: number): Reply<unknown>
  /** Whose API key it is. */
  accountByKey(apiKey: string): AccountSetup | undefined
  /** Whose key of the signed gateway it is. */
  accountByGatewayKey(apiKey: string): AccountSetup | undefined
}
