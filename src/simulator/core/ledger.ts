import { decimal, ZERO, type Decimal } from '../../lib/decimal.ts'

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
export type Pot = 'outside' | 'market' | 'fees' | 'funding' | 'insurance'

export type Pots = Record<Pot, Decimal>

/** What moves money, from which pot, and into which column of the account. */
export type Booking = 'opening' | 'deposit' | 'profit' | 'fee' | 'funding' | 'insurance'

const POT_OF: Readonly<Record<Booking, Pot>> = {
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

export function createPots(): Pots {
  return { outside: ZERO, market: ZERO, fees: ZERO, funding: ZERO, insurance: ZERO }
}

/**
 * Books one transfer on both sides.
 * @param amount Margin coin, as the account sees it: positive is received, a paid fee is negative.
 */
export function book(booking: Booking, amount: Decimal, pots: Pots, account: CoinBalance): void {
  const pot = POT_OF[booking]
  pots[pot] = pots[pot].minus(amount)
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

/** Zero when no money was made or lost: the accounts' balances and all pots of a coin together. */
export function sumOfBooks(pots: Pots, accounts: Iterable<CoinBalance>): Decimal {
  let sum = pots.outside.plus(pots.market).plus(pots.fees).plus(pots.funding).plus(pots.insurance)
  for (const account of accounts) sum = sum.plus(account.balance)
  return sum
}

type TextColumns<Columns extends string> = Readonly<Record<Columns, string>>

export function reviveCoinBalance(row: TextColumns<Exclude<keyof CoinBalance, 'balanceFloat'>>): CoinBalance {
  return {
    opening: decimal(row.opening),
    deposits: decimal(row.deposits),
    realisedProfit: decimal(row.realisedProfit),
    fees: decimal(row.fees),
    funding: decimal(row.funding),
    insurance: decimal(row.insurance),
    balance: decimal(row.balance),
    balanceFloat: Number(row.balance),
  }
}

export function revivePots(row: TextColumns<Pot>): Pots {
  return {
    outside: decimal(row.outside),
    market: decimal(row.market),
    fees: decimal(row.fees),
    funding: decimal(row.funding),
    insurance: decimal(row.insurance),
  }
}
