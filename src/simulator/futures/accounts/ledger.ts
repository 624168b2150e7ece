import { ZERO, type Decimal } from '../../../lib/decimal.ts'

/**
 * An account's money in one margin coin.
 * balance = opening + deposits + realisedProfit - fees + funding + insurance, to the last digit.
 */
export interface CoinBalance {
  opening: Decimal
  deposits: Decimal
  realisedProfit: Decimal
  /** Positive when paid. */
  fees: Decimal
  /** Negative when paid. */
  funding: Decimal
  insurance: Decimal
  balance: Decimal
  /** For prechecks only. */
  balanceFloat: number
}

/** The other sides of every booking. They may go below zero: each is a counterparty without a limit. */
export type Counterparty = 'outside' | 'market' | 'fees' | 'funding' | 'insurance'

export type Counterparties = Record<Counterparty, Decimal>

/** What moves money, from which counterparty, and into which column of the account. */
export type Booking = 'opening' | 'deposit' | 'profit' | 'fee' | 'funding' | 'insurance'

const COUNTERPARTY_OF: Readonly<Record<Booking, Counterparty>> = {
  opening: 'outside',
  deposit: 'outside',
  profit: 'market',
  fee: 'fees',
  funding: 'funding',
  insurance: 'insurance',
}

export function createCoinBalance(): CoinBalance {
  return {
    opening: ZERO,
    deposits: ZERO,
    realisedProfit: ZERO,
    fees: ZERO,
    funding: ZERO,
    insurance: ZERO,
    balance: ZERO,
    balanceFloat: 0,
  }
}

export function createCounterparties(): Counterparties {
  return { outside: ZERO, market: ZERO, fees: ZERO, funding: ZERO, insurance: ZERO }
}

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
  const counterparty = COUNTERPARTY_OF[booking]
  counterparties[counterparty] = counterparties[counterparty].minus(amount)
  account.balance = account.balance.plus(amount)
  account.balanceFloat = Number(account.balance.toString())
  switch (booking) {
    case 'opening':
      account.opening = account.opening.plus(amount)
      return
    case 'deposit':
      account.deposits = account.deposits.plus(amount)
      return
    case 'profit':
      account.realisedProfit = account.realisedProfit.plus(amount)
      return
    case 'fee':
      account.fees = account.fees.minus(amount)
      return
    case 'funding':
      account.funding = account.funding.plus(amount)
      return
    case 'insurance':
      account.insurance = account.insurance.plus(amount)
      return
  }
}

/** Zero when no money was made or lost: the accounts' balances and all counterparties of a coin together. */
export function sumOfBooks(counterparties: Counterparties, accounts: Iterable<CoinBalance>): Decimal {
  let sum = counterparties.outside
    .plus(counterparties.market)
    .plus(counterparties.fees)
    .plus(counterparties.funding)
    .plus(counterparties.insurance)
  for (const account of accounts) sum = sum.plus(account.balance)
  return sum
}
