import { type Handlers } from '../handlers.ts'
import { cancelAll } from './cancel-orders.ts'
import { type CoreState } from './core-state.ts'
import { fillsPage } from './fills-page.ts'
import { longShortRatio } from './long-short-ratio.ts'
import { modifyPlan } from './modify-plan-order.ts'
import { placeBatch } from './place-orders.ts'
import { singlePosition } from './position-view.ts'
import { tickers } from './ticker-board.ts'

/** What answers the document's futures endpoints. */
export const futuresHandlers = {
  batchPlaceOrder: placeBatch,
  cancelAllOrders: cancelAll,
  modifyPlanOrder: modifyPlan,
  orderFills: fillsPage,
  singlePosition,
  tickers,
  longShortRatio,
} satisfies Handlers<CoreState>
