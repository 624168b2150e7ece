import { matchResting } from '../matching/match-orders.ts'
import { isOpen } from '../matching/order-lifecycle.ts'
import { type ServicePorts } from '../services/service-ports.ts'
import { type Handlers } from '../shared/handlers.ts'
import { type WalletCoin } from '../wallet/wallet.ts'
import { assessBalance, riskRatio } from './debts/balance-risk.ts'
import { liquidationPage } from './debts/liquidation-page.ts'
import { judgeDebtors } from './debts/liquidation.ts'
import { passTime } from './debts/pass-time.ts'
import { defaultMarginSettings, type MarginSettings } from './margin-settings.ts'
import {
  openMarginState,
  recordsKey,
  refreshBooks,
  type MarginState,
  type SymbolMarket,
} from './margin-state.ts'
import { cancelBatch } from './orders/cancel-batch.ts'
import { type MarginMode } from './orders/margin-order.ts'
import { createVenue } from './orders/margin-venue.ts'
import { openOrdersPage, toWireOrder, type WireMarginOrder } from './orders/open-orders-page.ts'

/**
 * Opens the exchange's margin trading, isolated and crossed. It hears every quote: orders are matched, and balances
 * liquidated, at each. Amounts are exact; all money is in the wallet.
 */
export function openMargin(ports: ServicePorts, settings: Partial<MarginSettings> = {}): MarginState {
  const state = openMarginState(ports, { ...defaultMarginSettings, ...settings })
  for (const market of state.symbols.values()) followSymbol(state, market)
  return state
}

/** What answers the document's margin endpoints: the isolated and the crossed one of a kind are one function. */
export const marginHandlers = {
  isolatedOpenOrders: (state, { uid }, query) => openOrdersPage(state, { uid, mode: 'isolated' }, query),
  crossedOpenOrders: (state, { uid }, query) => openOrdersPage(state, { uid, mode: 'crossed' }, query),
  isolatedLiquidationOrders: (state, { uid }, query) =>
    liquidationPage(state, { uid, mode: 'isolated' }, query),
  crossedLiquidationOrders: (state, { uid }, query) =>
    liquidationPage(state, { uid, mode: 'crossed' }, query),
  isolatedBatchCancelOrders: cancelBatch,
} satisfies Handlers<MarginState>

/** Without orders and debts nobody is concerned: a quote is looked at when somebody asks. */
function followSymbol(state: MarginState, market: SymbolMarket): void {
  const { book } = market
  const venue = createVenue(state, market)
  book.follow((at) => {
    if (!book.hasOrders && state.debtors.size === 0) return
    passTime(state, at)
    book.refresh()
    matchResting(venue)
    judgeDebtors(state, market)
  })
}

/** What an account has on margin. Amounts are exact decimals in strings. */
export interface MarginLedger {
  readonly balances: readonly MarginBalance[]
  readonly openOrders: readonly WireMarginOrder[]
  /** Filled, cancelled and rejected ones that are remembered, oldest first. */
  readonly endedOrders: readonly WireMarginOrder[]
  readonly liquidations: { readonly isolated: number; readonly crossed: number }
}

export interface MarginBalance {
  readonly balance: string
  readonly coins: readonly WalletCoin[]
  /** Quote coin, at the displayed price; undefined without one. */
  readonly equity: string | undefined
  readonly debts: string | undefined
  /** Maintenance over equity: the balance is taken over at 1. Undefined without a price, or when the equity is gone. */
  readonly riskRatio: string | undefined
}

export function marginLedger(state: MarginState, uid: string): MarginLedger {
  refreshBooks(state)
  const orders = state.orders.of(uid)
  const coins = state.ports.wallet.statement(uid)
  const balances = [...new Set(coins.map(({ balance }) => balance))]
    .filter((balance) => balance !== 'spot')
    .sort()
  const count = (mode: MarginMode) => state.records.of(recordsKey({ uid, mode })).length
  return {
    balances: balances.map((balance) => toBalance(state, uid, { balance, coins })),
    openOrders: orders.filter(isOpen).map(toWireOrder),
    endedOrders: orders.filter((order) => !isOpen(order)).map(toWireOrder),
    liquidations: { isolated: count('isolated'), crossed: count('crossed') },
  }
}

function toBalance(
  state: MarginState,
  uid: string,
  { balance, coins }: { balance: string; coins: readonly WalletCoin[] },
): MarginBalance {
  const ref = {
    uid,
    balance: balance === 'crossed' ? balance : (`isolated:${balance.slice(9)}` as const),
  } as const
  const risk = assessBalance(state, ref)
  return {
    balance,
    coins: coins.filter((coin) => coin.balance === balance),
    equity: risk?.equity.toString(),
    debts: risk?.debts.toString(),
    riskRatio: risk && riskRatio(risk)?.toString(),
  }
}
