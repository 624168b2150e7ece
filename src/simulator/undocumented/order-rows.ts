import { z } from 'zod'
import { textOrNull } from '../../protocol/answer-values.ts'
import { batchPlaceOrder } from '../../protocol/futures/batch-place-order.ts'
import {
  batchResult,
  exchangeId,
  marginCoin,
  orderReference,
  productType,
  symbol,
} from '../../protocol/values.ts'
import { closeFuturesPositions } from './futures/close-positions.ts'
import {
  cancelFuturesOrder,
  cancelFuturesOrders,
  futuresOrderDetail,
  futuresOrdersHistory,
  futuresOrdersPending,
} from './futures/futures-orders.ts'
import { placeFuturesOrder } from './futures/place-one.ts'
import {
  byEitherId,
  changeColumns,
  placeColumns,
  readColumns,
  textRow,
  undocumented,
} from './undocumented-row.ts'

/** What an order of a batch says, and what the batch does. */
const { orderList, ...instrument } = batchPlaceOrder.request.shape

const pageRequest = z.looseObject({
  productType,
  symbol: symbol.optional(),
  idLessThan: exchangeId.optional(),
  startTime: z.string().optional(),
  endTime: z.string().optional(),
  limit: z.string().optional(),
  ...byEitherId,
})

const orderPage = z.object({
  entrustedList: z.array(textRow('orderId', 'symbol')).nullish(),
  endId: textOrNull,
})

/** Futures orders outside the document, one at a time and by name. */
export const orderRows = {
  placeOrder: undocumented({
    ...placeColumns,
    path: '/api/v2/mix/order/place-order',
    request: z.looseObject({ ...instrument, ...orderList.element.shape }),
    response: orderReference,
    answer: placeFuturesOrder,
  }),
  cancelOrder: undocumented({
    ...changeColumns,
    path: '/api/v2/mix/order/cancel-order',
    request: z.looseObject({ symbol, productType, marginCoin: marginCoin.optional(), ...byEitherId }),
    response: orderReference,
    answer: cancelFuturesOrder,
  }),
  batchCancelOrders: undocumented({
    ...changeColumns,
    path: '/api/v2/mix/order/batch-cancel-orders',
    request: z.looseObject({
      productType,
      symbol: symbol.optional(),
      marginCoin: marginCoin.optional(),
      orderIdList: z.array(z.looseObject(byEitherId)).optional(),
    }),
    response: batchResult,
    answer: cancelFuturesOrders,
  }),
  orderDetail: undocumented({
    ...readColumns,
    path: '/api/v2/mix/order/detail',
    request: z.looseObject({ symbol, productType, ...byEitherId }),
    response: textRow('orderId', 'symbol'),
    answer: futuresOrderDetail,
  }),
  ordersPending: undocumented({
    ...readColumns,
    path: '/api/v2/mix/order/orders-pending',
    request: pageRequest,
    response: orderPage,
    answer: futuresOrdersPending,
  }),
  ordersHistory: undocumented({
    ...readColumns,
    path: '/api/v2/mix/order/orders-history',
    request: pageRequest,
    response: orderPage,
    answer: futuresOrdersHistory,
  }),
  closePositions: undocumented({
    ...placeColumns,
    path: '/api/v2/mix/order/close-positions',
    limit: { calls: 1, perMs: 1000, scope: 'uid' },
    request: z.looseObject({
      productType,
      symbol: symbol.optional(),
      holdSide: z.string().optional().describe('Hedge mode: long or short, both when left out'),
    }),
    response: batchResult,
    answer: closeFuturesPositions,
  }),
}
