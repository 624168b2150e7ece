import type { Handlers } from '../shared/handlers.ts'
import { cancelAll } from './orders/cancel-orders.ts'
import type { CoreState } from './core-state.ts'
import { fillsPage } from './positions/fills-page.ts'
import { longShortRatio } from './instruments/long-short-ratio.ts'
import { modifyPlan } from './plans/plan-orders.ts'
import { placeBatch } from './orders/place-orders.ts'
import { singlePosition } from './positions/position-view.ts'
import { tickers } from './instruments/ticker-view.ts'

export const futuresHandlers = {
  batchPlaceOrder: placeBatch,
  cancelAllOrders: cancelAll,
  modifyPlanOrder: modifyPlan,
  orderFills: fillsPage,
  singlePosition,
  tickers,
  longShortRatio,
} satisfies Handlers<CoreState>
