import { type WireTicker } from '../../../protocol/futures/tickers.ts'
import { type CoreState, type SymbolState } from '../core-state.ts'
import { deliveryStatus } from './delivery.ts'
import { priceText, sizeText } from './instruments.ts'

export const RATE_DECIMALS = 6
export const CHANGE_DECIMALS = 5
export const VOLUME_DECIMALS = 4

/** The tickers of a product type: instruments without a first quote, and settled ones, are left out. */
export function tickerRows(state: CoreState, productType: string): WireTicker[] {
  const rows: WireTicker[] = []
  for (const symbol of state.symbols.values()) {
    if (isShown(symbol, productType)) rows.push(toTicker(state, symbol))
  }
  return rows
}

export function isShown({ instrument, market, isSettled }: SymbolState, productType: string): boolean {
  return instrument.productType === productType && market.at !== 0 && !isSettled
}

/** Document: Futures ticker. Delivery fields are null for a perpetual contract, deliveryStatus is not. */
export function toTicker(state: CoreState, symbol: SymbolState): WireTicker {
  const { instrument } = symbol
  const figures = symbol.statistics.read(state.clock.now)
  const price = (ticks: number | undefined) => (ticks === undefined ? '0' : priceText(instrument, ticks))
  const quoteVolume = fixed(figures?.quoteVolume ?? 0, VOLUME_DECIMALS)
  const { delivery } = instrument
  return {
    symbol: instrument.symbol,
    lastPr: priceText(instrument, symbol.market.lastTicks),
    askPr: priceText(instrument, symbol.market.askTicks),
    bidPr: priceText(instrument, symbol.market.bidTicks),
    bidSz: sizeText(instrument, symbol.market.bidLots),
    askSz: sizeText(instrument, symbol.market.askLots),
    high24h: price(figures?.high24hTicks),
    low24h: price(figures?.low24hTicks),
    ts: String(symbol.market.at),
    change24h: fixed(figures?.change24h ?? 0, CHANGE_DECIMALS),
    baseVolume: sizeText(instrument, figures?.baseLots ?? 0),
    quoteVolume,
    usdtVolume: quoteVolume,
    openUtc: price(figures?.openUtcTicks),
    changeUtc24h: fixed(figures?.changeUtc24h ?? 0, CHANGE_DECIMALS),
    indexPrice: price(figures?.indexTicks),
    markPrice: price(symbol.markTicks),
    fundingRate: delivery === undefined ? fixed(figures?.fundingRate ?? 0, RATE_DECIMALS) : '0',
    holdingAmount: sizeText(instrument, figures?.holdingLots ?? 0),
    open24h: price(figures?.open24hTicks),
    deliveryStartTime: delivery === undefined ? null : String(delivery.listedAt),
    deliveryTime: delivery === undefined ? null : String(delivery.deliveryAt),
    deliveryStatus: deliveryStatus(instrument, state.clock.now),
  }
}

/** A float with so many decimals, without trailing zeros or an exponent. */
function fixed(value: number, decimals: number): string {
  const text = value.toFixed(decimals).replace(/\.?0+$/, '')
  return text === '-0' ? '0' : text
}
