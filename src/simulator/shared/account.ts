import { decimal } from '../../lib/decimal.ts'
import { Failure, messageOf } from '../../lib/failure.ts'
import type { PositionMode } from '../../protocol/endpoint.ts'

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
  /**
   * The addresses that the API key is bound to: it is refused from any other, and some endpoints want a key
   * that is bound. Left out, the key is bound to none.
   */
  readonly boundToIps?: readonly string[]
  /**
   * Unix ms, of a managed sub-account: when it was bound to its manager. Its fills and spot orders of before are not
   * shown. Document: order fill details, spot historical orders.
   */
  readonly boundAt?: number
  /** Its client of the signed gateway, where it has one. */
  readonly gateway?: GatewayClient
  /** Opening deposit by margin coin, in decimals: `{ USDT: '10000' }`. */
  readonly balances: Readonly<Record<string, string>>
  /** Leverage of every instrument without a row of its own; capped by the instrument. Default 20. */
  readonly leverage?: number
  readonly leverageBySymbol?: Readonly<Record<string, number>>
}

/** A client of the signed gateway, with a key and a secret of its own. Document: Authentication, Scheme B. */
export interface GatewayClient {
  readonly key: string
  readonly secret: string
  /** A client that is not on the whitelist is answered with HTTP 403. */
  readonly isWhitelisted: boolean
}

/** What the owner of an account has changed of its setup, over the wire; it survives a restart. */
export interface AccountChoices {
  readonly positionMode?: PositionMode
  readonly leverageBySymbol?: Readonly<Record<string, number>>
  /** For the account's own answers: each order names its margin mode itself. */
  readonly marginModeBySymbol?: Readonly<Record<string, 'isolated' | 'crossed'>>
}

/** What a caller needs to name an account. */
export type AccountRef = Pick<AccountSetup, 'uid'>

/** @throws Failure SIMULATOR_ACCOUNT_INVALID when two accounts share a uid or key, or a number is none. */
export function assertAccounts(accounts: readonly AccountSetup[]): void {
  const taken = new Set<string>()
  for (const account of accounts) {
    const { uid, key, leverage = 1, leverageBySymbol = {}, balances } = account
    for (const name of [`uid ${uid}`, `key ${key}`]) {
      if (taken.has(name)) throw invalid(account, 'two accounts share a uid or an API key')
      taken.add(name)
    }
    for (const value of [leverage, ...Object.values(leverageBySymbol)]) {
      if (!Number.isInteger(value) || value < 1)
        throw invalid(account, 'leverage must be a whole number from 1')
    }
    for (const [coin, amount] of Object.entries(balances)) assertBalance(account, coin, amount)
  }
}

function assertBalance(account: AccountSetup, coin: string, amount: string): void {
  try {
    if (decimal(amount).gte('0')) return
  } catch (cause) {
    throw invalid(account, `the balance of ${coin} is no decimal: ${messageOf(cause)}`)
  }
  throw invalid(account, `the balance of ${coin} is below zero`)
}

function invalid({ uid, label }: AccountSetup, sentence: string): Failure {
  return new Failure({
    code: 'SIMULATOR_ACCOUNT_INVALID',
    sentence,
    facts: { uid, label },
    hint: 'correct the account in the simulator configuration',
  })
}
