import { type Move, NOBODY, type UnsettledAllocation } from '../../domain/allocation.ts'
import { applyToHolding, FLAT, type Holding, type HoldingChange, netLots } from '../../domain/position.ts'
import { type Fill } from '../../domain/fill.ts'
import { type OrderId, type StrategyId } from '../../domain/ids.ts'
import { accountHoldingOf, type Book, holdingOf, pairKey, splitPair } from './book.ts'

/**
 * Whose what the account holds is: a function of the fills of a symbol in their order, and of who owns each.
 *
 * Of what others closed of the account, first what nobody here holds is gone, then what the strategies hold, in
 * the order of their names; so what they believe to hold together never outgrows what is there. What others open
 * is nobody's.
 *
 * While a fill waits for its order, its owner is its orderId, behind the strategies in the order of names, and
 * everything that happened to the symbol since is kept. When the owner is known the shares are worked out anew
 * from there: what was closed meanwhile may have been closed of another.
 */

/** Moves what the account holds, and what its owner does. */
export function applyMove(book: Book, symbol: string, move: Move): void {
  const unsettled = book.unsettled.get(symbol) ?? beginUnsettled(book, symbol, move)
  if (unsettled) book.unsettled.set(symbol, { ...unsettled, moves: [...unsettled.moves, move] })
  moveAllocation(book, symbol, move)
}

/** The owner of a fill whose order is not known yet. */
export function waiterOf(orderId: OrderId): string {
  return `~${orderId}`
}

/** It is known now whose the fills of an order are. */
export function settleOwner(book: Book, fills: readonly Fill[], owner: StrategyId | typeof NOBODY): void {
  for (const symbol of new Set(fills.map((fill) => fill.symbol))) {
    const unsettled = book.unsettled.get(symbol)
    if (!unsettled) continue
    const waiters = new Set(fills.map(({ orderId }) => waiterOf(orderId)))
    const moves = unsettled.moves.map((move) =>
      move.kind === 'fill' && waiters.has(move.owner) ? { ...move, owner } : move,
    )
    replay(book, symbol, { ...unsettled, moves })
    if (moves.some(isWaiting)) book.unsettled.set(symbol, { ...unsettled, moves })
    else book.unsettled.delete(symbol)
  }
}

function beginUnsettled(book: Book, symbol: string, move: Move): UnsettledAllocation | undefined {
  if (!isWaiting(move)) return undefined
  const holdings = [...book.holdings].filter(([key]) => splitPair(key)[1] === symbol)
  return { account: accountHoldingOf(book, symbol), holdings, moves: [] }
}

function isWaiting(move: Move): boolean {
  return move.kind === 'fill' && move.owner.startsWith('~')
}

function replay(book: Book, symbol: string, { account, holdings, moves }: UnsettledAllocation): void {
  for (const key of [...book.holdings.keys()]) {
    if (splitPair(key)[1] === symbol) book.holdings.delete(key)
  }
  for (const [key, holding] of holdings) book.holdings.set(key, holding)
  book.account.set(symbol, account)
  for (const move of moves) moveAllocation(book, symbol, move)
}

function moveAllocation(book: Book, symbol: string, move: Move): void {
  const { positionMode } = book
  if (move.kind === 'adopt') {
    book.account.set(symbol, move.holding)
    for (const change of move.taken) takeFromStrategies(book, symbol, change)
    return
  }
  const { owner, change } = move
  book.account.set(symbol, applyToHolding(positionMode, accountHoldingOf(book, symbol), change))
  if (owner === NOBODY) return takeFromStrategies(book, symbol, change)
  const holding = applyToHolding(positionMode, holdingOf(book, owner, symbol), change)
  // A close that waits for its order holds less than nothing.
  if (isWaiting(move)) book.holdings.set(pairKey(owner, symbol), holding)
  else storeHolding(book, { owner, symbol, holding })
}

/**
 * What a strategy holds after a fill of its own. A close that rested while others took what it was to close has
 * closed what the other strategies held of that leg, or what was nobody's: nobody holds less than nothing.
 */
function storeHolding(
  book: Book,
  { owner, symbol, holding }: { owner: string; symbol: string; holding: Holding },
): void {
  const key = pairKey(owner, symbol)
  if (book.positionMode === 'one_way_mode') {
    const net = netLots(holding)
    book.holdings.set(key, { longLots: Math.max(0, net), shortLots: Math.max(0, -net) })
    return
  }
  const { longLots, shortLots } = holding
  book.holdings.set(key, { longLots: Math.max(0, longLots), shortLots: Math.max(0, shortLots) })
  if (longLots < 0) takeLots(book, symbol, { side: 'buy', tradeSide: 'close', lots: -longLots })
  if (shortLots < 0) takeLots(book, symbol, { side: 'sell', tradeSide: 'close', lots: -shortLots })
}

/** The account has been moved by something that no order of ours explains: a liquidation, somebody's hand. */
function takeFromStrategies(book: Book, symbol: string, change: HoldingChange): void {
  takeLots(book, symbol, { ...change, lots: lotsToTake(book, symbol, change) })
}

function takeLots(book: Book, symbol: string, change: HoldingChange): void {
  let { lots } = change
  for (const key of [...book.holdings.keys()].sort()) {
    if (splitPair(key)[1] !== symbol || lots <= 0) continue
    const holding = book.holdings.get(key) ?? FLAT
    const taken = Math.min(lots, closedBy(book, holding, change))
    if (taken === 0) continue
    book.holdings.set(key, applyToHolding(book.positionMode, holding, { ...change, lots: taken }))
    lots -= taken
  }
}

/** How much of a holding a change of that direction can close, in lots. */
function closedBy({ positionMode }: Book, holding: Holding, { side, tradeSide }: HoldingChange): number {
  if (positionMode === 'one_way_mode') return side === 'buy' ? holding.shortLots : holding.longLots
  if (tradeSide === 'open') return 0
  return Math.max(0, side === 'buy' ? holding.longLots : holding.shortLots)
}

/** Of what the change closed of the account, what was not nobody's. */
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

/** What a change of that direction would close, less than nothing where it opens; in lots. */
function sideOf({ positionMode }: Book, holding: Holding, { side, tradeSide }: HoldingChange): number {
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
