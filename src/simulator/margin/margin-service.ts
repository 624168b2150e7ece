import { type WireRequestOf } from '../../protocol/endpoints.ts'
import { type AccountRef } from '../core/account.ts'
import { type Reply } from '../core/reply.ts'
import { type AccountService, type ServicePorts } from '../account-service.ts'
import { matchResting } from '../matching/match-orders.ts'
import { borrow, depositCollateral, repay, type LoanResult } from './borrow-repay.ts'
import {
  cancelBatch,
  cancelOne,
  type CancelMarginOrderRequest,
  type BatchCancelRequest,
  type BatchCancelResult,
} from './cancel-batch.ts'
import { judgeDebtors } from './liquidation.ts'
import { liquidationPage, type LiquidationPage, type LiquidationQuery } from './liquidation-page.ts'
import { marginLedger, type MarginLedger } from './margin-ledger.ts'
import { type MarginMode } from './margin-order.ts'
import { type LoanRequest, type PlaceMarginOrderRequest } from './margin-requests.ts'
import { restoreMargin } from './margin-rows.ts'
import { defaultMarginSettings, type MarginSettings } from './margin-settings.ts'
import { createMarginState, type MarginState, type SymbolMarket } from './margin-state.ts'
import { createVenue } from './margin-venue.ts'
import { openOrdersPage, type OpenOrdersPage } from './open-orders-page.ts'
import { passTime } from './pass-time.ts'
import { placeOrder, type OrderReference } from './place-order.ts'

/**
 * The exchange's margin trading, isolated and crossed. It hears every quote: orders are matched, and balances
 * liquidated, at each. Amounts are exact; all money is in the wallet.
 */
export class MarginService implements AccountService {
  readonly state: MarginState

  constructor(ports: ServicePorts, settings: Partial<MarginSettings> = {}) {
    this.state = createMarginState(ports, { ...defaultMarginSettings, ...settings })
    restoreMargin(this.state)
    for (const market of this.state.symbols.values()) followSymbol(this.state, market)
  }

  advance(now: number): void {
    this.#comeTo(now)
  }

  ledger(uid: string): MarginLedger {
    refreshAll(this.state)
    return marginLedger(this.state, uid)
  }

  isolatedOpenOrders(
    { uid }: AccountRef,
    query: WireRequestOf<'isolatedOpenOrders'>,
    now: number,
  ): Reply<OpenOrdersPage> {
    return this.#serve(now, (state) => openOrdersPage(state, { uid, mode: 'isolated' }, query))
  }

  crossedOpenOrders(
    { uid }: AccountRef,
    query: WireRequestOf<'crossedOpenOrders'>,
    now: number,
  ): Reply<OpenOrdersPage> {
    return this.#serve(now, (state) => openOrdersPage(state, { uid, mode: 'crossed' }, query))
  }

  isolatedLiquidationOrders(
    { uid }: AccountRef,
    query: LiquidationQuery,
    now: number,
  ): Reply<LiquidationPage> {
    return this.#serve(now, (state) => liquidationPage(state, { uid, mode: 'isolated' }, query))
  }

  crossedLiquidationOrders(
    { uid }: AccountRef,
    query: LiquidationQuery,
    now: number,
  ): Reply<LiquidationPage> {
    return this.#serve(now, (state) => liquidationPage(state, { uid, mode: 'crossed' }, query))
  }

  isolatedBatchCancelOrders(
    { uid }: AccountRef,
    request: BatchCancelRequest,
    now: number,
  ): Reply<BatchCancelResult> {
    return this.#serve(now, (state) => cancelBatch(state, uid, request))
  }

  /** Outside the document: places an order and matches it at once. */
  placeMarginOrder(
    { uid }: AccountRef,
    request: PlaceMarginOrderRequest & { readonly mode: MarginMode },
    now: number,
  ): Reply<OrderReference> {
    const { mode, ...order } = request
    return this.#serve(now, (state) => placeOrder(state, { uid, mode, source: 'API' }, order))
  }

  /** Outside the document: cancels one order. */
  cancelMarginOrder(
    { uid }: AccountRef,
    request: CancelMarginOrderRequest,
    now: number,
  ): Reply<OrderReference> {
    return this.#serve(now, (state) => cancelOne(state, uid, request))
  }

  /** Outside the document: a loan without an order. */
  borrowMargin({ uid }: AccountRef, request: LoanRequest, now: number): Reply<LoanResult> {
    return this.#serve(now, (state) => borrow(state, uid, request))
  }

  /** Outside the document: interest is paid first. */
  repayMargin({ uid }: AccountRef, request: LoanRequest, now: number): Reply<LoanResult> {
    return this.#serve(now, (state) => repay(state, uid, request))
  }

  /** The operator's: collateral from outside. */
  depositMargin({ uid }: AccountRef, request: LoanRequest, now: number): Reply<LoanResult> {
    return this.#serve(now, (state) => depositCollateral(state, uid, request))
  }

  #serve<Result>(now: number, answer: (state: MarginState) => Result): Result {
    this.#comeTo(now)
    refreshAll(this.state)
    return answer(this.state)
  }

  #comeTo(now: number): void {
    passTime(this.state, now)
  }
}

/** Without orders and debts nobody is concerned: a quote is looked at when somebody asks. */
function followSymbol(state: MarginState, market: SymbolMarket): void {
  const { book } = market
  const venue = createVenue(state, market)
  book.follow((at) => {
    if (!book.hasOrders && state.debtors.size === 0) return
    passTime(state, at)
    book.refresh()
    matchResting(venue, book)
    judgeDebtors(state, market)
  })
}

function refreshAll({ symbols }: MarginState): void {
  for (const { book } of symbols.values()) book.refresh()
}
