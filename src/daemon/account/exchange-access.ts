import { type Credentials } from '../../exchange/client/signer.ts'

/** Where the exchange is, and who we are there. */
export interface ExchangeAccess {
  readonly baseUrl: string
  readonly credentials: Credentials
}
