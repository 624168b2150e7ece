import { type WireRequestOf } from '../../protocol/endpoints.ts'
import { type AccountRef } from '../core/account.ts'
import { type Reply } from '../core/reply.ts'
import { type AccountService, type ServicePorts } from '../account-service.ts'
import { borrow, depositCollateral, repay, type LoanResult } from './borrow-repay.ts'
import {
  cancelBatch,
  cancelOne,
  type CancelMarginOrderRequest,
  type BatchCancelRequest,
  type BatchCancelResult,
} from './cancel-batch.ts'
import { refreshPrices } from './displayed-market.ts'
import { judgeDebtors, proceedLiquidations } from './liquidation.ts'
import { liquidationPage, type LiquidationPage, type LiquidationQuery } from './liquidation-page.ts'
import { accrueInterest } from './loans.ts'
import { marginLedger, type MarginLedger } from './margin-ledger.ts'
import { type MarginMode } from './margin-order.ts'
import { type LoanRequest, type PlaceMarginOrderRequest } from './margin-requests.ts'
import { putClock, restoreMargin } from './margin-rows.ts'
import { defaultMarginSettings, type MarginSettings } from './margin-settings.ts'
import { createMarginState, type MarginState } from './margin-state.ts'
import { matchOpenOrders } from './match-orders.ts'
import { openOrdersPage, type OpenOrdersPage } from './open-orders-page.ts'
import { placeOrder, type OrderReference } from './place-order.ts'
import { seedPast } from './seeded-past.ts'
import { repayOverdueLoans } from './system-repay.ts'

/**
 * The exchange's margin trading, isolated and crossed. Each call first plays what fell due up to its time:
 * interest, matching at the displayed prices, liquidation. Amounts are exact; all money is in the wallet.
 *
 * The seeded past is written by the first call that sees a price.
 */
export class MarginService implements AccountService {
  readonly #state: MarginState

  constructor(ports: ServicePorts, settings: Partial<MarginSettings> = {}) {
    this.#state = createMarginState(ports, { ...defaultMarginSettings, ...settings })
    restoreMargin(this.#state)
  }

  advance(now: number): void {
    this.#play(now)
    putClock(this.#state)
  }

  ledger(uid: string): MarginLedger {
    return marginLedger(this.#state, uid)
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
    this.#play(now)
    const result = answer(this.#state)
    putClock(this.#state)
    return result
  }

  #play(now: number): void {
    const state = this.#state
    if (!state.clock.isSeeded) {
      if (![...state.symbols.keys()].some((symbol) => state.ports.prices(symbol) !== undefined)) return
      seedPast(state)
    }
    state.clock.now = Math.max(state.clock.now, now)
    const hasAccrued = accrueInterest(state)
    const changed = refreshPrices(state)
    if (changed.size === 0 && !hasAccrued) return
    matchOpenOrders(state, changed)
    repayOverdueLoans(state)
    judgeDebtors(state)
    proceedLiquidations(state)
  }
}
