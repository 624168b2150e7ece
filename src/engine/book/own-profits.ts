import { NOBODY } from '../../domain/allocation.ts'
import type { Fill } from '../../domain/fill.ts'
import { toFillMoney } from '../../domain/fill-money.ts'
import type { OrderId, TradeId } from '../../domain/ids.ts'
import type { Entry } from '../../domain/own-trades.ts'
import { FLAT, type Holding, isSameHolding } from '../../domain/position.ts'
import type { AdoptRecord, AssignedRecord } from '../../domain/record.ts'
import type { BookedFill } from '../../journal/booking.ts'
import { type Decimal, decimal, ZERO } from '../../lib/decimal.ts'
import { createGrid, type Grid, parseOnGrid } from '../../lib/grid.ts'
import { mutable } from '../../lib/mutable.ts'
import { moveAccountEntry } from './apply-fill.ts'
import { applyMove } from './allocation.ts'
import { applyRecord } from './apply-record.ts'
import {
  accountHoldingOf,
  type Book,
  createBook,
  holdingOf,
  splitPair,
  type WritableBook,
} from './book.ts'
import { beyondPriceOf, limitTo } from './own-trades.ts'

export type FilledBook = Pick<Book, 'positionMode' | 'grids' | 'holdings'>

/** The change that a fill brings one strategy on one instrument. */
export interface OwnShare {
  readonly pair: string
  /** At its own average price, before fees. */
  readonly profit: Decimal
  readonly fees: Decimal
  readonly before: Entry
  readonly after: Entry
}

const NOTHING: Entry = { longLots: 0, longTicks: 0, shortLots: 0, shortTicks: 0 }

/**
 * Counts strategies' profits from the booked fills alone, so that any span can be summed up; the
 * book has only the sum. Needs all fills, in their order.
 */
export class OwnProfits {
  readonly #real: FilledBook
  readonly #counted: WritableBook
  readonly #grids = new Map<string, Record<'tick' | 'lot', Grid>>()
  readonly #pairs = new Set<string>()
  readonly #pairsBySymbol = new Map<string, readonly string[]>()
  /** Symbols of which fills are missing, or on another grid. */
  readonly #unexplained = new Set<string>()

  /** @param real the book after all fills */
  constructor(real: FilledBook) {
    this.#real = real
    this.#counted = mutable(createBook(real.positionMode))
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
    const was = accountHoldingOf(book, symbol)
    const beyondPrice = beyondPriceOf(book, fill)
    const priced = beyondPrice === undefined ? { fill } : { fill, beyondPrice }
    const owner = row.owner === 'strategy' ? row.strategyId : NOBODY
    return this.#sharesOf(symbol, () => {
      applyMove(book, symbol, { kind: 'fill', owner, change: { side, tradeSide, lots }, priced })
      moveAccountEntry(book, symbol, { before: was, ticks })
    })
  }

  /** For records that move lots without a fill. */
  apply(record: AdoptRecord | AssignedRecord): readonly OwnShare[] {
    return this.#sharesOf(record.symbol, () => applyRecord(this.#counted, record))
  }

  holdingOf(symbol: string, strategyId?: string): Holding {
    if (strategyId === undefined) return accountHoldingOf(this.#counted, symbol)
    return holdingOf(this.#counted, strategyId, symbol)
  }

  #sharesOf(symbol: string, change: () => void): readonly OwnShare[] {
    const { ownTrades } = this.#counted
    const entryOf = (pair: string): Entry => {
      const entry = ownTrades.get(pair)?.entry ?? NOTHING
      return limitTo(entry, this.#counted.holdings.get(pair) ?? FLAT)
    }
    const before = new Map(
      this.#pairsOf(symbol).map((pair) => [pair, [ownTrades.get(pair), entryOf(pair)] as const]),
    )
    change()
    return this.#pairsOf(symbol).flatMap((pair) => {
      const [then, entry] = before.get(pair) ?? []
      const now = ownTrades.get(pair)
      if (now === undefined || now === then) return []
      return [
        {
          pair,
          profit: difference(now.profit, then?.profit),
          fees: difference(now.fees, then?.fees),
          before: entry ?? NOTHING,
          after: entryOf(pair),
        },
      ]
    })
  }

  #pairsOf(symbol: string): readonly string[] {
    const { ownTrades } = this.#counted
    if (ownTrades.size !== this.#pairs.size) {
      for (const pair of ownTrades.keys()) {
        if (this.#pairs.has(pair)) continue
        this.#pairs.add(pair)
        const [, traded] = splitPair(pair)
        this.#pairsBySymbol.set(traded, [...(this.#pairsBySymbol.get(traded) ?? []), pair])
      }
    }
    return this.#pairsBySymbol.get(symbol) ?? []
  }

  /** The counted fills give what is held. They do not if older fills were archived. */
  explains(pair: string, holdings = this.#real.holdings): boolean {
    const [, symbol] = splitPair(pair)
    if (this.#unexplained.has(symbol)) return false
    const held = (book: Pick<Book, 'holdings'>): Holding => book.holdings.get(pair) ?? FLAT
    return isSameHolding(held(this.#counted), held({ holdings }))
  }

  #toFill(row: BookedFill): Fill | undefined {
    const { tradeId, orderId, symbol, side, tradeSide, price, size, at } = row
    const grids = this.#gridsOf(symbol)
    const ticks = grids && parseOnGrid(grids.tick, price)
    const lots = grids && parseOnGrid(grids.lot, size)
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

  #gridsOf(symbol: string): Record<'tick' | 'lot', Grid> | undefined {
    const known = this.#grids.get(symbol)
    const written = this.#real.grids.get(symbol)
    if (known || !written) return known
    const grids = { tick: createGrid(written.tick), lot: createGrid(written.lot) }
    this.#grids.set(symbol, grids)
    return grids
  }

  /** In hedge mode, a fill closes more than there is if older fills are missing. */
  #closesTooMuch({ symbol, side, tradeSide, lots }: Fill): boolean {
    if (this.#counted.positionMode === 'one_way_mode' || tradeSide === 'open') return false
    const { longLots, shortLots } = accountHoldingOf(this.#counted, symbol)
    return lots > (side === 'buy' ? longLots : shortLots)
  }
}

function difference(now = '0', then = '0'): Decimal {
  return now === then ? ZERO : decimal(now).minus(decimal(then))
}
