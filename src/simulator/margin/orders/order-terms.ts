import { decimal, ZERO, type Decimal } from '../../../lib/decimal.ts'
import { type PairOrder } from '../../services/pair-order.ts'
import { type Refusal } from '../../shared/reply.ts'
import { hasPlaces } from '../../wallet/rounding.ts'
import { marginRefusals } from '../margin-refusals.ts'
import { type PlaceMarginOrderRequest } from '../margin-requests.ts'
import { pricesShown, type SymbolMarket } from '../margin-state.ts'

/** What of an order is measured: prices in quote coin, sizes as asked for. */
export interface OrderTerms extends Pick<PairOrder, 'price' | 'size' | 'isQuoteSized'> {
  /** What has to be set aside of the coin that it pays with. */
  readonly cost: Decimal
}

/** The order's numbers, or why the symbol does not take them. */
export function readTerms(market: SymbolMarket, request: PlaceMarginOrderRequest): OrderTerms | Refusal {
  const { rules } = market
  const shown = pricesShown(market)
  if (shown === undefined) return marginRefusals.noPrice()
  const isQuoteSized = request.orderType === 'market' && request.side === 'buy'
  const price = request.orderType === 'limit' ? readPositive(request.price, 'price') : undefined
  if (price !== undefined && 'code' in price) return price
  if (price !== undefined && !hasPlaces(price, rules.priceDecimals)) {
    return marginRefusals.priceStep(market.book.price(1).toString())
  }
  if (request.orderType === 'market' && request.price !== undefined)
    return marginRefusals.parameterPresent('price')
  const name = isQuoteSized ? 'quoteSize' : 'baseSize'
  const other = isQuoteSized ? 'baseSize' : 'quoteSize'
  if (request[other] !== undefined) return marginRefusals.parameterPresent(other)
  const size = readPositive(request[name], name)
  if ('code' in size) return size
  const scale = isQuoteSized ? QUOTE_PLACES : rules.sizeDecimals
  if (!hasPlaces(size, scale)) return marginRefusals.scale(name, size.toString(), scale)
  if (!isQuoteSized && size.lt(rules.baseMin)) return marginRefusals.sizeBelowMinimum()
  const notional = isQuoteSized ? size : size.times(price ?? shown.bid)
  if (notional.lt(rules.notionalMin)) return marginRefusals.notionalBelowMinimum(rules.notionalMin.toString())
  const cost = request.side === 'buy' ? notional : size
  return { price: price ?? ZERO, size, isQuoteSized, cost }
}

/** A market buy's size in quote coin. */
const QUOTE_PLACES = 6

const PLAIN_DECIMAL = /^\d{1,20}(\.\d{1,20})?$/

function readPositive(text: string | undefined, name: string): Decimal | Refusal {
  if (text === undefined || text === '') return marginRefusals.parameterEmpty(name)
  if (!PLAIN_DECIMAL.test(text)) return marginRefusals.parameter(name)
  const value = decimal(text)
  return value.gt(ZERO) ? value : marginRefusals.parameter(name)
}
