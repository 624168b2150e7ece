import { sumDecimals, ZERO, type Decimal } from '../../lib/decimal.ts'
import type { PlacedCodec } from '../store/stored-rows.ts'

export type BalanceName = 'spot' | 'crossed' | `isolated:${string}`

export interface BalanceRef {
  readonly uid: string
  readonly balance: BalanceName
}

export interface CoinRef extends BalanceRef {
  readonly coin: string
}

/** Never negative. Equity = available + frozen - borrowed - interest. */
export interface CoinMoney {
  readonly available: Decimal
  readonly frozen: Decimal
  readonly borrowed: Decimal
  readonly interest: Decimal
}

/**
 * The counterparty of each booking that changes an account's equity; it may be negative. A
 * `transfer` is between balances.
 */
export const COUNTERPARTY_OF = {
  opening: 'outside',
  deposit: 'outside',
  withdrawal: 'outside',
  withdrawalFee: 'fees',
  trade: 'market',
  fee: 'fees',
  conversion: 'platform',
  interest: 'interest',
  insurance: 'insurance',
} as const

export type WalletBooking = keyof typeof COUNTERPARTY_OF | 'transfer'

export type Flows = Partial<Record<WalletBooking, Decimal>>

export const NO_COUNTERPARTIES = {
  outside: ZERO,
  market: ZERO,
  fees: ZERO,
  interest: ZERO,
  insurance: ZERO,
  platform: ZERO,
}

export type Counterparties = Record<keyof typeof NO_COUNTERPARTIES, Decimal>

export interface CoinAccount {
  readonly ref: CoinRef
  money: CoinMoney
  readonly flows: Flows
}

export const NO_MONEY: CoinMoney = { available: ZERO, frozen: ZERO, borrowed: ZERO, interest: ZERO }

export function equityOf({ available, frozen, borrowed, interest }: CoinMoney): Decimal {
  return available.plus(frozen).minus(borrowed).minus(interest)
}

export function isExplained({ money, flows }: CoinAccount): boolean {
  return sumDecimals(Object.values(flows)).eq(equityOf(money))
}

export function spotBalance(uid: string, coin: string): CoinRef {
  return { uid, balance: 'spot', coin }
}

export function coinKey({ uid, balance, coin }: CoinRef): string {
  return `${uid}/${balance}/${coin}`
}

export const COIN_ACCOUNTS: PlacedCodec<Map<string, CoinAccount>, CoinAccount> = {
  table: 'coins',
  id: ({ ref }) => coinKey(ref),
  decimals: [...Object.keys(NO_MONEY), ...Object.keys(COUNTERPARTY_OF), 'transfer'],
  place: (accounts, row) => accounts.set(coinKey(row.ref), row),
}

interface CoinCounterparties {
  readonly coin: string
  readonly counterparties: Counterparties
}

export const COIN_COUNTERPARTIES: PlacedCodec<Map<string, Counterparties>, CoinCounterparties> = {
  table: 'coin_counterparties',
  id: ({ coin }) => coin,
  decimals: Object.keys(NO_COUNTERPARTIES),
  place: (all, { coin, counterparties }) => all.set(coin, counterparties),
}
