import type { RequestOf } from '../../../protocol/endpoints.ts'
import type { WireTicker } from '../../../protocol/futures/tickers.ts'
import { accept, type Reply } from '../../shared/reply.ts'
import type { CoreState } from '../core-state.ts'
import { DELIVERY_STAGES, deliveryStatus } from './delivery.ts'
import { listTickers, toTicker } from './ticker-view.ts'

/** Statistics are kept in minute buckets: between two of them only a quote changes a ticker. */
const MINUTE_MS = 60_000

interface TickerBoard {
  readonly moves: number
  readonly rows: WireTicker[]
}

const boards = new WeakMap<CoreState, Map<string, TickerBoard>>()

/**
 * The tickers of a product type, made once for each moment that they differ in. While nothing of it moves the same
 * array is returned, so that the wire writes it as JSON once, however often it is asked.
 */
export function tickers(
  state: CoreState,
  _: unknown,
  { productType }: RequestOf<'tickers'>,
): Reply<WireTicker[]> {
  const known = boards.get(state) ?? new Map<string, TickerBoard>()
  boards.set(state, known)
  const moves = movesOf(state, productType)
  const board = known.get(productType)
  if (board?.moves === moves) return accept(board.rows)
  const rows = listTickers(state, productType, toTicker)
  known.set(productType, { moves, rows })
  return accept(rows)
}

/** A sum of what only grows (quotes, minutes, the stages of a delivery): it stays while each of them does. */
function movesOf(state: CoreState, productType: string): number {
  const { now } = state.clock
  let moves = Math.floor(now / MINUTE_MS)
  for (const { instrument, quoteCount, isSettled } of state.symbols.values()) {
    if (instrument.productType !== productType) continue
    moves += quoteCount + DELIVERY_STAGES.indexOf(deliveryStatus(instrument, now)) + (isSettled ? 1 : 0)
  }
  return moves
}
