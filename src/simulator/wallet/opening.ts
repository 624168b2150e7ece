import { decimal } from '../../lib/decimal.ts'
import { type Wallet } from './wallet.ts'

/** What every account has in its spot purse before its first order: coin to amount. */
export type Opening = Readonly<Record<string, string>>

/** Enough for the seeded past and some of the future; the numbers are the simulator's own. */
export const defaultOpening: Opening = { USDT: '50000', BTC: '0.8', ETH: '12' }

/** Books the opening of each account, once in the life of a wallet. */
export function openSpotPurses(wallet: Wallet, uids: Iterable<string>, opening: Opening): void {
  if (!wallet.isFresh) return
  for (const uid of uids) {
    for (const [coin, amount] of Object.entries(opening)) {
      wallet.book({ uid, purse: 'spot', coin }, 'opening', decimal(amount))
    }
  }
}
