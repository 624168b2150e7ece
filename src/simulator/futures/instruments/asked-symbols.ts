import { accept, type Reply } from '../../shared/reply.ts'
import { symbolOf, type CoreState, type SymbolState } from '../core-state.ts'
import { refusals } from '../../shared/refusals.ts'

interface Asked {
  readonly productType: string
  readonly symbol?: string | undefined
  readonly marginCoin?: string | undefined
}

interface AskedSymbol extends Asked {
  readonly symbol: string
}

export function listedSymbol(
  state: CoreState,
  { symbol, productType }: AskedSymbol,
): Reply<SymbolState> {
  const found = state.symbols.get(symbol)
  if (found !== undefined && state.clock.now < found.listedAt) return refusals.symbolUnknown(symbol)
  return found?.instrument.productType === productType
    ? accept(found)
    : refusals.symbolUnknown(symbol)
}

/** Of a request that names its margin coin too; samples outside the document also write that in lower case. */
export function namedSymbol(
  state: CoreState,
  request: AskedSymbol & { readonly marginCoin: string },
): Reply<SymbolState> {
  const listed = listedSymbol(state, request)
  if (!listed.ok || request.marginCoin.toUpperCase() === listed.data.instrument.marginCoin)
    return listed
  return refusals.parameter('marginCoin')
}

/** One that is traded and has a price. */
export function quotedSymbol(state: CoreState, request: AskedSymbol): Reply<SymbolState> {
  const listed = listedSymbol(state, request)
  if (!listed.ok) return listed
  if (listed.data.isSettled) return refusals.delisted
  return listed.data.market.at === 0 ? refusals.suspended : listed
}

/** Whether something of an instrument is asked for: by product type, and by symbol and coin where they are named. */
export function isOfAsked(
  state: CoreState,
  asked: Asked,
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
