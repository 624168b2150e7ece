import { decimal, type Decimal } from '../../lib/decimal.ts'
import { type WireRequestOf } from '../../protocol/endpoints.ts'
import { accept, refuse, type Refusal, type Reply } from '../core/reply.ts'
import { serviceIdText } from '../wallet/order-sequence.ts'
import { type Codec } from '../store/stored-rows.ts'
import { decimalsOf } from '../wallet/rounding.ts'
import { contactOf, type AddressBook } from './address-book.ts'
import { COINS, isSameName, TRANSFER_SCALE, type Coin, type CoinChain } from './coins.ts'
import { spotRefusals } from './spot-refusals.ts'
import { spotBalance, type SpotState } from './spot-state.ts'

type Withdrawal = WireRequestOf<'spotWithdrawal'>

/** A withdrawal that was made; nothing of it is pending. */
export interface WithdrawalRecord {
  readonly orderId: string
  readonly uid: string
  /** Empty where the client sent none. */
  readonly clientOid: string
  readonly coin: string
  readonly transferType: 'on_chain' | 'internal_transfer'
  /** The chain address, or the UID of the receiving account. */
  readonly to: string
  readonly chain: string
  /** What left the account, the fee included. */
  readonly size: string
  readonly fee: string
  readonly remark: string
  readonly createdAt: number
}

const WITHDRAWALS: Codec<WithdrawalRecord> = { table: 'withdrawals', id: ({ orderId }) => orderId }

/** Withdrawals by account, oldest first; at most `withdrawalsMax` each. */
export class Withdrawals {
  readonly #state: SpotState
  readonly book: AddressBook
  readonly #records = new Map<string, WithdrawalRecord[]>()

  constructor(state: SpotState, book: AddressBook) {
    this.#state = state
    this.book = book
    for (const record of state.ports.rows.read(WITHDRAWALS)) this.#recordsOf(record.uid).push(record)
  }

  records(uid: string): readonly WithdrawalRecord[] {
    return this.#recordsOf(uid)
  }

  /** Document: POST /api/v2/spot/wallet/withdrawal. @param at Unix ms; the past is written through it too. */
  withdraw(uid: string, request: Withdrawal, at: number): Reply<{ orderId: string; clientOid: string }> {
    const coin = coinNamed(this.#state, request.coin)
    if (coin === undefined) return refuse(spotRefusals.coinUnknown())
    const { clientOid = '' } = request
    if (clientOid !== '' && this.records(uid).some((record) => record.clientOid === clientOid)) {
      return refuse(spotRefusals.duplicateClientOid())
    }
    const route =
      request.transferType === 'on_chain'
        ? this.#routeOnChain(uid, coin, request)
        : this.#routeInternally(uid, request)
    if ('code' in route) return refuse(route)
    const size = decimal(request.size)
    const { available } = this.#state.ports.wallet.coin(spotBalance(uid, coin.coin))
    if (available.lt(size)) return refuse(spotRefusals.balance())
    this.#pay(uid, coin.coin, { ...route, size })
    const record: WithdrawalRecord = {
      orderId: serviceIdText(this.#state.ports.sequence.next()),
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
    }
    this.#keep(record)
    return accept({ orderId: record.orderId, clientOid })
  }

  /** The fee is part of the size: the receiver gets the rest. */
  #routeOnChain(uid: string, { coin, chains }: Coin, request: Withdrawal): Route | Refusal {
    const { chain: name = '', address, tag = '', size } = request
    if (name === '') return spotRefusals.parameterEmpty('chain')
    if (chains.length === 0) return spotRefusals.coinNotWithdrawable()
    const chain = chains.find((row) => isSameName(row.chain, name))
    if (chain === undefined) return spotRefusals.parameter('chain')
    const sizes = sizeRefusal(size, chain)
    if (sizes !== undefined) return sizes
    if (!this.book.has(uid, { coin, chain: chain.chain, address, tag }))
      return spotRefusals.addressNotInBook()
    return { kind: 'chain', to: address, chain: chain.chain, fee: decimal(chain.withdrawFee) }
  }

  /** Other accounts of the exchange count as entered in the address book; transfers cost nothing. */
  #routeInternally(uid: string, request: Withdrawal): Route | Refusal {
    const { address, innerToType = 'uid', areaCode, size } = request
    if (innerToType === 'mobile' && areaCode === undefined) return spotRefusals.parameterEmpty('areaCode')
    if (decimalsOf(size) > TRANSFER_SCALE) return spotRefusals.scale('size', size, TRANSFER_SCALE)
    const receiver = [...this.#state.accounts.keys()].find((other) => {
      const contact = contactOf(other)
      if (innerToType === 'mobile' && contact.areaCode !== areaCode?.replace('+', '')) return false
      return contact[innerToType] === address
    })
    if (receiver === undefined) return spotRefusals.addressNotInBook()
    if (receiver === uid) return spotRefusals.ownAddress()
    return { kind: 'account', to: receiver, chain: '', fee: decimal('0') }
  }

  #pay(uid: string, coin: string, { kind, to, fee, size }: Route & { readonly size: Decimal }): void {
    const { wallet } = this.#state.ports
    const balance = spotBalance(uid, coin)
    if (kind === 'account') return wallet.transfer(balance, { uid: to, balance: 'spot' }, size)
    wallet.book(balance, 'withdrawal', fee.minus(size))
    wallet.book(balance, 'withdrawalFee', fee.times('-1'))
  }

  #keep(record: WithdrawalRecord): void {
    const { rows } = this.#state.ports
    const records = this.#recordsOf(record.uid)
    records.push(record)
    rows.put(WITHDRAWALS, record)
    const oldest = records.length > this.#state.settings.withdrawalsMax ? records.shift() : undefined
    if (oldest !== undefined) rows.drop(WITHDRAWALS, oldest)
  }

  #recordsOf(uid: string): WithdrawalRecord[] {
    const existing = this.#records.get(uid)
    if (existing !== undefined) return existing
    const created: WithdrawalRecord[] = []
    this.#records.set(uid, created)
    return created
  }
}

interface Route {
  readonly kind: 'chain' | 'account'
  readonly to: string
  readonly chain: string
  readonly fee: Decimal
}

function sizeRefusal(size: string, chain: CoinChain): Refusal | undefined {
  const { withdrawMinScale, minWithdrawAmount, withdrawFee } = chain
  if (decimalsOf(size) > withdrawMinScale) return spotRefusals.scale('size', size, withdrawMinScale)
  if (decimal(size).lt(minWithdrawAmount)) return spotRefusals.withdrawalBelowMinimum(minWithdrawAmount)
  return decimal(size).lte(withdrawFee) ? spotRefusals.withdrawalBelowFee(withdrawFee) : undefined
}

/** The platform's own coin has no chain: it moves between accounts only. */
function coinNamed({ settings }: SpotState, name: string): Coin | undefined {
  if (isSameName(name, settings.platformCoin.name)) return { coin: settings.platformCoin.name, chains: [] }
  return COINS.find(({ coin }) => isSameName(coin, name))
}
