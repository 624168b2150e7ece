import { z } from 'zod'
import { sumDecimals, ZERO, type Decimal } from '../../lib/decimal.ts'
import { batchPlaceOrder } from '../../protocol/futures/batch-place-order.ts'
import {
  batchResult,
  marginCoin,
  orderReference,
  productType,
  symbol,
} from '../../protocol/values.ts'
import {
  accountOf,
  leverageOf,
  symbolOf,
  type ExchangeAccount,
  type CoreState,
} from '../futures/core-state.ts'
import { isOfAsked, listedSymbol } from '../futures/instruments/asked-symbols.ts'
import { priceText, sizeText } from '../futures/instruments/instruments.ts'
import { cancelAll, cancelByUser } from '../futures/orders/cancel-orders.ts'
import {
  orderIdText,
  referenceOf,
  sequenceOfId,
  wireSide,
  type FuturesOrder,
} from '../futures/orders/order.ts'
import { placeOne } from '../futures/orders/place-orders.ts'
import type { FuturesFill } from '../futures/positions/fill.ts'
import { baseSize, quoteValue, type Position } from '../futures/positions/position.ts'
import { refusals } from '../shared/refusals.ts'
import { isOpen } from '../matching/order-lifecycle.ts'
import type { AccountRef } from '../shared/account.ts'
import { accept, eachOf, type OrderReference, type Reply } from '../shared/reply.ts'
import { negated } from '../wallet/rounding.ts'
import { triggerFields } from './position-exits.ts'
import {
  byEitherId,
  change,
  ofProduct,
  orderIdList,
  orderPage,
  pageOfOrders,
  place,
  read,
  showPage,
  textRow,
  type RowRequest,
} from './undocumented-row.ts'

const { orderList, ...instrumentOfBatch } = batchPlaceOrder.request.shape
const oneOrder = { ...instrumentOfBatch, ...orderList.element.shape }
const named = { symbol, productType, ...byEitherId }
const list = { ...ofProduct, marginCoin: marginCoin.optional(), orderIdList }
const positions = {
  ...ofProduct,
  holdSide: z.string().optional().describe('Hedge mode: long or short, both when left out'),
}

export const futuresOrderRows = {
  placeOrder: place('/mix/order/place-order', {
    asks: oneOrder,
    shows: orderReference,
    answer: (state: CoreState, account, request) => {
      const { orderType, force } = request
      return placeOne(state, account, {
        ...request,
        force: orderType === 'limit' ? force : undefined,
      })
    },
  }),
  cancelOrder: change('/mix/order/cancel-order', {
    asks: { ...named, marginCoin: marginCoin.optional() },
    shows: orderReference,
    answer: cancelNamed,
  }),
  batchCancelOrders: change('/mix/order/batch-cancel-orders', {
    asks: list,
    shows: batchResult,
    answer: cancelListed,
  }),
  orderDetail: read('/mix/order/detail', {
    asks: named,
    shows: textRow('orderId', 'symbol'),
    answer: (state: CoreState, { uid }, request) => {
      const account = accountOf(state, uid)
      const order = findOrder(state, account, request)
      return order === undefined
        ? refusals.orderDataUnknown
        : accept(toOrderRow(state, account, order))
    },
  }),
  ordersPending: read('/mix/order/orders-pending', {
    asks: orderPage,
    shows: pageOfOrders,
    answer: (state: CoreState, { uid }, { startTime: _start, endTime: _end, ...query }) => {
      const account = accountOf(state, uid)
      return showOrders(state, account, query, [...account.openOrders.values()])
    },
  }),
  ordersHistory: read('/mix/order/orders-history', {
    asks: orderPage,
    shows: pageOfOrders,
    answer: (state: CoreState, { uid }, query) => {
      const account = accountOf(state, uid)
      const orders = [...account.closedOrders.values()].sort((a, b) => a.sequence - b.sequence)
      return showOrders(state, account, query, orders)
    },
  }),
  closePositions: place('/mix/order/close-positions', {
    calls: 1,
    asks: positions,
    shows: batchResult,
    answer: closePositions,
  }),
}

function cancelNamed(
  state: CoreState,
  { uid }: AccountRef,
  request: OrderLookup,
): Reply<OrderReference> {
  const order = findOrder(state, accountOf(state, uid), request)
  if (order === undefined) return refusals.orderUnknown
  return isOpen(order) ? cancelByUser(state, order) : refusals.noOrderToCancel
}

function cancelListed(
  state: CoreState,
  account: AccountRef,
  { orderIdList: names, ...request }: RowRequest<typeof list>,
) {
  if (names === undefined) return cancelAll(state, account, request)
  return eachOf(names, ({ orderId, clientOid }) =>
    cancelNamed(state, account, { ...request, orderId, clientOid }),
  )
}

function showOrders(
  state: CoreState,
  account: ExchangeAccount,
  query: RowRequest<typeof orderPage>,
  orders: readonly FuturesOrder[],
) {
  const asked = { productType: query.productType, symbol: query.symbol }
  const listed = orders
    .filter(isOfAsked(state, asked))
    .map((order) => ({ order, ...referenceOf(order) }))
  return showPage(listed, query, {
    now: state.clock.now,
    timeOf: ({ order }) => order.createdAt,
    toRow: ({ order }) => toOrderRow(state, account, order),
  })
}

