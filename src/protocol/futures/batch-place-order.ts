import { z } from 'zod'
import { defineEndpoint, type WirePositionMode } from '../endpoint.ts'
import {
  batchResult,
  clientOid,
  decimalText,
  force,
  marginCoin,
  marginMode,
  orderType,
  positiveDecimal,
  productType,
  side,
  stpMode,
  symbol,
  tradeSide,
} from '../values.ts'

/** Document: "orderList — at most 50 items". */
export const BATCH_ORDERS_MAX = 50

const preset = z.union([decimalText, z.literal('')])

const order = z
  .strictObject({
    size: positiveDecimal.describe('Order amount'),
    price: positiveDecimal.describe('Required when orderType is limit').optional(),
    side: side.describe('buy or sell; in hedge mode the direction of the position'),
    tradeSide: tradeSide
      .describe('Required in hedge position mode; must be omitted in one-way mode')
      .optional(),
    orderType: orderType.describe('limit or market'),
    force: force
      .meta({
        description:
          'Of a limit order. ioc: cancel the part that cannot fill at once; fok: cancel unless fully filled ' +
          'at once; gtc: valid until filled or cancelled; post_only: maker only',
        default: 'gtc',
      })
      .optional(),
    clientOid: clientOid
      .describe('Unique; a repetition is the same order for 20 minutes')
      .optional(),
    reduceOnly: z
      .enum(['YES', 'NO'])
      .meta({ description: 'One-way position mode only', default: 'NO' })
      .optional(),
    presetStopSurplusPrice: preset.describe('Take-profit value; empty means none').optional(),
    presetStopLossPrice: preset.describe('Stop-loss value; empty means none').optional(),
    stpMode: stpMode.meta({ description: 'Self-trade prevention', default: 'none' }).optional(),
  })
  .refine((item) => item.orderType === 'market' || item.price !== undefined, {
    path: ['price'],
    message: 'price is required when orderType is limit',
  })

/** One symbol, product type, margin coin and margin mode. */
export const batchPlaceOrder = defineEndpoint({
  name: 'batchPlaceOrder',
  method: 'POST',
  path: '/api/v2/mix/order/batch-place-order',
  auth: 'schemeA',
  limit: { calls: 5, perMs: 1000, scope: 'uid', copyTraderCalls: 1 },
  retry: 'protocol',
  section: 'POST /api/v2/mix/order/batch-place-order (place orders in batch)',
  request: z.strictObject({
    symbol: symbol.describe('Trading pair'),
    productType: productType.describe('Product type'),
    marginCoin: marginCoin.describe('Margin coin, upper case'),
    marginMode: marginMode.describe('isolated or crossed'),
    orderList: z
      .array(order)
      .min(1)
      .max(BATCH_ORDERS_MAX, `orderList takes at most ${BATCH_ORDERS_MAX} items`)
      .describe('Orders, at most 50'),
  }),
  response: batchResult,
  rules: ({ orderList }, { positionMode }) => [
    ...orderList.flatMap((item, index) =>
      positionModeProblems(item, positionMode).map((problem) => `orderList.${index}.${problem}`),
    ),
    ...repetitionProblems(orderList.map(({ clientOid: own }) => own)),
  ],
})

type Item = z.output<typeof order>

/** Document: tradeSide and reduceOnly. */
function positionModeProblems(
  { tradeSide: given, reduceOnly }: Item,
  positionMode: WirePositionMode,
): string[] {
  if (positionMode === 'one_way_mode') {
    return given === undefined ? [] : ['tradeSide must be omitted in one-way position mode']
  }
  return [
    ...(given === undefined ? ['tradeSide is required in hedge position mode'] : []),
    ...(reduceOnly === undefined ? [] : ['reduceOnly is for one-way position mode only']),
  ]
}

/** Document: clientOid is unique. */
function repetitionProblems(clientOids: readonly (string | undefined)[]): string[] {
  return clientOids.flatMap((own, index) =>
    own !== undefined && clientOids.indexOf(own) < index
      ? [`orderList.${index}.clientOid must be unique: an order before it has the same`]
      : [],
  )
}

export type BatchPlaceRequest = z.input<(typeof batchPlaceOrder)['request']>
export type BatchPlaceItem = BatchPlaceRequest['orderList'][number]
