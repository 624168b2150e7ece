import { accept, type Reply } from '../../shared/reply.ts'
import { symbolOf, type CoreState, type SymbolState } from '../core-state.ts'
import { refusals } from '../../shared/refusals.ts'

interface InstrumentFilter {
  readonly productType: string
  readonly symbol?: string | undefined
  readonly marginCoin?: string | undefined
}

interface SymbolRequest extends InstrumentFilter {
  readonly symbol: string
}

export function listedSymbol(
  state: CoreState,
  { symbol, productType }: SymbolRequest,
): Reply<SymbolState> {
  const found = state.symbols.get(symbol)
  if (found !== undefined && state.clock.now < found.listedAt) return refusals.symbolUnknown(symbol)
  return found?.instrument.productType === productType
    ? accept(found)
    : refusals.symbolUnknown(symbol)
}

export function namedSymbol(
  state: CoreState,
  request: SymbolRequest & { readonly marginCoin: string },
): Reply<SymbolState> {
  const listed = listedSymbol(state, request)
  if (!listed.ok || request.marginCoin.toUpperCase() === listed.data.instrument.marginCoin)
    return listed
  return refusals.parameter('marginCoin')
}

export function quotedSymbol(state: CoreState, request: SymbolRequest): Reply<SymbolState> {
  const listed = listedSymbol(state, request)
  if (!listed.ok) return listed
  if (listed.data.isSettled) return refusals.delisted
  return listed.data.market.at === 0 ? refusals.suspended : listed
}

export function isOfAsked(
  state: CoreState,
  asked: InstrumentFilter,
): (one: { readonly symbol: string }) => boolean {
  return ({ symbol }) => {
    const { productType, marginCoin } = symbolOf(state, symbol).instrument
    return (
      productType === asked.productType &&
      symbol === (asked.symbol ?? symbol) &&
      marginCoin === (asked.marginCoin?.toUpperCase() ?? marginCoin)
    )
  }
}
