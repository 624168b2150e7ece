import { decimal } from '../../lib/decimal.ts'
import { type Wallet } from './wallet.ts'

/** What every account has in its spot balance before its first order: coin to amount. */
export type Opening = Readonly<Record<string, string>>

/** Enough for the seeded past and some of the future; the numbers are the simulator's own. */
export const defaultOpening: Opening = { USDT: '50000', BTC: '0.8', ETH: '12' }

/** Books an account's opening, into its spot balance. */
export function bookOpening(wallet: Wallet, uid: string, opening: Opening): void {
  for (const [coin, amount] of Object.entries(opening)) {
    wallet.book({ uid, balance: 'spot', coin }, 'opening', decimal(amount))
  }
}
