import { type Credentials } from './signer.ts'

/** Where the exchange is, and who we are there. */
export interface ExchangeAccess {
  readonly baseUrl: string
  readonly credentials: Credentials
}
