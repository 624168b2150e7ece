import { applyToHolding, FLAT, type Holding, type HoldingChange, netLots } from '../domain/position.ts'
import { type Fill } from '../domain/fill.ts'
import { type OrderId } from '../domain/ids.ts'
import { type OrderTerms } from '../domain/order.ts'
import { accountHoldingOf, type Book, holdingOf, pairKey, splitPair } from './book.ts'

/**
 * The account moved by something that no order of ours explains: a liquidation, a delivery, somebody's hand.
 * What it closes of the account is first what nobody here holds, then what the strategies hold, in the order of
 * their names; so what they believe to hold together never outgrows what is there. What it opens is nobody's.
 * Fills that wait for their order hold what they moved until it is known: what was closed of that is gone for
 * whoever owns it.
 *
 * Called after the account itself has been moved.
 */
export function takeFromHolders(book: Book, symbol: string, change: HoldingChange): void {
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
  // A close that waits for its order holds less than nothing.
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

/** A fill that nobody owns yet is held under the orderId, behind the strategies in the order of names. */
export function holdOrphan(book: Book, fill: Fill): void {
  const key = orphanKey(fill.orderId, fill.symbol)
  book.holdings.set(key, applyToHolding(book.positionMode, book.holdings.get(key) ?? FLAT, fill))
}

export function orphanKey(orderId: OrderId, symbol: string): string {
  return pairKey(`~${orderId}`, symbol)
}

/** Whoever turned out to own the fills holds what is left of them. */
export function giveOrphans(book: Book, orderId: OrderId, fills: readonly Fill[]): void {
  const clientOid = book.byOrderId.get(orderId)
  const terms = clientOid === undefined ? undefined : book.orders.get(clientOid)?.terms
  if (!terms) return
  const { positionMode } = book
  const key = orphanKey(orderId, terms.symbol)
  // A checkpoint of an earlier version holds nothing for them.
  const left =
    book.holdings.get(key) ??
    fills.reduce((sum: Holding, fill) => applyToHolding(positionMode, sum, fill), FLAT)
  book.holdings.delete(key)
  storeHolding(book, terms, addHoldings(holdingOf(book, terms.strategyId, terms.symbol), left))
}

/**
 * What a strategy holds after a fill of its own. A close that rested while others took what it was to close has
 * closed what the other strategies held of that leg, or what was nobody's: nobody holds less than nothing.
 */
export function storeHolding(
  book: Book,
  { strategyId, symbol }: Pick<OrderTerms, 'strategyId' | 'symbol'>,
  holding: Holding,
): void {
  const key = pairKey(strategyId, symbol)
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
