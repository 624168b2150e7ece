import { matchResting } from '../matching/match-orders.ts'
import { isOpen } from '../matching/order-lifecycle.ts'
import { openPairs, venueOf } from '../services/pair-service.ts'
import type { ServicePorts } from '../services/service-ports.ts'
import { Histories } from '../shared/histories.ts'
import type { Handlers } from '../shared/handlers.ts'
import type { BalanceRef } from '../wallet/coin-money.ts'
import type { WalletCoin } from '../wallet/wallet.ts'
import { assessBalance, riskRatio } from './debts/balance-risk.ts'
import { liquidationPage } from './debts/liquidation-page.ts'
import { judgeDebtors } from './debts/liquidation.ts'
import { passTime } from './debts/pass-time.ts'
import { defaultMarginSettings, type MarginSettings } from './margin-settings.ts'
import {
  ACCRUAL,
  DEBTORS,
  HOUR_MS,
  recordsKey,
  refreshBooks,
  type MarginClock,
  type MarginPair,
  type MarginState,
} from './margin-state.ts'
import { MARGIN_SYMBOLS, type MarginSymbol } from './margin-symbols.ts'
import { cancelBatch } from './orders/cancel-batch.ts'
import {
  balanceRefOf,
  isForced,
  type LiquidationRecord,
  type MarginAccountOrder,
} from './orders/margin-order.ts'
import { type ExchangeMarginMode } from '../shared/account.ts'
import { close, receive } from './orders/margin-venue.ts'
import { openOrdersPage, toWireOrder } from './orders/open-orders-page.ts'

export function openMargin(
  ports: ServicePorts,
  settings: Partial<MarginSettings> = {},
): MarginState {
  const complete = { ...defaultMarginSettings, ...settings }
  const { rows, startAt } = ports
  const clock: MarginClock = {
    now: startAt,
    accruedAt: startAt - (startAt % HOUR_MS),
    ...rows.readOne(ACCRUAL, ACCRUAL.id()),
  }
  const state: MarginState = {
    ...openPairs<MarginAccountOrder, MarginSymbol>(ports, MARGIN_SYMBOLS, {
      table: 'margin_orders',
      decimals: ['loan'],
      ordersMax: complete.ordersMax,
      clock,
      balanceOf: (order) => balanceRefOf(order).balance,
      isForced,
      receive: (order, receipt) => receive(state, order, receipt),
      close: (order, unused) => close(state, order, unused),
    }),
    settings: complete,
    clock,
    records: new Histories<LiquidationRecord>(rows, {
      codec: {
        table: 'margin_records',
        id: ({ id }) => id,
        decimals: ['price', 'size', 'filledBase', 'filledQuote', 'fromSize', 'toSize'],
      },
      max: complete.recordsMax,
      ownerOf: recordsKey,
    }),
    debtors: new Map(),
  }
  rows.restore(DEBTORS, state)
  for (const pair of state.pairs.values()) followPair(state, pair)
  return state
}

export const marginHandlers = {
  isolatedOpenOrders: (state, { uid }, query) =>
    openOrdersPage(state, { uid, mode: 'isolated' }, query),
  crossedOpenOrders: (state, { uid }, query) =>
    openOrdersPage(state, { uid, mode: 'crossed' }, query),
  isolatedLiquidationOrders: (state, { uid }, query) =>
    liquidationPage(state, { uid, mode: 'isolated' }, query),
  crossedLiquidationOrders: (state, { uid }, query) =>
    liquidationPage(state, { uid, mode: 'crossed' }, query),
  isolatedBatchCancelOrders: cancelBatch,
} satisfies Handlers<MarginState>

function followPair(state: MarginState, pair: MarginPair): void {
  const venue = venueOf(state, pair)
  pair.follow((at) => {
    if (!pair.hasOrders && state.debtors.size === 0) return
    passTime(state, at)
    pair.refresh()
    matchResting(venue)
    judgeDebtors(state, pair)
  })
}

export function marginLedger(state: MarginState, uid: string) {
  refreshBooks(state)
  const orders = state.orders.of(uid)
  const coins = state.ports.wallet.statement(uid)
  const balances = [...new Set(coins.map(({ balance }) => balance))]
    .filter((balance) => balance !== 'spot')
    .sort()
  const count = (mode: ExchangeMarginMode) => state.records.of(recordsKey({ uid, mode })).length
  return {
    balances: balances.map((balance) => toBalance(state, { uid, balance }, coins)),
    openOrders: orders.filter(isOpen).map(toWireOrder),
    endedOrders: orders.filter((order) => !isOpen(order)).map(toWireOrder),
    liquidations: { isolated: count('isolated'), crossed: count('crossed') },
  }
}

function toBalance(state: MarginState, { uid, balance }: BalanceRef, coins: readonly WalletCoin[]) {
  const risk = assessBalance(state, { uid, balance })
  return {
    balance,
    coins: coins.filter((coin) => coin.balance === balance),
    equity: risk?.equity.toString(),
    debts: risk?.debts.toString(),
    /** At 1 the balance is liquidated. */
    riskRatio: risk && riskRatio(risk)?.toString(),
  }
}
