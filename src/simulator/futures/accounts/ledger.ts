import { sumDecimals, ZERO, type Decimal } from '../../../lib/decimal.ts'
import { textsOf } from '../../wallet/rounding.ts'

export const NO_COUNTERPARTIES = {
  outside: ZERO,
  market: ZERO,
  fees: ZERO,
  funding: ZERO,
  insurance: ZERO,
}

export type FuturesCounterparties = Record<keyof typeof NO_COUNTERPARTIES, Decimal>

/** The columns add up to a balance. Paid fees are positive, paid funding is negative. */
export const NO_MONEY = {
  opening: ZERO,
  deposits: ZERO,
  realisedProfit: ZERO,
  fees: ZERO,
  funding: ZERO,
  insurance: ZERO,
  balance: ZERO,
}

export interface CoinBalance extends Record<keyof typeof NO_MONEY, Decimal> {
  balanceFloat: number
}

const BOOKINGS = {
  opening: ['outside', 'opening'],
  deposit: ['outside', 'deposits'],
  profit: ['market', 'realisedProfit'],
  fee: ['fees', 'fees'],
  funding: ['funding', 'funding'],
  insurance: ['insurance', 'insurance'],
} as const

export type BookingKind = keyof typeof BOOKINGS

/** @param amount margin coin; a paid fee is negative */
export function book(
  booking: BookingKind,
  amount: Decimal,
  counterparties: FuturesCounterparties,
  account: CoinBalance,
): void {
  const [counterparty, column] = BOOKINGS[booking]
  counterparties[counterparty] = counterparties[counterparty].minus(amount)
  account.balance = account.balance.plus(amount)
  account.balanceFloat = Number(account.balance.toString())
  account[column] = booking === 'fee' ? account[column].minus(amount) : account[column].plus(amount)
}

export type BookSum = Readonly<ReturnType<typeof bookSum>>

export function bookSum(
  marginCoin: string,
  counterparties: FuturesCounterparties,
  balances: Iterable<Decimal>,
) {
  const accounts = sumDecimals(balances)
  return {
    marginCoin,
    ...textsOf(counterparties),
    accounts: accounts.toString(),
    sum: sumDecimals(Object.values(counterparties)).plus(accounts).toString(),
  }
}
