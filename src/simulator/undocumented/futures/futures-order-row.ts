import { ZERO, type Decimal } from '../../../lib/decimal.ts'
import { leverageOf, symbolOf, type Account, type CoreState } from '../../futures/core-state.ts'
import { type Fill } from '../../futures/positions/fill.ts'
import { priceText, sizeText, type Instrument } from '../../futures/instruments/instruments.ts'
import { orderIdText, wireSide, type Order, type PositionTrigger } from '../../futures/orders/order.ts'
import { baseSize, quoteValue } from '../../futures/positions/position.ts'

const PRICE_DECIMALS = 10

/**
 * A futures order as the detail and the pending list of the real exchange show it. The document knows neither.
 * `state` is the detail's name of the status and `status` the list's: both are there.
 */
export function toOrderRow(state: CoreState, account: Account, order: Order) {
  const { instrument } = symbolOf(state, order.symbol)
  const fills = account.fills.filter(({ orderSequence }) => orderSequence === order.sequence)
  const status = wireStatus(order)
  return {
    symbol: order.symbol,
    size: sizeText(instrument, order.lots),
    orderId: orderIdText(order.sequence),
    clientOid: order.clientOid,
    baseVolume: sizeText(instrument, order.filledLots),
    priceAvg: averagePrice(instrument, fills),
    fee: sum(fills, ({ fee }) => fee.times('-1')),
    price: order.priceTicks === 0 ? '' : priceText(instrument, order.priceTicks),
    state: status,
    status,
    side: wireSide(order.slot, order.direction),
    force: order.force,
    totalProfits: sum(fills, ({ profit }) => profit),
    posSide: order.slot,
    marginCoin: instrument.marginCoin,
    quoteVolume: sum(fills, ({ priceTicks, lots }) => quoteValue(instrument, priceTicks, lots)),
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
    ...presetFields('presetStopSurplus', instrument, order.takeProfit),
    ...presetFields('presetStopLoss', instrument, order.stopLoss),
  }
}

/** The real exchange spells `canceled` with one l here, and `cancelled` in the document's spot orders. */
function wireStatus({ status }: Order): 'live' | 'partially_filled' | 'filled' | 'canceled' {
  switch (status) {
    case 'pending':
    case 'live':
      return 'live'
    case 'partially_filled':
    case 'filled':
      return status
    case 'cancelled':
      return 'canceled'
  }
}

/** Empty while nothing is filled. */
function averagePrice(instrument: Instrument, fills: readonly Fill[]): string {
  const lots = fills.reduce((total, fill) => total + fill.lots, 0)
  if (lots === 0) return ''
  let value = ZERO
  for (const fill of fills) value = value.plus(quoteValue(instrument, fill.priceTicks, fill.lots))
  return value.div(baseSize(instrument, lots)).round(PRICE_DECIMALS).toString()
}

function sum(fills: readonly Fill[], amountOf: (fill: Fill) => Decimal): string {
  let total = ZERO
  for (const fill of fills) total = total.plus(amountOf(fill))
  return total.toString()
}

/** `presetStopSurplusPrice`, `…Type` and `…ExecutePrice`: empty where there is none. */
function presetFields(name: string, instrument: Instrument, trigger: PositionTrigger | undefined) {
  const ticks = trigger?.executeTicks
  return {
    [`${name}Price`]: trigger === undefined ? '' : priceText(instrument, trigger.triggerTicks),
    [`${name}Type`]: trigger?.triggerType ?? '',
    [`${name}ExecutePrice`]: ticks === undefined ? '' : priceText(instrument, ticks),
  }
}
