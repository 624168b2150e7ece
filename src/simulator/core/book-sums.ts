import { type CoreState } from './core-state.ts'
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
  return [...state.pots].map(([marginCoin, pots]) => {
    const balances = [...state.accounts.values()].flatMap(({ coins }) => coins.get(marginCoin) ?? [])
    const others = pots.outside.plus(pots.market).plus(pots.fees).plus(pots.funding).plus(pots.insurance)
    const sum = sumOfBooks(pots, balances)
    return {
      marginCoin,
      outside: pots.outside.toString(),
      market: pots.market.toString(),
      fees: pots.fees.toString(),
      funding: pots.funding.toString(),
      insurance: pots.insurance.toString(),
      accounts: sum.minus(others).toString(),
      sum: sum.toString(),
    }
  })
}
