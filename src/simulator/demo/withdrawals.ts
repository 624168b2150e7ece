import { addressesOf, contactOf } from '../spot/address-book.ts'
import { COINS } from '../spot/coins.ts'
import { type SpotState } from '../spot/spot-state.ts'
import { withdraw } from '../spot/withdrawals.ts'
import { pastMoments } from './past-moments.ts'

const WITHDRAWALS = 8
const DAYS = 88

/** Withdrawals of every coin on each of its chains, and transfers to another account where there is one. */
export function writeWithdrawals(state: SpotState, uid: string): void {
  const { seed, startAt } = state.ports
  const routes = COINS.flatMap(({ coin, chains }) => chains.map((row) => ({ coin, ...row })))
  const other = state.ports.accounts.map((account) => account.uid).find((one) => one !== uid)
  const moments = pastMoments({ seed: `${seed}/out/${uid}`, count: WITHDRAWALS, days: DAYS, endAt: startAt })
  for (const [index, { at }] of moments.entries()) {
    const clientOid = index % 2 === 0 ? { clientOid: `past-withdrawal-${index}` } : {}
    const route = routes[index % (routes.length + 1)]
    if (route === undefined) {
      if (other === undefined) continue
      const receiver = { innerToType: 'email', address: contactOf(other).email } as const
      const transfer = { ...receiver, transferType: 'internal_transfer', coin: 'USDT', size: '15' } as const
      withdraw(state, { uid }, { ...transfer, ...clientOid }, at)
      continue
    }
    const { coin, chain, minWithdrawAmount: size } = route
    const listed = addressesOf(uid).find((row) => row.coin === coin && row.chain === chain)
    const address = listed?.address ?? ''
    withdraw(state, { uid }, { transferType: 'on_chain', coin, chain, size, address, ...clientOid }, at)
  }
}
