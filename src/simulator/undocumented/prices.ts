import { type CoreState, type SymbolState } from '../core/core-state.ts'
import { listedSymbol } from '../core/place-orders.ts'
import { refusals } from '../core/refusals.ts'
import { accept, refuse, type Refusal, type Reply } from '../core/reply.ts'
import { toTicker } from '../core/ticker-view.ts'
import { type SpotSymbolRow } from '../spot/spot-symbol.ts'

interface SymbolQuery {
  readonly symbol: string
  readonly productType: string
}

/** The symbol's row of the tickers, alone in a list. */
export function futuresTicker(state: CoreState, query: SymbolQuery) {
  const quoted = quotedSymbol(state, query)
  return quoted.ok ? accept([toTicker(state, quoted.symbol)]) : refuse(quoted.refusal)
}

/** Last, index and mark price of one symbol. */
export function futuresPrice(state: CoreState, query: SymbolQuery) {
  const quoted = quotedSymbol(state, query)
  if (!quoted.ok) return refuse(quoted.refusal)
  const { symbol, lastPr, indexPrice, markPrice, ts } = toTicker(state, quoted.symbol)
  return accept([{ symbol, price: lastPr, indexPrice, markPrice, ts }])
}

/** Spot pairs show the prices of the contract of the same name, as the spot service trades at them. */
export function spotTickers(state: CoreState, pairs: Reply<readonly SpotSymbolRow[]>) {
  if (!pairs.ok) return pairs
  return accept(
    pairs.data.flatMap((pair) => {
      const symbol = state.symbols.get(pair.symbol)
      if (symbol === undefined || symbol.market.at === 0) return []
      const { open24h: open, ...ticker } = toTicker(state, symbol)
      const { high24h, low24h, lastPr, bidPr, askPr, bidSz, askSz, openUtc, ts } = ticker
      const { baseVolume, quoteVolume, usdtVolume, change24h, changeUtc24h } = ticker
      const prices = { open, high24h, low24h, lastPr, bidPr, askPr, bidSz, askSz, openUtc }
      const figures = { baseVolume, quoteVolume, usdtVolume, change24h, changeUtc24h }
      return [{ symbol: pair.symbol, ...prices, ...figures, ts }]
    }),
  )
}

type Quoted =
  | { readonly ok: true; readonly symbol: SymbolState }
  | { readonly ok: false; readonly refusal: Refusal }

function quotedSymbol(state: CoreState, query: SymbolQuery): Quoted {
  const symbol = listedSymbol(state, query)
  if (symbol === undefined) return { ok: false, refusal: refusals.symbolUnknown(query.symbol) }
  if (symbol.isSettled) return { ok: false, refusal: refusals.delisted() }
  return symbol.market.at === 0 ? { ok: false, refusal: refusals.suspended() } : { ok: true, symbol }
}
