import { decimal } from '../../lib/decimal.ts'
import { Failure, messageOf } from '../../lib/failure.ts'
import type { WirePositionMode } from '../../protocol/endpoint.ts'

export type ExchangeMarginMode = 'isolated' | 'crossed'

export interface ExchangeAccountSetup {
  readonly uid: string
  readonly label: string
  readonly key: string
  readonly secret: string
  readonly passphrase: string
  readonly positionMode: WirePositionMode
  /** Copy traders have a lower rate limit on batch-place (document: Limits). */
  readonly role: 'ordinary' | 'copyTrader'
  /** Calls from other addresses are refused; some endpoints require a bound key. */
  readonly boundToIps?: readonly string[]
  /**
   * Demo keys work only with the header `paptrading: 1`, others only without it. Default: both
   * ways.
   */
  readonly isDemo?: boolean
  /**
   * Earlier fills and spot orders of a managed sub-account are hidden (document: order fill
   * details, spot historical orders).
   */
  readonly boundAt?: number
  readonly gateway?: GatewayClient
  readonly balances: Readonly<Record<string, string>>
  readonly leverage?: number
  readonly leverageBySymbol?: Readonly<Record<string, number>>
}

/** Document: Authentication, Scheme B. */
export interface GatewayClient {
  readonly key: string
  readonly secret: string
  readonly isWhitelisted: boolean
}

export interface AccountChoices {
  readonly positionMode?: WirePositionMode
  readonly leverageBySymbol?: Readonly<Record<string, number>>
  /** Only the account's own answers show this, because each order states its margin mode. */
  readonly marginModeBySymbol?: Readonly<Record<string, ExchangeMarginMode>>
}

export type AccountRef = Pick<ExchangeAccountSetup, 'uid'>

/** @throws Failure SIMULATOR_ACCOUNT_INVALID */
export function assertAccounts(accounts: readonly ExchangeAccountSetup[]): void {
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

function assertBalance(account: ExchangeAccountSetup, coin: string, amount: string): void {
  try {
    if (decimal(amount).gte('0')) return
  } catch (cause) {
    throw invalid(account, `the balance of ${coin} is no decimal: ${messageOf(cause)}`)
  }
  throw invalid(account, `the balance of ${coin} is below zero`)
}

function invalid({ uid, label }: ExchangeAccountSetup, sentence: string): Failure {
  return new Failure({
    code: 'SIMULATOR_ACCOUNT_INVALID',
    sentence,
    facts: { uid, label },
    hint: 'correct the account in the simulator configuration',
  })
}
