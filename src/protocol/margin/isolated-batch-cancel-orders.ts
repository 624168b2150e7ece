import { z } from 'zod'
import { listOf, textIfAny } from '../answer-values.ts'
import { defineEndpoint } from '../endpoint.ts'
import { exchangeId, foreignClientOid, symbol } from '../values.ts'

const item = z
  .strictObject({
    orderId: exchangeId.describe('Order ID; at least one of orderId and clientOid').optional(),
    clientOid: foreignClientOid.describe('Client-defined ID').optional(),
    clientId: foreignClientOid
      .meta({ description: 'How the sample body spells clientOid', aliasOf: 'clientOid' })
      .optional(),
  })
  .refine(
    ({ orderId, clientOid, clientId }) =>
      orderId !== undefined || clientOid !== undefined || clientId !== undefined,
    { path: ['orderId'], message: 'one of orderId and clientOid is required' },
  )
  .refine(({ clientOid, clientId }) => !clientOid || !clientId || clientOid === clientId, {
    path: ['clientId'],
    message: 'clientOid and clientId are two names of one field and must agree',
  })

const request = z.strictObject({
  symbol: symbol.describe('Trading pair'),
  orderIdList: z.array(item).min(1).describe('Orders to cancel').optional(),
})

type IsolatedCancelBody = z.input<typeof request>
type WireItem = NonNullable<IsolatedCancelBody['orderIdList']>[number]

export interface IsolatedBatchCancelRequest extends Omit<IsolatedCancelBody, 'orderIdList'> {
  readonly orderIdList?: readonly Omit<WireItem, 'clientId'>[] | undefined
}

const text = textIfAny

export const isolatedBatchCancelOrders = defineEndpoint({
  name: 'isolatedBatchCancelOrders',
  method: 'POST',
  path: '/api/v2/margin/isolated/batch-cancel-order',
  auth: 'schemeA',
  limit: { calls: 10, perMs: 1000, scope: 'uid' },
  retry: 'repeatable',
  section: 'POST /api/v2/margin/isolated/batch-cancel-order (cancel isolated orders in batch)',
  request,
  toWire,
  response: z.object({
    successList: listOf(
      z.object({
        orderId: text.describe('Order ID'),
        clientOid: text.describe('Client-defined ID'),
      }),
    ).describe('Orders that were cancelled'),
    failureList: listOf(
      z.object({
        orderId: text.describe('Order ID; not in the document'),
        clientOid: text.describe('Client-defined ID'),
        errorMsg: text.describe('Failure reason'),
      }),
    ).describe('Orders that were not'),
  }),
})

/**
 * The document says clientOid, its sample clientId. An exchange that reads only one would find an
 * order without an id.
 */
function toWire({ orderIdList, ...rest }: IsolatedBatchCancelRequest): IsolatedCancelBody {
  if (orderIdList === undefined) return rest
  return {
    ...rest,
    orderIdList: orderIdList.map((order) =>
      order.clientOid === undefined ? order : { ...order, clientId: order.clientOid },
    ),
  }
}
