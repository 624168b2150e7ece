import { floatOnGrid, formatOnGrid, type Grid } from '../../../lib/grid.ts'
import type { RequestOf } from '../../../protocol/endpoints.ts'
import type { WireTicker } from '../../../protocol/futures/tickers.ts'
import { accept, type Reply } from '../../shared/reply.ts'
import type { CoreState, SymbolState } from '../core-state.ts'
import { DELIVERY_STAGES, deliveryStatus } from './delivery-status.ts'

const RATE_DECIMALS = 6
const CHANGE_DECIMALS = 5
const VOLUME_DECIMALS = 4

interface Notation<Value, Nothing> {
  readonly steps: (grid: Grid, steps: number) => Value
  readonly round: (value: number, decimals: number) => Value
  readonly time: (at: number) => Value
  readonly nothing: Nothing
}

const TEXTS: Notation<string, null> = {
  steps: formatOnGrid,
  round(value, decimals) {
    const text = value.toFixed(decimals).replace(/\.?0+$/, '')
    return text === '-0' ? '0' : text
  },
  time: String,
  nothing: null,
}

/** JSON has no -0. */
const NUMBERS: Notation<number, number> = {
  steps: floatOnGrid,
  round: rounded,
  time: (at) => at,
  nothing: Number.NaN,
}

export function rounded(value: number, decimals: number): number {
  const scale = SCALES[decimals] ?? 10 ** decimals
  const scaled = value * scale
  const whole = Math.round(scaled)
  // Where a float may have rounded a product over a half, the text decides.
  const isClear =
    Math.abs(scaled) < CLEAR_MAX && Math.abs(Math.abs(scaled - whole) - 0.5) > HALF_MARGIN
  return (isClear ? whole / scale : Number(value.toFixed(decimals))) + 0
}

const SCALES: readonly number[] = Array.from({ length: 9 }, (_, decimals) => 10 ** decimals)

/** Products below it are exact to a hundredth of {@link HALF_MARGIN}. */
const CLEAR_MAX = 2 ** 40
const HALF_MARGIN = 0.01

export type TickerNumbers = ReturnType<typeof writeTicker<number, number>>

/** A perpetual contract has only the deliveryStatus of the fields about delivery. */
export function toTicker(state: CoreState, symbol: SymbolState): WireTicker {
  return writeTicker(state, symbol, TEXTS)
}

export function toTickerNumbers(state: CoreState, symbol: SymbolState): TickerNumbers {
  return writeTicker(state, symbol, NUMBERS)
}

export function listTickers<Row>(
  state: CoreState,
  productType: string,
  toRow: (state: CoreState, symbol: SymbolState) => Row,
): Row[] {
  const rows: Row[] = []
  for (const symbol of state.symbols.values()) {
    if (isTickerShown(symbol, productType)) rows.push(toRow(state, symbol))
  }
  return rows
}

export function isTickerShown(
  { instrument, market, isSettled }: SymbolState,
  productType: string,
): boolean {
  return instrument.productType === productType && market.at !== 0 && !isSettled
}

function writeTicker<Value, Nothing>(
  { clock }: CoreState,
  symbol: SymbolState,
  { steps, round, time, nothing }: Notation<Value, Nothing>,
) {
  const { instrument, market, markTicks, statistics, opensAt } = symbol
  const { priceGrid, sizeGrid, delivery } = instrument
  const figures = statistics.read(clock.now)
  const price = (ticks = 0) => steps(priceGrid, ticks)
  const size = (lots = 0) => steps(sizeGrid, lots)
  const quoteVolume = round(figures?.quoteVolume ?? 0, VOLUME_DECIMALS)
  return {
    symbol: instrument.symbol,
    lastPr: price(market.lastTicks),
    askPr: price(market.askTicks),
    bidPr: price(market.bidTicks),
    bidSz: size(market.bidLots),
    askSz: size(market.askLots),
    high24h: price(figures?.high24hTicks),
    low24h: price(figures?.low24hTicks),
    ts: time(market.at),
    change24h: round(figures?.change24h ?? 0, CHANGE_DECIMALS),
    baseVolume: size(figures?.baseLots),
    quoteVolume,
    usdtVolume: quoteVolume,
    openUtc: price(figures?.openUtcTicks),
    changeUtc24h: round(figures?.changeUtc24h ?? 0, CHANGE_DECIMALS),
    indexPrice: price(figures?.indexTicks),
    markPrice: price(markTicks),
    fundingRate: round(delivery === undefined ? (figures?.fundingRate ?? 0) : 0, RATE_DECIMALS),
    holdingAmount: size(figures?.holdingLots),
    open24h: price(figures?.open24hTicks),
    deliveryStartTime:
      delivery === undefined ? nothing : time(Math.max(delivery.listedAt, opensAt)),
    deliveryTime: delivery === undefined ? nothing : time(delivery.deliveryAt),
    deliveryStatus: deliveryStatus(symbol, clock.now),
  }
}

const MINUTE_MS = 60_000

/** Returns the same array until a ticker changes, so that its JSON is written once. */
export function tickers(
  state: CoreState,
  _: unknown,
  { productType }: RequestOf<'tickers'>,
): Reply<WireTicker[]> {
  const moves = movesOf(state, productType)
  const board = state.tickerBoards.get(productType)
  if (board?.moves === moves) return accept(board.rows)
  const rows = listTickers(state, productType, toTicker)
  state.tickerBoards.set(productType, { moves, rows })
  return accept(rows)
}

/** The terms of the sum only grow, so an equal sum means that none has changed. */
function movesOf(state: CoreState, productType: string): number {
  const { now } = state.clock
  let moves = Math.floor(now / MINUTE_MS)
  for (const symbol of state.symbols.values()) {
    const { instrument, quoteCount, isSettled } = symbol
    if (instrument.productType !== productType) continue
    moves += quoteCount + DELIVERY_STAGES.indexOf(deliveryStatus(symbol, now)) + (isSettled ? 1 : 0)
  }
  return moves
}
