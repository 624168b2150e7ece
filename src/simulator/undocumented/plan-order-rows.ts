import { z } from 'zod'
import { textOrNull } from '../../protocol/answer-values.ts'
import {
  batchResult,
  exchangeId,
  foreignClientOid,
  marginCoin,
  orderReference,
  productType,
  symbol,
} from '../../protocol/values.ts'
import { placePlanRequest } from '../futures/plans/place-plan-request.ts'
import { placePlanOrder } from '../futures/plans/plan-orders.ts'
import { cancelFuturesPlans, futuresPlansPending } from './futures/futures-plan-orders.ts'
import { changeColumns, placeColumns, readColumns, textRow, undocumented } from './undocumented-row.ts'

const empty = z.literal('')
const byEitherId = {
  orderId: z.union([exchangeId, empty]).optional(),
  clientOid: z.union([foreignClientOid, empty]).optional(),
}

/** Trigger orders outside the document, which can only change one that is there. */
export const planOrderRows = {
  placePlanOrder: undocumented({
    ...placeColumns,
    path: '/api/v2/mix/order/place-plan-order',
    request: placePlanRequest,
    response: orderReference,
    answer: placePlanOrder,
  }),
  ordersPlanPending: undocumented({
    ...readColumns,
    path: '/api/v2/mix/order/orders-plan-pending',
    request: z.looseObject({
      planType: z.string().min(1).describe('normal_plan, track_plan or profit_loss'),
      productType,
      symbol: symbol.optional(),
      idLessThan: exchangeId.optional(),
      limit: z.string().optional(),
      ...byEitherId,
    }),
    response: z.object({ entrustedList: z.array(textRow('orderId', 'symbol')).nullish(), endId: textOrNull }),
    answer: futuresPlansPending,
  }),
  cancelPlanOrder: undocumented({
    ...changeColumns,
    path: '/api/v2/mix/order/cancel-plan-order',
    request: z.looseObject({
      productType,
      symbol: symbol.optional(),
      marginCoin: marginCoin.optional(),
      planType: z.string().optional(),
      orderIdList: z.array(z.looseObject(byEitherId)).optional(),
    }),
    response: batchResult,
    answer: cancelFuturesPlans,
  }),
}
