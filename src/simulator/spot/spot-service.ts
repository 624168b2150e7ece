import { type WireRequestOf, type WireResponseOf } from '../../protocol/endpoints.ts'
import { type AccountRef } from '../core/account.ts'
import { accept, refuse, type Reply } from '../core/reply.ts'
import { type AccountService, type ServicePorts } from '../account-service.ts'
import { bookOpening } from '../wallet/opening.ts'
import { type AccountContact, AddressBook, type BookAddress, contactOf } from './address-book.ts'
import { placeSpotOrder, type SpotOrderReference, type SpotPlaceOrderRequest } from './place-spot-order.ts'
import { cancelOrder } from './spot-fill.ts'
import { isOpen } from './spot-order.ts'
import {
  spotAssetRows,
  spotHistory,
  spotOrderInfo,
  spotSymbolRows,
  spotUnfilled,
  type UnfilledQuery,
} from './spot-queries.ts'
import { spotRefusals } from './spot-refusals.ts'
import { defaultSpotSettings, type SpotSettings } from './spot-settings.ts'
import { openSpotState, spotAccountOf, type SpotState } from './spot-state.ts'
import { type SpotSymbolRow } from './spot-symbol.ts'
import { followPair } from './spot-venue.ts'
import { Withdrawals, type WithdrawalRecord } from './withdrawals.ts'

/** What an account has at the spot service. */
export interface SpotLedger {
  readonly uid: string
  /** Coins of the spot balance, exact decimals in strings. */
  readonly coins: readonly { readonly coin: string; readonly available: string; readonly frozen: string }[]
  readonly ordersOpen: number
  readonly ordersKept: number
  readonly withdrawals: number
}

export interface SpotCancelRequest {
  readonly symbol: string
  readonly orderId?: string | undefined
  readonly clientOid?: string | undefined
}

/**
 * The spot side of the simulated exchange: pairs, orders and their history, and withdrawals. It books each
 * account's opening, so it is created before other services that spend from the spot balance.
 */
export class SpotService implements AccountService {
  readonly state: SpotState
  readonly sent: Withdrawals

  constructor(ports: ServicePorts, settings: Partial<SpotSettings> = {}) {
    const complete = { ...defaultSpotSettings, ...settings }
    this.state = openSpotState(ports, complete)
    this.sent = new Withdrawals(this.state, new AddressBook(ports, complete.addressesMax))
    const opening = { ...complete.opening, [complete.platformCoin.name]: complete.platformOpening }
    for (const { uid } of ports.accounts) bookOpening(ports.wallet, uid, opening)
    for (const market of this.state.markets.values()) followPair(this.state, market)
  }

  ledger(uid: string): SpotLedger {
    const { orders } = spotAccountOf(this.state, uid)
    const coins = this.state.ports.wallet.coins(uid, 'spot')
    return {
      uid,
      coins: [...coins].map(([coin, { available, frozen }]) => ({
        coin,
        available: available.toString(),
        frozen: frozen.toString(),
      })),
      ordersOpen: [...orders.values()].filter(isOpen).length,
      ordersKept: orders.size,
      withdrawals: this.sent.records(uid).length,
    }
  }

  spotHistoryOrders(
    { uid }: AccountRef,
    request: WireRequestOf<'spotHistoryOrders'>,
    now: number,
  ): Reply<WireResponseOf<'spotHistoryOrders'>> {
    this.#comeTo(now)
    return spotHistory(this.state, uid, request)
  }

  spotOrderInfo(
    { uid }: AccountRef,
    request: WireRequestOf<'spotOrderInfo'>,
    now: number,
  ): Reply<WireResponseOf<'spotOrderInfo'>> {
    this.#comeTo(now)
    return spotOrderInfo(this.state, uid, request)
  }

  spotSymbols(request: WireRequestOf<'spotSymbols'>, now: number): Reply<SpotSymbolRow[]> {
    this.#comeTo(now)
    return spotSymbolRows(this.state, request)
  }

  spotWithdrawal(
    { uid }: AccountRef,
    request: WireRequestOf<'spotWithdrawal'>,
    now: number,
  ): Reply<WireResponseOf<'spotWithdrawal'>> {
    this.#comeTo(now)
    spotAccountOf(this.state, uid)
    return this.sent.withdraw(uid, request, this.state.clock.now)
  }

  /** The undocumented place-order. */
  spotPlaceOrder(
    { uid }: AccountRef,
    request: SpotPlaceOrderRequest,
    now: number,
  ): Reply<SpotOrderReference> {
    this.#comeTo(now)
    return placeSpotOrder(this.state, uid, request)
  }

  /** The undocumented cancel-order; a clientOid names what the client or the exchange set. */
  spotCancelOrder({ uid }: AccountRef, request: SpotCancelRequest, now: number): Reply<SpotOrderReference> {
    this.#comeTo(now)
    const { orders } = spotAccountOf(this.state, uid)
    const { orderId, clientOid, symbol } = request
    if (orderId === undefined && clientOid === undefined) return refuse(spotRefusals.idMissing())
    const order =
      orderId === undefined
        ? [...orders.values()].findLast((other) => other.clientOid === clientOid)
        : orders.get(orderId)
    if (order === undefined || order.symbol !== symbol || !isOpen(order)) {
      return refuse(spotRefusals.orderUnknown())
    }
    cancelOrder(this.state, order, 'normal_cancel', this.state.clock.now)
    return accept({ orderId: order.orderId, clientOid: order.clientOid })
  }

  /** The undocumented unfilled-orders. */
  spotUnfilledOrders({ uid }: AccountRef, query: UnfilledQuery, now: number) {
    this.#comeTo(now)
    return spotUnfilled(this.state, uid, query)
  }

  /** The undocumented assets. */
  spotAssets(
    { uid }: AccountRef,
    query: { readonly coin?: string | undefined; readonly assetType?: string | undefined },
    now: number,
  ) {
    this.#comeTo(now)
    return spotAssetRows(this.state, uid, query)
  }

  /** The account's address book, for the operator; the document's is set up on the web client. */
  addresses(uid: string): readonly BookAddress[] {
    return this.sent.book.addresses(uid)
  }

  /** How other accounts name the account in internal transfers. */
  contact(uid: string): AccountContact {
    return contactOf(uid)
  }

  /** @throws RangeError when the book is full. */
  addAddress(uid: string, address: BookAddress): void {
    spotAccountOf(this.state, uid)
    this.sent.book.add(uid, address)
  }

  /** Oldest first. */
  withdrawals(uid: string): readonly WithdrawalRecord[] {
    return this.sent.records(uid)
  }
  #comeTo(now: number): void {
    const { clock } = this.state
    clock.now = Math.max(clock.now, now)
  }
}
