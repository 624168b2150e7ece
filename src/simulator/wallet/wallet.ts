import { ZERO, type Decimal } from '../../lib/decimal.ts'
import { Failure } from '../../lib/failure.ts'
import type { StoredRows } from '../store/stored-rows.ts'
import { negated, textsOf } from './rounding.ts'
import {
  COIN_ACCOUNTS,
  COIN_COUNTERPARTIES,
  coinKey,
  COUNTERPARTY_OF,
  equityOf,
  isExplained,
  NO_COUNTERPARTIES,
  NO_MONEY,
  type BalanceName,
  type BalanceRef,
  type CoinAccount,
  type CoinMoney,
  type CoinRef,
  type Counterparties,
  type WalletBooking,
} from './coin-money.ts'

/**
 * The coin ledger of every service except futures. Each method books both sides of a transfer, so a
 * coin's equities and counterparties add up to zero. A column that would become negative throws, so
 * services check `coin` first.
 */
export class Wallet {
  readonly #rows: StoredRows
  readonly #accounts = new Map<string, CoinAccount>()
  readonly #counterparties = new Map<string, Counterparties>()

  constructor(rows: StoredRows) {
    this.#rows = rows
    rows.restore(COIN_ACCOUNTS, this.#accounts)
    rows.restore(COIN_COUNTERPARTIES, this.#counterparties)
  }

  coin(ref: CoinRef): CoinMoney {
    return this.#accounts.get(coinKey(ref))?.money ?? NO_MONEY
  }

  has(ref: CoinRef): boolean {
    return this.#accounts.has(coinKey(ref))
  }

  coins(uid: string, balance: BalanceName): ReadonlyMap<string, CoinMoney> {
    const found = new Map<string, CoinMoney>()
    for (const { ref, money } of this.#of(uid)) {
      if (ref.balance === balance) found.set(ref.coin, money)
    }
    return found
  }

  /**
   * @param amount from the account's view: a paid fee is negative
   * @param column `frozen` is the reserve of an open order
   */
  book(
    ref: CoinRef,
    booking: Exclude<WalletBooking, 'transfer' | 'interest'>,
    amount: Decimal,
    column: 'available' | 'frozen' = 'available',
  ): void {
    this.#move(ref, { [column]: amount })
    this.#flow(ref, booking, amount)
    this.#charge(ref.coin, COUNTERPARTY_OF[booking], amount)
  }

  freeze(ref: CoinRef, amount: Decimal): void {
    this.#move(ref, { available: negated(amount), frozen: amount })
  }

  unfreeze(ref: CoinRef, amount: Decimal): void {
    this.#move(ref, { available: amount, frozen: negated(amount) })
  }

  transfer(from: CoinRef, to: BalanceRef, amount: Decimal): void {
    const target = { ...to, coin: from.coin }
    this.#move(from, { available: negated(amount) })
    this.#flow(from, 'transfer', negated(amount))
    this.#move(target, { available: amount })
    this.#flow(target, 'transfer', amount)
  }

  borrow(ref: CoinRef, amount: Decimal): void {
    this.#move(ref, { available: amount, borrowed: amount })
  }

  accrueInterest(ref: CoinRef, amount: Decimal): void {
    this.#move(ref, { interest: amount })
    this.#flow(ref, 'interest', negated(amount))
    this.#charge(ref.coin, 'interest', negated(amount))
  }

  /** A payment of the insurance fund must have been booked as `insurance` before. */
  repay(
    ref: CoinRef,
    { principal, interest }: { readonly principal: Decimal; readonly interest: Decimal },
  ): void {
    this.#move(ref, {
      available: negated(principal.plus(interest)),
      borrowed: negated(principal),
      interest: negated(interest),
    })
  }

  sums(): readonly { readonly coin: string; readonly sum: string }[] {
    return [...this.#counterparties].map(([coin, counterparties]) => {
      let sum = Object.values(counterparties).reduce(
        (total, counterparty) => total.plus(counterparty),
        ZERO,
      )
      for (const { ref, money } of this.#accounts.values()) {
        if (ref.coin === coin) sum = sum.plus(equityOf(money))
      }
      return { coin, sum: sum.toString() }
    })
  }

  statement(uid: string): readonly WalletCoin[] {
    return this.#of(uid).map(toCoin)
  }

  unexplained(): readonly CoinRef[] {
    return [...this.#accounts.values()]
      .filter((account) => !isExplained(account))
      .map(({ ref }) => ref)
  }

  #of(uid: string): CoinAccount[] {
    return [...this.#accounts]
      .filter(([, { ref }]) => ref.uid === uid)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([, account]) => account)
  }

  #move(ref: CoinRef, deltas: Partial<CoinMoney>): void {
    const id = coinKey(ref)
    const account = this.#accounts.get(id) ?? { ref, money: NO_MONEY, flows: {} }
    account.money = plusDeltas(ref, account.money, deltas)
    this.#accounts.set(id, account)
    this.#rows.put(COIN_ACCOUNTS, account)
    if (!this.#counterparties.has(ref.coin)) this.#charge(ref.coin, 'outside', ZERO)
  }

  #flow(ref: CoinRef, booking: WalletBooking, amount: Decimal): void {
    const account = this.#accounts.get(coinKey(ref))
    if (account === undefined) return
    account.flows[booking] = (account.flows[booking] ?? ZERO).plus(amount)
    this.#rows.put(COIN_ACCOUNTS, account)
  }

  #charge(coin: string, counterparty: keyof Counterparties, amount: Decimal): void {
    const counterparties = this.#counterparties.get(coin) ?? { ...NO_COUNTERPARTIES }
    counterparties[counterparty] = counterparties[counterparty].minus(amount)
    this.#counterparties.set(coin, counterparties)
    this.#rows.put(COIN_COUNTERPARTIES, { coin, counterparties })
  }
}

const COLUMNS = [
  'available',
  'frozen',
  'borrowed',
  'interest',
] as const satisfies readonly (keyof CoinMoney)[]

function plusDeltas(ref: CoinRef, money: CoinMoney, deltas: Partial<CoinMoney>): CoinMoney {
  const sums = { ...money }
  for (const column of COLUMNS) {
    const delta = deltas[column]
    if (delta === undefined) continue
    sums[column] = money[column].plus(delta)
    if (sums[column].lt(ZERO)) throw shortage(ref, column, money[column], delta)
  }
  return sums
}

function shortage(
  { uid, balance, coin }: CoinRef,
  column: string,
  held: Decimal,
  delta: Decimal,
): Failure {
  return new Failure({
    code: 'SIMULATOR_WALLET_SHORT',
    sentence: 'a booking would take an account of the simulated exchange below zero',
    facts: { uid, balance, coin, column, held: held.toString(), change: delta.toString() },
    hint: 'this is a defect of the service that books: it must refuse the request first',
  })
}

export type WalletCoin = Readonly<ReturnType<typeof toCoin>>

function toCoin({ ref: { balance, coin }, money, flows }: CoinAccount) {
  const { available, frozen, borrowed, interest } = money
  return {
    balance,
    coin,
    ...textsOf({ available, frozen, borrowed, interest, equity: equityOf(money) }),
    bookings: textsOf(flows),
  }
}
