import { symbolOf, type CoreState, type SymbolState } from '../../futures/core-state.ts'
import { checked, refused, type Checked } from '../../futures/orders/order-validation.ts'
import { listedSymbol } from '../../futures/orders/place-orders.ts'
import { refusals } from '../../futures/refusals.ts'

interface SymbolRequest {
  readonly symbol: string
  readonly productType: string
}

/** The instrument of a request that names its margin coin too; samples also write that in lower case. */
export function namedSymbol(
  state: CoreState,
  request: SymbolRequest & { readonly marginCoin: string },
): Checked<SymbolState> {
  const symbol = listedSymbol(state, request)
  if (symbol === undefined) return refused(refusals.symbolUnknown(request.symbol))
  return request.marginCoin.toUpperCase() === symbol.instrument.marginCoin
    ? checked(symbol)
    : refused(refusals.parameter('marginCoin'))
}

/** One that is traded and has a price. */
export function quotedSymbol(state: CoreState, request: SymbolRequest): Checked<SymbolState> {
  const symbol = listedSymbol(state, request)
  if (symbol === undefined) return refused(refusals.symbolUnknown(request.symbol))
  if (symbol.isSettled) return refused(refusals.delisted())
  return symbol.market.at === 0 ? refused(refusals.suspended()) : checked(symbol)
}

/** Whether something of an instrument is asked for: by product type, and by symbol where one is named. */
export function isOfAsked(
  state: CoreState,
  asked: { readonly productType: string; readonly symbol?: string | undefined },
): (one: { readonly symbol: string }) => boolean {
  return ({ symbol }) =>
    (asked.symbol === undefined || symbol === asked.symbol) &&
    symbolOf(state, symbol).instrument.productType === asked.productType
}
