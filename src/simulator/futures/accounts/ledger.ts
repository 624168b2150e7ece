import { sumDecimals, ZERO, type Decimal } from '../../../lib/decimal.ts'
import { textsOf } from '../../wallet/rounding.ts'

/** The other sides of every booking. They may go below zero: each is a counterparty without a limit. */
export const NO_COUNTERPARTIES = {
  outside: ZERO,
  market: ZERO,
  fees: ZERO,
  funding: ZERO,
  insurance: ZERO,
}

export type Counterparties = Record<keyof typeof NO_COUNTERPARTIES, Decimal>

/** What explains a balance. Fees are positive when paid, funding is negative when paid. */
export const NO_MONEY = {
  opening: ZERO,
  deposits: ZERO,
  realisedProfit: ZERO,
  fees: ZERO,
  funding: ZERO,
  insurance: ZERO,
  balance: ZERO,
}

/**
 * An account's money in one margin coin.
 * balance = opening + deposits + realisedProfit - fees + funding + insurance, to the last digit.
 */
export interface CoinBalance extends Record<keyof typeof NO_MONEY, Decimal> {
  /** For prechecks only. */
  balanceFloat: number
}

/** What moves money, from which counterparty, and into which column of the account. */
const BOOKINGS = {
  opening: ['outside', 'opening'],
  deposit: ['outside', 'deposits'],
  profit: ['market', 'realisedProfit'],
  fee: ['fees', 'fees'],
  funding: ['funding', 'funding'],
  insurance: ['insurance', 'insurance'],
} as const

export type Booking = keyof typeof BOOKINGS

/**
 * Books one transfer on both sides.
 * @param amount Margin coin, as the account sees it: positive is received, a paid fee is negative.
 */
export function book(
  booking: Booking,
  amount: Decimal,
  counterparties: Counterparties,
  account: CoinBalance,
): void {
  const [counterparty, column] = BOOKINGS[booking]
  counterparties[counterparty] = counterparties[counterparty].minus(amount)
  account.balance = account.balance.plus(amount)
  account.balanceFloat = Number(account.balance.toString())
  account[column] = booking === 'fee' ? account[column].minus(amount) : account[column].plus(amount)
}

/** Both sides of every booking in one margin coin, as exact decimals in strings. */
export type BookSum = Readonly<ReturnType<typeof bookSum>>

export function bookSum(
  marginCoin: string,
  counterparties: Counterparties,
  balances: Iterable<Decimal>,
) {
  const accounts = sumDecimals(balances)
  return {
    marginCoin,
    /** Negative: what was paid in from outside, and what the insurance fund paid. */
    ...textsOf(counterparties),
    accounts: accounts.toString(),
    /** Zero, always: no money was made or lost. */
    sum: sumDecimals(Object.values(counterparties)).plus(accounts).toString(),
  }
}
