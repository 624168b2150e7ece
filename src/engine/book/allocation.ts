import {
  type Move,
  NOBODY,
  type PricedFill,
  type UnsettledAllocation,
} from '../../domain/allocation.ts'
import {
  applyToHolding,
  FLAT,
  type Holding,
  type HoldingChange,
  netLots,
} from '../../domain/position.ts'
import type { Fill } from '../../domain/fill.ts'
import type { OrderId, StrategyId } from '../../domain/ids.ts'
import {
  accountHoldingOf,
  type Book,
  holdingOf,
  pairKey,
  splitPair,
  type WritableBook,
} from './book.ts'
import {
  countOwnFill,
  countTaken,
  countTakenOver,
  forgetStreak,
  forgetTaken,
  withOwnMoney,
} from './own-trades.ts'
import { moveExits, restoreExits, standingExitsOf, withExits } from './ordered-exits.ts'

/**
 * Each strategy's part of the account's position, from a symbol's fills in order and their owners
 * (docs/mechanisms.md has the rules).
 *
 * While the order of a fill is not known, its lots are under its orderId, and later moves of the
 * symbol are kept: once the order is known, the allocation is worked out again from that fill.
 */

/**
 * Fills wait for a minute, or until an operator has looked at a quarantined order. If more moves
 * come meanwhile, waiting fills belong to no strategy.
 */
export const UNSETTLED_MOVES_MAX = 10_000

export function applyMove(book: WritableBook, symbol: string, move: Move): void {
  const known = withExits(book, move)
  keepUnsettled(book, symbol, known)
  moveBoth(book, symbol, known)
}

function moveBoth(book: WritableBook, symbol: string, move: Move): void {
  const was = accountHoldingOf(book, symbol)
  moveAllocation(book, symbol, move)
  moveExits(book, symbol, move, was)
}

export function waiterOf(orderId: OrderId): string {
  return `~${orderId}`
}

/** Works the allocation out again, because the owner of these fills is known now. */
export function settleOwner(
  book: WritableBook,
  fills: readonly Fill[],
  owner: StrategyId | typeof NOBODY,
): void {
  const waiters = new Set(fills.map(({ orderId }) => waiterOf(orderId)))
  for (const symbol of new Set(fills.map((fill) => fill.symbol))) {
    settleMoves(book, symbol, { owner, isNamed: (waiter) => waiters.has(waiter) })
    replay(book, symbol)
  }
}

export function countUnsettled({ unsettled }: Book, symbol: string): number {
  const { first = 0, next = 0 } = unsettled.get(symbol) ?? {}
  return next - first
}

function keepUnsettled(book: WritableBook, symbol: string, move: Move): void {
  if (countUnsettled(book, symbol) >= UNSETTLED_MOVES_MAX) {
    settleMoves(book, symbol, { owner: NOBODY, isNamed: () => true })
    replay(book, symbol)
  }
  const unsettled = book.unsettled.get(symbol) ?? beginUnsettled(book, symbol, move)
  if (!unsettled) return
  book.unsettledMoves.set(moveKey(symbol, unsettled.next), move)
  book.unsettled.set(symbol, { ...unsettled, next: unsettled.next + 1 })
}

function beginUnsettled(book: Book, symbol: string, move: Move): UnsettledAllocation | undefined {
  return isWaiting(move) ? { ...standingOf(book, symbol), first: 0, next: 0 } : undefined
}

function standingOf(book: Book, symbol: string): Omit<UnsettledAllocation, 'first' | 'next'> {
  const holdings = [...book.holdings].filter(([key]) => splitPair(key)[1] === symbol)
  const trades = [...book.ownTrades]
    .filter(([key]) => splitPair(key)[1] === symbol)
    .map(([key, known]) => [key, withOwnMoney(book, key, known)] as const)
  const account = accountHoldingOf(book, symbol)
  return { account, holdings, trades, ...standingExitsOf(book, symbol) }
}

function isWaiting(move: Move): boolean {
  return move.kind === 'fill' && move.owner.startsWith('~')
}

function moveKey(symbol: string, number: number): string {
  return pairKey(symbol, String(number))
}

interface KeptMove {
  readonly number: number
  readonly key: string
  readonly move: Move
}

function keptMovesOf({ unsettled, unsettledMoves }: Book, symbol: string): readonly KeptMove[] {
  const { first = 0, next = 0 } = unsettled.get(symbol) ?? {}
  return Array.from({ length: next - first }, (_, index) => first + index).flatMap((number) => {
    const key = moveKey(symbol, number)
    const move = unsettledMoves.get(key)
    return move ? [{ number, key, move }] : []
  })
}

interface Settlement {
  readonly owner: string
  readonly isNamed: (waiter: string) => boolean
}

function settleMoves(book: WritableBook, symbol: string, { owner, isNamed }: Settlement): void {
  for (const { key, move } of keptMovesOf(book, symbol)) {
    if (move.kind === 'fill' && isWaiting(move) && isNamed(move.owner)) {
      book.unsettledMoves.set(key, withExits(book, { ...move, owner }))
    }
  }
}

function replay(book: WritableBook, symbol: string): void {
  const unsettled = book.unsettled.get(symbol)
  if (!unsettled) return
  const moves = keptMovesOf(book, symbol)
  for (const key of Array.from(book.holdings.keys())) {
    if (splitPair(key)[1] === symbol) book.holdings.delete(key)
  }
  for (const [key, holding] of unsettled.holdings) book.holdings.set(key, holding)
  restoreTrades(book, symbol, unsettled)
  restoreExits(book, symbol, unsettled)
  book.account.set(symbol, unsettled.account)
  book.unsettled.delete(symbol)
  for (const { number, key, move } of moves) {
    if (isWaiting(move) && !book.unsettled.has(symbol)) {
      book.unsettled.set(symbol, {
        ...standingOf(book, symbol),
        first: number,
        next: unsettled.next,
      })
    }
    if (!book.unsettled.has(symbol)) book.unsettledMoves.delete(key)
    // Earlier versions kept moves without the exits of their orders.
    moveBoth(book, symbol, withExits(book, move))
  }
}

