import { type Handlers } from '../shared/handlers.ts'
import { matchResting } from '../matching/match-orders.ts'
import { type ServicePorts } from '../services/service-ports.ts'
import { cancelBatch } from './orders/cancel-batch.ts'
import { judgeDebtors } from './debts/liquidation.ts'
import { liquidationPage } from './debts/liquidation-page.ts'
import { defaultMarginSettings, type MarginSettings } from './margin-settings.ts'
import { openMarginState, type MarginState, type SymbolMarket } from './margin-state.ts'
import { createVenue } from './orders/margin-venue.ts'
import { openOrdersPage } from './orders/open-orders-page.ts'
import { passTime } from './debts/pass-time.ts'

/**
 * Opens the exchange's margin trading, isolated and crossed. It hears every quote: orders are matched, and balances
 * liquidated, at each. Amounts are exact; all money is in the wallet.
 */
export function openMargin(ports: ServicePorts, settings: Partial<MarginSettings> = {}): MarginState {
  const state = openMarginState(ports, { ...defaultMarginSettings, ...settings })
  for (const market of state.symbols.values()) followSymbol(state, market)
  return state
}

/** Passes the hours up to `now`. */
export function playMargin(state: MarginState, now: number): void {
  passTime(state, now)
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
