import type { WireRequestOf, WireResponseOf } from '../../../protocol/endpoints.ts'
import { accept, type RefusedReply, type Reply } from '../../shared/reply.ts'
import { ninetyDays, readHistory, type HistoryRules } from '../../shared/history-page.ts'
import type { LiquidationRecord, ModeOwner, OrderRecord } from '../orders/margin-order.ts'
import { refusals } from '../../shared/refusals.ts'
import type { MarginSettings } from '../margin-settings.ts'
import { recordsKey, type MarginState } from '../margin-state.ts'
import { averagePrice } from '../orders/open-orders-page.ts'

export type LiquidationQuery = WireRequestOf<'isolatedLiquidationOrders'>

/** Document: "limit (optional, default 100, max 500)", "maximum interval 90 days". */
const LIQUIDATIONS: HistoryRules = {
  limitUsual: 100,
  limitMax: 500,
  refusedLimits: 'outOfRange',
  refusesDisorder: true,
  span: ninetyDays,
  daysMax: 90,
}

export function liquidationPage(
  state: MarginState,
  owner: ModeOwner,
  query: LiquidationQuery,
): Reply<WireResponseOf<'isolatedLiquidationOrders'>> {
  const refusal = queryRefusal(state, query)
  if (refusal !== undefined) return refusal
  const page = readHistory(state.records.of(recordsKey(owner)), query, {
    ...LIQUIDATIONS,
    now: state.clock.now,
    idOf: ({ id }) => id,
    timeOf: ({ createdAt }) => createdAt,
    accepts: (record) => isAskedFor(record, query),
  })
  if (!page.ok) return page
  return accept({
    resultList: page.data.map((record) => toWireRecord(record, state.settings)),
    idLessThan: page.data.at(-1)?.id ?? '',
  })
}

function queryRefusal(state: MarginState, query: LiquidationQuery): RefusedReply | undefined {
  const { type = 'place_order', symbol, fromCoin, toCoin } = query
  if (type === 'swap' && symbol !== undefined) return refusals.parameterPresent('symbol')
  if (type === 'place_order' && fromCoin !== undefined) return refusals.parameterPresent('fromCoin')
  if (type === 'place_order' && toCoin !== undefined) return refusals.parameterPresent('toCoin')
  return symbol === undefined || state.pairs.has(symbol)
    ? undefined
    : refusals.symbolUnknown(symbol)
}

function isAskedFor(record: LiquidationRecord, query: LiquidationQuery): boolean {
  const { type = 'place_order', symbol, fromCoin, toCoin } = query
  if (record.type !== type) return false
  return record.type === 'place_order'
    ? symbol === undefined || record.symbol === symbol
    : isCoin(record.fromCoin, fromCoin) && isCoin(record.toCoin, toCoin)
}

function isCoin(coin: string, asked: string | undefined): boolean {
  return asked === undefined || asked.toUpperCase() === coin
}

const NO_ORDER = {
  symbol: '',
  orderType: '',
  side: '',
  priceAvg: '',
  price: '',
  fillSize: '',
  size: '',
  amount: '',
} as const

const NO_SWAP = { fromCoin: '', toCoin: '', fromSize: '', toSize: '' } as const

/** Document, Margin liquidation record: fields that do not apply to the type are empty. */
function toWireRecord(record: LiquidationRecord, settings: MarginSettings) {
  const { type, id: orderId, createdAt, updatedAt } = record
  const order = type === 'place_order' ? orderFields(record, settings) : NO_ORDER
  const { fromCoin, toCoin, fromSize, toSize } = type === 'swap' ? record : NO_SWAP
  const swap = { fromCoin, toCoin, fromSize: fromSize.toString(), toSize: toSize.toString() }
  return { ...order, orderId, ...swap, cTime: String(createdAt), uTime: String(updatedAt) }
}

function orderFields(
  { mode, symbol, direction, price, size, filledBase, filledQuote }: OrderRecord,
  { liquidationSide }: MarginSettings,
): Record<keyof typeof NO_ORDER, string> {
  return {
    symbol,
    orderType: 'market',
    side: `liquidation${liquidationSide === 'hyphen' ? '-' : '_'}${direction}`,
    priceAvg: averagePrice({ filledBase, filledQuote }),
    price: price.toString(),
    fillSize: filledBase.toString(),
    size: size.toString(),
    // Document: "isolated: order amount in USDT; cross: filled amount".
    amount: (mode === 'isolated' ? price.times(size) : filledQuote).toString(),
  }
}
