import { type CoreState } from '../core-state.ts'
import { sumOfBooks } from './ledger.ts'

/** Both sides of every booking in one margin coin, as exact decimals in strings. */
export interface BookSum {
  readonly marginCoin: string
  /** Negative: what was paid in from outside. */
  readonly outside: string
  /** What the market gained from the accounts' trades. */
  readonly market: string
  readonly fees: string
  readonly funding: string
  /** Negative: what the insurance fund paid. */
  readonly insurance: string
  /** The balances of all accounts. */
  readonly accounts: string
  /** Zero, always. */
  readonly sum: string
}

export function bookSums(state: CoreState): BookSum[] {
  return [...state.counterparties].map(([marginCoin, counterparties]) => {
    const balances = [...state.accounts.values()].flatMap(({ coins }) => coins.get(marginCoin) ?? [])
    const others = counterparties.outside
      .plus(counterparties.market)
      .plus(counterparties.fees)
      .plus(counterparties.funding)
      .plus(counterparties.insurance)
    const sum = sumOfBooks(counterparties, balances)
    return {
      marginCoin,
      outside: counterparties.outside.toString(),
      market: counterparties.market.toString(),
      fees: counterparties.fees.toString(),
      funding: counterparties.funding.toString(),
      insurance: counterparties.insurance.toString(),
      accounts: sum.minus(others).toString(),
      sum: sum.toString(),
    }
  })
}