type OrderLookup = RowRequest<typeof ofProduct & typeof byEitherId>

function findOrder(
  state: CoreState,
  account: ExchangeAccount,
  request: OrderLookup,
): FuturesOrder | undefined {
  const order = orderNamed(account, request)
  const isAsked = isOfAsked(state, { productType: request.productType, symbol: request.symbol })
  return order !== undefined && isAsked(order) ? order : undefined
}

/** A clientOid names the newest order that carried it. */
function orderNamed(
  { openOrders, closedOrders }: ExchangeAccount,
  { orderId, clientOid }: OrderLookup,
): FuturesOrder | undefined {
  if (orderId !== undefined) {
    const sequence = sequenceOfId(orderId) ?? 0
    return openOrders.get(sequence) ?? closedOrders.get(sequence)
  }
  return [...closedOrders.values(), ...openOrders.values()]
    .filter((order) => order.clientOid === clientOid)
    .sort((one, other) => one.sequence - other.sequence)
    .at(-1)
}

/**
 * Closes at market price; the part of a hedge position in resting orders remains. One-way mode
 * ignores `holdSide`.
 */
function closePositions(
  state: CoreState,
  account: AccountRef,
  request: RowRequest<typeof positions>,
) {
  const { symbol: name, productType: product, holdSide } = request
  const listed =
    name === undefined ? undefined : listedSymbol(state, { symbol: name, productType: product })
  if (listed?.ok === false) return listed
  const closed = [...accountOf(state, account.uid).positions.values()]
    .filter(isOfAsked(state, { productType: product, symbol: name }))
    .filter(({ slot, holdSide: held }) => slot === 'net' || !holdSide || held === holdSide)
    .map((position) => ({ position }))
  if (closed.length === 0) return refusals.noPosition
  return eachOf<{ position: Position; orderId?: string; clientOid?: string }>(
    closed,
    ({ position }) => {
      const { instrument } = symbolOf(state, position.symbol)
      const isNet = position.slot === 'net'
      return placeOne(state, account, {
        symbol: position.symbol,
        productType: product,
        marginCoin: instrument.marginCoin,
        marginMode: position.marginMode,
        orderType: 'market',
        size: sizeText(instrument, position.lots),
        side: (position.holdSide === 'long') === isNet ? 'sell' : 'buy',
        ...(isNet ? { reduceOnly: 'YES' } : { tradeSide: 'close' }),
      })
    },
  )
}

const PRICE_DECIMALS = 10

/** `canceled` has one l here, and two in the document's spot orders. */
const WIRE_STATUS = {
  pending: 'live',
  live: 'live',
  partially_filled: 'partially_filled',
  filled: 'filled',
  cancelled: 'canceled',
} as const

/** The real exchange's detail has `state`, its pending list `status`. */
function toOrderRow(state: CoreState, account: ExchangeAccount, order: FuturesOrder) {
  const { instrument } = symbolOf(state, order.symbol)
  const fills = account.fills.filter(({ orderSequence }) => orderSequence === order.sequence)
  const sum = (amountOf: (fill: FuturesFill) => Decimal) => sumDecimals(fills.map(amountOf))
  const baseFilled = sum(({ lots }) => baseSize(instrument, lots))
  const quoteVolume = sum(({ priceTicks, lots }) => quoteValue(instrument, priceTicks, lots))
  const status = WIRE_STATUS[order.status]
  return {
    symbol: order.symbol,
    size: sizeText(instrument, order.lots),
    orderId: orderIdText(order.sequence),
    clientOid: order.clientOid,
    baseVolume: sizeText(instrument, order.filledLots),
    priceAvg: quoteVolume.eq(ZERO)
      ? ''
      : quoteVolume.div(baseFilled).round(PRICE_DECIMALS).toString(),
    fee: sum(({ fee }) => negated(fee)).toString(),
    price: order.priceTicks === 0 ? '' : priceText(instrument, order.priceTicks),
    state: status,
    status,
    side: wireSide(order),
    force: order.force,
    totalProfits: sum(({ profit }) => profit).toString(),
    posSide: order.slot,
    marginCoin: instrument.marginCoin,
    quoteVolume: quoteVolume.toString(),
    orderType: order.orderType,
    leverage: String(leverageOf(account, instrument)),
    marginMode: order.marginMode,
    reduceOnly: order.reduceOnly ? 'YES' : 'NO',
    enterPointSource: order.source,
    tradeSide: order.action === 'net' ? '' : order.action,
    posMode: account.setup.positionMode,
    orderSource: order.orderType === 'limit' ? 'normal' : 'market',
    cancelReason: order.cancelReason ?? '',
    cTime: String(order.createdAt),
    uTime: String(order.updatedAt),
    ...triggerFields('presetStopSurplus', instrument, order.takeProfit),
    ...triggerFields('presetStopLoss', instrument, order.stopLoss),
  }
}
