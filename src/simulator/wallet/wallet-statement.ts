import { equityOf, type CoinAccount, type WalletBooking } from './coin-money.ts'

/** What an account holds beside futures, and how it came to it. Amounts are exact decimals in strings. */
export interface WalletStatement {
  readonly coins: readonly WalletCoin[]
}

/** equity = available + frozen - borrowed - interest = the sum of `bookings`, exactly. */
export interface WalletCoin {
  /** `spot`, `crossed` or `isolated:BTCUSDT`. */
  readonly balance: string
  readonly coin: string
  readonly available: string
  readonly frozen: string
  readonly borrowed: string
  readonly interest: string
  readonly equity: string
  /** Received is positive, paid is negative. Bookings that never happened are left out. */
  readonly bookings: Readonly<Partial<Record<WalletBooking, string>>>
}

/** All equities and counterparties of a coin together. */
export interface WalletSum {
  readonly coin: string
  readonly sum: string
}

export function toWalletStatement(accounts: readonly CoinAccount[]): WalletStatement {
  return { coins: accounts.map(toCoin) }
}

function toCoin({ ref, money, flows }: CoinAccount): WalletCoin {
  const bookings: Partial<Record<WalletBooking, string>> = {}
  for (const [booking, amount] of Object.entries(flows))
    bookings[booking as WalletBooking] = amount.toString()
  return {
    balance: ref.balance,
    coin: ref.coin,
    available: money.available.toString(),
    frozen: money.frozen.toString(),
    borrowed: money.borrowed.toString(),
    interest: money.interest.toString(),
    equity: equityOf(money).toString(),
    bookings,
  }
}
