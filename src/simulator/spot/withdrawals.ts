import { decimal, type Decimal } from '../../lib/decimal.ts'
import type { WireRequestOf } from '../../protocol/endpoints.ts'
import type { AccountRef } from '../shared/account.ts'
import { accept, type OrderReference, type RefusedReply, type Reply } from '../shared/reply.ts'
import { spotBalance } from '../wallet/coin-money.ts'
import { serviceIdText } from '../shared/order-sequence.ts'
import { decimalsOf, negated } from '../wallet/rounding.ts'
import { contactOf, hasAddress } from './address-book.ts'
import { COINS, isSameName, TRANSFER_SCALE, type Coin, type CoinChain } from './coins.ts'
import { refusals } from '../shared/refusals.ts'
import type { SpotState } from './spot-state.ts'

type Withdrawal = WireRequestOf<'spotWithdrawal'>

export function withdraw(
  state: SpotState,
  { uid }: AccountRef,
  request: Withdrawal,
  at = state.ports.clock.now,
): Reply<OrderReference> {
  const { wallet, sequence } = state.ports
  const coin = coinNamed(state, request.coin)
  if (coin === undefined) return refusals.coinUnknown.spot
  const { clientOid = '' } = request
  if (
    clientOid !== '' &&
    state.withdrawals.of(uid).some((record) => record.clientOid === clientOid)
  ) {
    return refusals.duplicateClientOid.spot
  }
  const route =
    request.transferType === 'on_chain'
      ? routeOnChain(uid, { coin, request })
      : routeInternally(state, uid, request)
  if ('code' in route) return route
  const size = decimal(request.size)
  const from = spotBalance(uid, coin.coin)
  if (wallet.coin(from).available.lt(size)) return refusals.balanceEmpty
  if (request.transferType === 'on_chain') {
    wallet.book(from, 'withdrawal', route.fee.minus(size))
    wallet.book(from, 'withdrawalFee', negated(route.fee))
  } else wallet.transfer(from, { uid: route.to, balance: 'spot' }, size)
  const orderId = serviceIdText(sequence.next())
  state.withdrawals.add({
    orderId,
    uid,
    clientOid,
    coin: coin.coin,
    transferType: request.transferType,
    to: route.to,
    chain: route.chain,
    size: size.toString(),
    fee: route.fee.toString(),
    remark: request.remark ?? '',
    createdAt: at,
  })
  return accept({ orderId, clientOid })
}

function routeOnChain(
  uid: string,
  { coin: { coin, chains }, request }: { readonly coin: Coin; readonly request: Withdrawal },
): Route | RefusedReply {
  const { chain: name = '', address, tag = '', size } = request
  if (name === '') return refusals.parameterEmpty('chain')
  if (chains.length === 0) return refusals.coinNotWithdrawable
  const chain = chains.find((row) => isSameName(row.chain, name))
  if (chain === undefined) return refusals.parameter('chain')
  const sizes = sizeRefusal(size, chain)
  if (sizes !== undefined) return sizes
  if (!hasAddress(uid, { coin, chain: chain.chain, address, tag })) return refusals.addressNotInBook
  return { to: address, chain: chain.chain, fee: decimal(chain.withdrawFee) }
}

/** Other accounts count as entries of the address book. */
function routeInternally(state: SpotState, uid: string, request: Withdrawal): Route | RefusedReply {
  const { address, innerToType = 'uid', areaCode, size } = request
  if (innerToType === 'mobile' && areaCode === undefined) return refusals.parameterEmpty('areaCode')
  if (decimalsOf(size) > TRANSFER_SCALE) return refusals.scale('size', size, TRANSFER_SCALE)
  const receiver = state.ports.accounts
    .map((account) => account.uid)
    .find((other) => {
      const contact = contactOf(other)
      if (innerToType === 'mobile' && contact.areaCode !== areaCode?.replace('+', '')) return false
      return contact[innerToType] === address
    })
  if (receiver === undefined) return refusals.addressNotInBook
  if (receiver === uid) return refusals.ownAddress
  return { to: receiver, chain: '', fee: decimal('0') }
}

interface Route {
  readonly to: string
  readonly chain: string
  readonly fee: Decimal
}

function sizeRefusal(size: string, chain: CoinChain): RefusedReply | undefined {
  const { withdrawMinScale, minWithdrawAmount, withdrawFee } = chain
  if (decimalsOf(size) > withdrawMinScale) return refusals.scale('size', size, withdrawMinScale)
  if (decimal(size).lt(minWithdrawAmount)) return refusals.withdrawalBelowMinimum(minWithdrawAmount)
  return decimal(size).lte(withdrawFee) ? refusals.withdrawalBelowFee(withdrawFee) : undefined
}

/** A coin without a chain only moves between accounts. */
function coinNamed({ settings }: SpotState, name: string): Coin | undefined {
  if (isSameName(name, settings.platformCoin.name))
    return { coin: settings.platformCoin.name, chains: [] }
  return COINS.find(({ coin }) => isSameName(coin, name))
}
