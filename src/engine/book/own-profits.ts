import { NOBODY } from '../../domain/allocation.ts'
import type { Fill } from '../../domain/fill.ts'
import { toFillMoney } from '../../domain/fill-money.ts'
import type { OrderId, TradeId } from '../../domain/ids.ts'
import { FLAT, type Holding } from '../../domain/position.ts'
import type { BookedFill } from '../../journal/booking.ts'
import { type Decimal, decimal, ZERO } from '../../lib/decimal.ts'
import { createGrid, parseOnGrid } from '../../lib/grid.ts'
import { own } from '../../lib/own.ts'
import { moveAccountEntry } from './apply-fill.ts'
import { applyMove } from './allocation.ts'
import {
  accountHoldingOf,
  type Book,
  createBook,
  pairKey,
  splitPair,
  type WritableBook,
} from './book.ts'
import { beyondPriceOf } from './own-trades.ts'

/** The profit that a fill has brought a strategy on an instrument, at its own average price, before fees. */
export interface OwnShare {
  /** Strategy and symbol, as the book names them. */
  readonly pair: string
  readonly profit: Decimal
  readonly fees: Decimal
}

/**
 * Counts again, from the booked fills alone, what each strategy has made of its own lots, so that any span of time can be
 * summed up. The book itself has only the sum. All fills are needed, from the first one on and in their order.
 */
export class OwnProfits {
  readonly #real: Book
  readonly #counted: WritableBook
  /** Instruments of which fills are missing, or are on another grid. */
  readonly #unexplained = new Set<string>()

  /** @param real What all fills have come to. */
  constructor(real: Book) {
    this.#real = real
    this.#counted = own(createBook(real.positionMode))
    for (const [symbol, grids] of real.grids) this.#counted.grids.set(symbol, grids)
  }

  add(row: BookedFill): readonly OwnShare[] {
    const fill = this.#toFill(row)
    if (fill === undefined || this.#closesTooMuch(fill)) {
      this.#unexplained.add(row.symbol)
      return []
    }
    const { symbol, side, tradeSide, lots, ticks } = fill
    const book = this.#counted
    const before = new Map(book.ownTrades)
    const was = accountHoldingOf(book, symbol)
    const beyondPrice = beyondPriceOf(book, fill)
    const priced = beyondPrice === undefined ? { fill } : { fill, beyondPrice }
    const owner = row.owner === 'strategy' ? row.strategyId : NOBODY
    applyMove(book, symbol, { kind: 'fill', owner, change: { side, tradeSide, lots }, priced })
    moveAccountEntry(book, symbol, { before: was, ticks })
    return [...book.ownTrades].flatMap(([pair, { profit, fees }]) => {
      const known = before.get(pair)
      if (known?.profit === profit && known?.fees === fees) return []
      const since = (now: string | undefined, then: string | undefined): Decimal =>
        now === undefined ? ZERO : decimal(now).minus(decimal(then ?? '0'))
      return [{ pair, profit: since(profit, known?.profit), fees: since(fees, known?.fees) }]
    })
  }

  /**
   * Whether the fills explain what the strategy holds. They do not where it was given lots, where the account was taken over
   * from the exchange, or where older fills were archived: what is missing then stays missing.
   */
  explains(pair: string): boolean {
    const [, symbol] = splitPair(pair)
    if (this.#unexplained.has(symbol)) return false
    const held = (book: Pick<Book, 'holdings'>): Holding => book.holdings.get(pair) ?? FLAT
    const [ours, real] = [held(this.#counted), held(this.#real)]
    return ours.longLots === real.longLots && ours.shortLots === real.shortLots
  }

  #toFill(row: BookedFill): Fill | undefined {
    const { tradeId, orderId, symbol, side, tradeSide, price, size, at } = row
    const grids = this.#real.grids.get(symbol)
    const ticks = grids && parseOnGrid(createGrid(grids.tick), price)
    const lots = grids && parseOnGrid(createGrid(grids.lot), size)
    if (ticks === undefined || lots === undefined || lots === 0) return undefined
    return {
      tradeId: tradeId as TradeId,
      orderId: orderId as OrderId,
      symbol,
      side: side === 'buy' ? 'buy' : 'sell',
      tradeSide: tradeSide === 'close' ? 'close' : 'open',
      ticks,
      lots,
      ...toFillMoney(row),
      scope: row.scope === 'maker' ? 'maker' : 'taker',
      source: row.source,
      filledAt: at,
    }
  }

  /** In hedge mode what closes more than there is has opened before the first fill that is kept. */
  #closesTooMuch({ symbol, side, tradeSide, lots }: Fill): boolean {
    if (this.#counted.positionMode === 'one_way_mode' || tradeSide === 'open') return false
    const { longLots, shortLots } = accountHoldingOf(this.#counted, symbol)
    return lots > (side === 'buy' ? longLots : shortLots)
  }
}

/** The pair of a fill of a strategy's own order. */
export function pairOfFill({
  strategyId,
  symbol,
}: Pick<BookedFill, 'strategyId' | 'symbol'>): string {
  return pairKey(strategyId, symbol)
}
