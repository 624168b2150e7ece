import type { Credentials } from './request-writer.ts'

export interface ExchangeAccess {
  readonly baseUrl: string
  readonly credentials: Credentials
}
