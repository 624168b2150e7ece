import type { ExitTerms, Move, UnsettledAllocation } from '../../domain/allocation.ts'
import {
  type ExitLevels,
  HOLD_SIDES,
  type Holding,
  type HoldSide,
  type KeptExits,
  type ListedExit,
  type OrderedExits,
} from '../../domain/position.ts'
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
 * (`orderedExits`), as long as it holds something on that side. Both follow from the moves of a
 * position in their order, so they are worked out again with them (`allocation.ts`).
 */

/** Adds the exits of the fill's order, which may be forgotten before the move is applied again. */
export function withExits(book: Book, move: Move): Move {
  const fill = move.kind === 'fill' && move.exits === undefined ? move.priced?.fill : undefined
  const clientOid = fill && book.byOrderId.get(fill.orderId)
  const terms = clientOid && book.orders.get(clientOid)?.terms
  if (move.kind !== 'fill' || terms === undefined) return move
  const { strategyId, action, takeProfitTicks, stopLossTicks } = terms
  if (takeProfitTicks === undefined && stopLossTicks === undefined) return move
  const levels = mergeLevels(undefined, terms)
  return { ...move, exits: { clientOid: terms.clientOid, strategyId, action, ...levels } }
}

/** Called after the holdings have changed. @param was what the account held before */
export function moveExits(book: WritableBook, symbol: string, move: Move, was: Holding): void {
  if (move.kind === 'exitsListed') return applyListedExits(book, symbol, move)
  if (move.kind === 'fill') keepExits(book, symbol, { terms: move.exits, was })
  forgetOrderedExits(book, symbol)
}

type StandingExits = Pick<UnsettledAllocation, 'exits' | 'orderedExits'>

export function standingExitsOf(book: Book, symbol: string): StandingExits {
  return {
    exits: [...book.exits].filter(([key]) => splitPair(key)[0] === symbol),
    orderedExits: [...book.orderedExits].filter(([key]) => splitPair(key)[1] === symbol),
  }
}

export function restoreExits(
  book: WritableBook,
  symbol: string,
  { exits, orderedExits }: StandingExits,
): void {
  if (exits === undefined || orderedExits === undefined) return
  const now = standingExitsOf(book, symbol)
  for (const [key] of now.exits ?? []) book.exits.delete(key)
  for (const [key] of now.orderedExits ?? []) book.orderedExits.delete(key)
  for (const [key, kept] of exits) book.exits.set(key, kept)
  for (const [key, ordered] of orderedExits) book.orderedExits.set(key, ordered)
}

/** Keeps the exits of the order that opened, each until another order sets it anew. */
function keepExits(
  book: WritableBook,
  symbol: string,
  { terms, was }: { readonly terms: ExitTerms | undefined; readonly was: Holding },
): void {
  const is = accountHoldingOf(book, symbol)
  for (const side of HOLD_SIDES) {
    const [before, after] = [was[`${side}Lots`], is[`${side}Lots`]]
    if (after <= before) continue
    const key = pairKey(symbol, side)
    if (before === 0) book.exits.delete(key)
    if (terms === undefined) continue
    const { clientOid, strategyId } = terms
    book.exits.set(key, { clientOid, strategyId, ...mergeLevels(book.exits.get(key), terms) })
  }
  if (terms) noteOrderedExits(book, symbol, terms)
}

function noteOrderedExits(book: WritableBook, symbol: string, terms: ExitTerms): void {
  const { clientOid, strategyId, action } = terms
  const side = action === 'openLong' ? 'long' : action === 'openShort' ? 'short' : undefined
  if (side === undefined || holdingOf(book, strategyId, symbol)[`${side}Lots`] === 0) return
  const key = pairKey(strategyId, symbol)
  const known = book.orderedExits.get(key)
  const ordered = { clientOid, ...mergeLevels(known?.[side], terms) }
  book.orderedExits.set(key, { ...known, [side]: ordered })
}

/** Levels go with what they were to protect. */
function forgetOrderedExits(book: WritableBook, symbol: string): void {
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
function mergeLevels(before: ExitLevels | undefined, terms: ExitLevels): ExitLevels {
  const profit = terms.takeProfitTicks ?? before?.takeProfitTicks
  const loss = terms.stopLossTicks ?? before?.stopLossTicks
  return {
    ...(profit !== undefined && { takeProfitTicks: profit }),
    ...(loss !== undefined && { stopLossTicks: loss }),
  }
}

/** If there are several exits, the one nearest to the market counts. */
function applyListedExits(
  book: WritableBook,
  symbol: string,
  { holdSide, listed }: Extract<Move, { readonly kind: 'exitsListed' }>,
): void {
  const key = pairKey(symbol, holdSide)
  const kept = book.exits.get(key)
  if (!kept) return
  const ticksOf = (kind: ListedExit['kind']) =>
    listed.filter((exit) => exit.kind === kind).map(({ ticks }) => ticks)
  const [stops, profits] = [ticksOf('stopLoss'), ticksOf('takeProfit')]
  const isLong = holdSide === 'long'
  const nearestStop = isLong ? Math.max(...stops) : Math.min(...stops)
  const nearestProfit = isLong ? Math.min(...profits) : Math.max(...profits)
  book.exits.set(key, {
    ...kept,
    listed,
    ...(stops.length > 0 && { stopLossTicks: nearestStop }),
    ...(profits.length > 0 && { takeProfitTicks: nearestProfit }),
  })
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
