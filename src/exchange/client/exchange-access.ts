import type { Credentials } from './request-writer.ts'

/** The address of the exchange, and our keys there. */
export interface ExchangeAccess {
  readonly baseUrl: string
  readonly credentials: Credentials
}
