import { createRandom } from '../../lib/random.ts'
import { pastTimes } from '../wallet/past-prices.ts'
import { addressesOf, contactOf } from './address-book.ts'
import { type SpotState } from './spot-state.ts'
import { withdraw } from './withdrawals.ts'

const COUNT = 8
const PAST_DAYS = 88

/** What is sent on chain; each is a small part of the opening. */
const ON_CHAIN = [
  { coin: 'USDT', chain: 'TRC20', size: '25' },
  { coin: 'USDT', chain: 'ERC20', size: '40' },
  { coin: 'BTC', chain: 'BTC', size: '0.002' },
  { coin: 'ETH', chain: 'ERC20', size: '0.05' },
] as const

/** A few withdrawals on chain, and transfers to the other accounts where there are any. */
export function writePastWithdrawals(state: SpotState, uid: string): void {
  const { seed, startAt: endAt } = state.ports
  const random = createRandom(`${seed}/withdrawals/${uid}`)
  const times = pastTimes(`${seed}/withdrawals/${uid}/times`, { count: COUNT, days: PAST_DAYS, endAt })
  const others = [...state.accounts.keys()].filter((other) => other !== uid)
  for (const [index, at] of times.entries()) {
    const clientOid = index % 2 === 0 ? { clientOid: `past-withdrawal-${index}` } : {}
    const other = random.next() < 0.25 ? others[random.integer(Math.max(1, others.length))] : undefined
    const row = ON_CHAIN[random.integer(ON_CHAIN.length)]
    if (other !== undefined) {
      const { email: address } = contactOf(other)
      const request = {
        transferType: 'internal_transfer',
        innerToType: 'email',
        address,
        ...clientOid,
      } as const
      withdraw(state, { uid }, { ...request, coin: 'USDT', size: '15' }, at)
    } else if (row !== undefined) {
      const address = addressesOf(state, uid).find(
        ({ chain, coin }) => chain === row.chain && coin === row.coin,
      )
      if (address === undefined) continue
      withdraw(
        state,
        { uid },
        { ...row, transferType: 'on_chain', address: address.address, ...clientOid },
        at,
      )
    }
  }
}