/** Earlier versions counted each fill when its order was found. */
function restoreTrades(book: WritableBook, symbol: string, { trades }: UnsettledAllocation): void {
  if (trades === undefined) return
  for (const key of Array.from(book.ownTrades.keys()))
    if (splitPair(key)[1] === symbol) book.ownTrades.delete(key)
  for (const [key, known] of trades) book.ownTrades.set(key, known)
}

function moveAllocation(book: WritableBook, symbol: string, move: Move): void {
  const { positionMode } = book
  if (move.kind === 'adopt') {
    book.account.set(symbol, move.holding)
    for (const change of move.taken) takeFromStrategies(book, symbol, change)
    return
  }
  if (move.kind === 'exitsListed') return
  if (move.kind === 'streakForgotten') return forgetStreak(book, pairKey(move.strategyId, symbol))
  if (move.kind === 'assign') {
    // The entry is compared with what the strategy held before.
    countTakenOver(book, move.owner, symbol, move.taken)
    const holding = move.taken.reduce(
      (held, change) => applyToHolding(positionMode, held, change),
      holdingOf(book, move.owner, symbol),
    )
    return storeHolding(book, { owner: move.owner, symbol, holding }, undefined)
  }
  const { owner, change, priced } = move
  book.account.set(symbol, applyToHolding(positionMode, accountHoldingOf(book, symbol), change))
  if (owner === NOBODY) return takeFromStrategies(book, symbol, change, priced)
  const holding = applyToHolding(positionMode, holdingOf(book, owner, symbol), change)
  // Lots that an unknown order has closed are negative.
  if (isWaiting(move)) return void book.holdings.set(pairKey(owner, symbol), holding)
  if (priced) countOwnFill(book, owner, priced)
  storeHolding(book, { owner, symbol, holding }, priced)
}

/** If the owner would hold less than nothing, its order has closed lots of others. */
function storeHolding(
  book: WritableBook,
  { owner, symbol, holding }: { owner: string; symbol: string; holding: Holding },
  priced: PricedFill | undefined,
): void {
  const key = pairKey(owner, symbol)
  if (book.positionMode === 'one_way_mode') {
    const net = netLots(holding)
    book.holdings.set(key, { longLots: Math.max(0, net), shortLots: Math.max(0, -net) })
    return
  }
  const { longLots, shortLots } = holding
  book.holdings.set(key, { longLots: Math.max(0, longLots), shortLots: Math.max(0, shortLots) })
  if (longLots < 0)
    takeLots(book, symbol, { side: 'buy', tradeSide: 'close', lots: -longLots }, priced)
  if (shortLots < 0)
    takeLots(book, symbol, { side: 'sell', tradeSide: 'close', lots: -shortLots }, priced)
}

function takeFromStrategies(
  book: WritableBook,
  symbol: string,
  change: HoldingChange,
  priced?: PricedFill,
): void {
  takeLots(book, symbol, { ...change, lots: lotsToTake(book, symbol, change) }, priced)
}

function takeLots(
  book: WritableBook,
  symbol: string,
  change: HoldingChange,
  priced: PricedFill | undefined,
): void {
  let { lots } = change
  for (const key of [...book.holdings.keys()].sort()) {
    if (splitPair(key)[1] !== symbol || lots <= 0) continue
    const holding = book.holdings.get(key) ?? FLAT
    const taken = Math.min(lots, closedBy(book, holding, change))
    if (taken === 0) continue
    const part = { ...change, lots: taken }
    const held = applyToHolding(book.positionMode, holding, part)
    if (!priced) forgetTaken(book, key, held)
    else if (!key.startsWith('~')) countTaken(book, splitPair(key)[0], priced, part)
    book.holdings.set(key, held)
    lots -= taken
  }
}

function closedBy(
  { positionMode }: Book,
  holding: Holding,
  { side, tradeSide }: HoldingChange,
): number {
  if (positionMode === 'one_way_mode') return side === 'buy' ? holding.shortLots : holding.longLots
  if (tradeSide === 'open') return 0
  return Math.max(0, side === 'buy' ? holding.longLots : holding.shortLots)
}

function lotsToTake(book: Book, symbol: string, change: HoldingChange): number {
  const before = applyToHolding(book.positionMode, accountHoldingOf(book, symbol), {
    ...change,
    lots: -change.lots,
  })
  const held = sideOf(book, before, change)
  const ofNobody = held - sideOf(book, claimedHolding(book, symbol), change)
  const closed = Math.min(change.lots, Math.max(0, held))
  return closed - Math.max(0, ofNobody)
}

/** Lots that the change can close; negative if it opens. */
function sideOf(
  { positionMode }: Book,
  holding: Holding,
  { side, tradeSide }: HoldingChange,
): number {
  if (positionMode === 'one_way_mode') return side === 'buy' ? -netLots(holding) : netLots(holding)
  if (tradeSide === 'open') return 0
  return side === 'buy' ? holding.longLots : holding.shortLots
}

function claimedHolding(book: Book, symbol: string): Holding {
  let claimed: Holding = FLAT
  for (const [key, holding] of book.holdings) {
    if (splitPair(key)[1] === symbol) claimed = addHoldings(claimed, holding)
  }
  return claimed
}

function addHoldings(one: Holding, other: Holding): Holding {
  return { longLots: one.longLots + other.longLots, shortLots: one.shortLots + other.shortLots }
}
