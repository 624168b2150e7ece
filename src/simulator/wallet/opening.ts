import { decimal } from '../../lib/decimal.ts'
import { type Wallet } from './wallet.ts'

/** What every account has in its spot balance before its first order: coin to amount. */
export type Opening = Readonly<Record<string, string>>

/** The numbers are the simulator's own. */
export const defaultOpening: Opening = { USDT: '50000', BTC: '0.8', ETH: '12' }

/** Books what an account has never had of its opening, into its spot balance. */
export function bookOpening(wallet: Wallet, uid: string, opening: Opening): void {
  for (const [coin, amount] of Object.entries(opening)) {
    const ref = { uid, balance: 'spot', coin } as const
    if (!wallet.has(ref)) wallet.book(ref, 'opening', decimal(amount))
  }
}
