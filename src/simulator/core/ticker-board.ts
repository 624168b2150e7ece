import { type WireTicker } from '../../protocol/futures/tickers.ts'
import { type CoreState } from './core-state.ts'
import { deliveryStatus, type DeliveryStatus } from './delivery.ts'
import { tickerRows } from './ticker-view.ts'

/** Statistics are kept in minute buckets: between two of them only a quote changes a ticker. */
const MINUTE_MS = 60_000

/**
 * The tickers of each product type, made once for each moment that they differ in. While nothing of a product
 * type moves the same array is returned, so that the wire writes it as JSON once, however often it is asked.
 */
export class TickerBoard {
  /** Bounded by the product types. */
  readonly #boards = new Map<string, { readonly moves: number; readonly rows: WireTicker[] }>()

  rows(state: CoreState, productType: string): WireTicker[] {
    const moves = movesOf(state, productType)
    const board = this.#boards.get(productType)
    if (board?.moves === moves) return board.rows
    const rows = tickerRows(state, productType)
    this.#boards.set(productType, { moves, rows })
    return rows
  }
}

/** A sum of what only grows (quotes, minutes, the stages of a delivery): it stays while each of them does. */
function movesOf(state: CoreState, productType: string): number {
  const { now } = state.clock
  let moves = Math.floor(now / MINUTE_MS)
  for (const { instrument, quoteCount, isSettled } of state.symbols.values()) {
    if (instrument.productType !== productType) continue
    moves += quoteCount + DELIVERY_STAGE[deliveryStatus(instrument, now)] + (isSettled ? 1 : 0)
  }
  return moves
}

const DELIVERY_STAGE: Readonly<Record<DeliveryStatus, number>> = {
  delivery_config_period: 0,
  delivery_normal: 1,
  delivery_before: 2,
  delivery_period: 3,
}
