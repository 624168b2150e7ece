import { type PositionMode } from '../../protocol/endpoint.ts'

/** An account of the simulated exchange, as its operator opens it. */
export interface AccountSetup {
  /** Digits, unique. */
  readonly uid: string
  /** What people call it, for logs and statements. */
  readonly label: string
  /** Its one API key, unique among the accounts. */
  readonly key: string
  readonly secret: string
  readonly passphrase: string
  readonly positionMode: PositionMode
  /** Copy traders have a lower rate limit on batch-place (document: Limits). */
  readonly role: 'ordinary' | 'copyTrader'
  /** Opening deposit by margin coin, in decimals: `{ USDT: '10000' }`. */
  readonly balances: Readonly<Record<string, string>>
  /** Leverage of every instrument without a row of its own; capped by the instrument. Default 20. */
  readonly leverage?: number
  readonly leverageBySymbol?: Readonly<Record<string, number>>
}

/** What a caller needs to name an account. */
export type AccountRef = Pick<AccountSetup, 'uid'>
