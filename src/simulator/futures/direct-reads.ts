/**
 * What a backtest reads again and again, without the texts of the wire: the numbers of the tickers, and of the
 * positions what a client takes from them. Each value is what a client makes of the text.
 */
import { floatOnGrid } from '../../lib/grid.ts'
import { type AccountRef } from '../shared/account.ts'
import { accountOf, type CoreState, type SymbolState } from './core-state.ts'
import { deliveryStatus } from './instruments/delivery.ts'
import { CHANGE_DECIMALS, isShown, RATE_DECIMALS, VOLUME_DECIMALS } from './instruments/ticker-view.ts'
import { type HeldPosition, positionsOf, toHeldPosition } from './positions/position-view.ts'

/** A ticker as numbers, under the names of the wire; NaN for what a contract without delivery has not. */
export type TickerNumbers = ReturnType<typeof toNumbers>

/** Of the instruments that the endpoint would answer, in its order. */
export function readTickerNumbers(state: CoreState, productType: string): readonly TickerNumbers[] {
  return [...state.symbols.values()]
    .filter((symbol) => isShown(symbol, productType))
    .map((symbol) => toNumbers(state, symbol))
}

/** What is held of an instrument: no row when flat, long first. */
export function readHeldPositions(
  state: CoreState,
  { uid }: AccountRef,
  symbol: string,
): readonly HeldPosition[] {
  const account = accountOf(state, uid)
  return positionsOf(account, symbol).map((position) => toHeldPosition(state, account, position))
}

function toNumbers(state: CoreState, { instrument, market, markTicks, statistics }: SymbolState) {
  const { priceGrid, sizeGrid, delivery } = instrument
  const { now } = state.clock
  const figures = statistics.read(now)
  const price = (ticks = 0) => floatOnGrid(priceGrid, ticks)
  const size = (lots = 0) => floatOnGrid(sizeGrid, lots)
  const quoteVolume = rounded(figures?.quoteVolume, VOLUME_DECIMALS)
  return {
    symbol: instrument.symbol,
    lastPr: price(market.lastTicks),
    askPr: price(market.askTicks),
    bidPr: price(market.bidTicks),
    bidSz: size(market.bidLots),
    askSz: size(market.askLots),
    high24h: price(figures?.high24hTicks),
    low24h: price(figures?.low24hTicks),
    ts: market.at,
    change24h: rounded(figures?.change24h, CHANGE_DECIMALS),
    baseVolume: size(figures?.baseLots),
    quoteVolume,
    usdtVolume: quoteVolume,
    openUtc: price(figures?.openUtcTicks),
    changeUtc24h: rounded(figures?.changeUtc24h, CHANGE_DECIMALS),
    indexPrice: price(figures?.indexTicks),
    markPrice: price(markTicks),
    fundingRate: delivery === undefined ? rounded(figures?.fundingRate, RATE_DECIMALS) : 0,
    holdingAmount: size(figures?.holdingLots),
    open24h: price(figures?.open24hTicks),
    deliveryStartTime: delivery?.listedAt ?? Number.NaN,
    deliveryTime: delivery?.deliveryAt ?? Number.NaN,
    deliveryStatus: deliveryStatus(instrument, now),
  }
}

/** As the number of the wire's text with so many decimals, which knows no -0. */
export function rounded(value = 0, decimals: number): number {
  const scaled = value * 10 ** decimals
  const whole = Math.round(scaled)
  // Where the product itself may have been rounded over a half, the text decides.
  const isClear = Math.abs(scaled) < CLEAR_MAX && Math.abs(Math.abs(scaled - whole) - 0.5) > HALF_MARGIN
  return (isClear ? whole / 10 ** decimals : Number(value.toFixed(decimals))) + 0
}

/** Products below this are exact to a hundredth of {@link HALF_MARGIN}. */
const CLEAR_MAX = 2 ** 40
const HALF_MARGIN = 0.01
