import type { Fill } from '../../domain/fill.ts'
import type { OrderTerms } from '../../domain/order.ts'
import {
  applyToHolding,
  type ExitLevels,
  HOLD_SIDES,
  type HoldSide,
  type KeptExits,
  type OrderedExits,
} from '../../domain/position.ts'
import { keptMovesOf } from './allocation.ts'
import {
  accountHoldingOf,
  type Book,
  holdingOf,
  pairKey,
  splitPair,
  type WritableBook,
} from './book.ts'

/*
 * The exchange keeps a take-profit or stop-loss for the position of the account, and only an order
 * that opens sets it. What an order asked for does not stand if its fill only made another position
 * smaller, if the account's position was gone meanwhile, or if another order has set other levels.
 * So the book has both: what the exchange keeps (`exits`), and what each strategy counts on
 * (`orderedExits`), as long as it holds something on that side.
 */

export function setExits(book: WritableBook, terms: OrderTerms, side: HoldSide): void {
  const { symbol, takeProfitTicks, stopLossTicks, clientOid, strategyId } = terms
  if (takeProfitTicks === undefined && stopLossTicks === undefined) return
  const key = pairKey(symbol, side)
  const levels = mergeLevels(book.exits.get(key), terms)
  book.exits.set(key, { clientOid, strategyId, ...levels })
}

/** The order has just been filled, by a part at least. */
export function noteOrderedExits(book: WritableBook, terms: OrderTerms): void {
  const { symbol, takeProfitTicks, stopLossTicks, clientOid, strategyId, action } = terms
  if (takeProfitTicks === undefined && stopLossTicks === undefined) return
  const side = action === 'openLong' ? 'long' : action === 'openShort' ? 'short' : undefined
  if (side === undefined || holdingOf(book, strategyId, symbol)[`${side}Lots`] === 0) return
  const key = pairKey(strategyId, symbol)
  const known = book.orderedExits.get(key)
  const ordered = { clientOid, ...mergeLevels(known?.[side], terms) }
  book.orderedExits.set(key, { ...known, [side]: ordered })
}

/** Levels go with what they were to protect. */
export function forgetOrderedExits(book: WritableBook, symbol: string): void {
  if (book.orderedExits.size === 0) return
  for (const [key, ordered] of Array.from(book.orderedExits)) {
    const [strategyId, ofSymbol] = splitPair(key)
    if (ofSymbol !== symbol) continue
    const holding = holdingOf(book, strategyId, symbol)
    const gone = HOLD_SIDES.filter((side) => ordered[side] && holding[`${side}Lots`] === 0)
    if (gone.length === 0) continue
    const kept = HOLD_SIDES.filter((side) => ordered[side] && !gone.includes(side))
    if (kept.length === 0) book.orderedExits.delete(key)
    else book.orderedExits.set(key, Object.fromEntries(kept.map((side) => [side, ordered[side]])))
  }
}

/** A level that the order does not name stays as it was. */
function mergeLevels(before: ExitLevels | undefined, terms: OrderTerms): ExitLevels {
  const profit = terms.takeProfitTicks ?? before?.takeProfitTicks
  const loss = terms.stopLossTicks ?? before?.stopLossTicks
  return {
    ...(profit !== undefined && { takeProfitTicks: profit }),
    ...(loss !== undefined && { stopLossTicks: loss }),
  }
}

/**
 * The orders that have set exits on a side since its position began, in order, as far back as the
 * first fill that waits for its order.
 */
export function listSetters(book: Book, symbol: string, side: HoldSide): readonly OrderTerms[] {
  let account = book.unsettled.get(symbol)?.account
  if (account === undefined) return []
  let setters: OrderTerms[] = []
  for (const { move } of keptMovesOf(book, symbol)) {
    if (move.kind !== 'adopt' && move.kind !== 'fill') continue
    const before: number = account[`${side}Lots`]
    account =
      move.kind === 'adopt' ? move.holding : applyToHolding(book.positionMode, account, move.change)
    const after = account[`${side}Lots`]
    if (after === 0) setters = []
    if (move.kind !== 'fill' || after <= before) continue
    const terms = termsOf(book, move.priced?.fill)
    if (terms !== undefined) setters.push(terms)
  }
  return setters
}

function termsOf(book: Book, fill: Fill | undefined): OrderTerms | undefined {
  const clientOid = fill && book.byOrderId.get(fill.orderId)
  return clientOid === undefined ? undefined : book.orders.get(clientOid)?.terms
}

export interface UnkeptExits extends OrderedExits {
  readonly strategyId: string
  readonly symbol: string
  readonly side: HoldSide
  /** Undefined: the exchange keeps nothing on this side. */
  readonly kept: KeptExits | undefined
}

/** Lists levels that strategies count on, and the exchange does not keep. */
export function listUnkeptExits(book: Book): readonly UnkeptExits[] {
  return [...book.orderedExits].flatMap(([key, bySide]) => {
    const [strategyId, symbol] = splitPair(key)
    return HOLD_SIDES.flatMap((side) => {
      const ordered = bySide[side]
      if (ordered === undefined) return []
      const isHeld = accountHoldingOf(book, symbol)[`${side}Lots`] > 0
      const kept = isHeld ? book.exits.get(pairKey(symbol, side)) : undefined
      if (kept !== undefined && stands(ordered, kept, strategyId)) return []
      return [{ ...ordered, strategyId, symbol, side, kept }]
    })
  })
}

/** An exit that the exchange lists may have been moved on purpose. */
function stands(ordered: OrderedExits, kept: KeptExits, strategyId: string): boolean {
  const mayDiffer = kept.listed !== undefined && kept.strategyId === strategyId
  return (['takeProfitTicks', 'stopLossTicks'] as const).every((name) =>
    mayDiffer
      ? ordered[name] === undefined || kept[name] !== undefined
      : ordered[name] === undefined || kept[name] === ordered[name],
  )
}
