import { sumDecimals, ZERO, type Decimal } from '../../../lib/decimal.ts'
import { textsOf } from '../../wallet/rounding.ts'

/**
 * The other sides of every booking. They may be negative: each is a counterparty without a limit.
 */
export const NO_COUNTERPARTIES = {
  outside: ZERO,
  market: ZERO,
  fees: ZERO,
  funding: ZERO,
  insurance: ZERO,
}

export type Counterparties = Record<keyof typeof NO_COUNTERPARTIES, Decimal>

/** Columns that add up to a balance. Fees are positive when paid, funding is negative when paid. */
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
  /** Used for prechecks only. */
  balanceFloat: number
}

/** Kinds of bookings, each with its counterparty and its column of the account. */
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
 * @param amount Margin coin, from the account's view: positive is received, a paid fee is negative.
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
    /** Negative: deposits from outside, and payments of the insurance fund. */
    ...textsOf(counterparties),
    accounts: accounts.toString(),
    /** Always zero, because money is neither made nor lost. */
    sum: sumDecimals(Object.values(counterparties)).plus(accounts).toString(),
  }
}
