import { type Fill } from '../domain/fill.ts'
import { applyToHolding, FLAT, type Holding, type HoldingChange, netLots } from '../domain/position.ts'
import { accountHoldingOf, type Book, splitPair } from './book.ts'

/**
 * The account moved by something that no order of ours explains: a liquidation, a delivery, somebody's hand.
 * What it closes is first what nobody here holds, then what the strategies hold, in the order of their names;
 * so what they believe to hold together never outgrows what is there. What it opens is nobody's.
 *
 * Called after the account itself has been moved.
 */
export function takeFromHolders(book: Book, symbol: string, change: HoldingChange): void {
  let lots = Math.min(change.lots, missingLots(book, symbol, change))
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
  return side === 'buy' ? holding.longLots : holding.shortLots
}

/** By how many lots the strategies, and fills that wait for their order, claim more than the account holds. */
function missingLots(book: Book, symbol: string, { side }: HoldingChange): number {
  const claimed = claimedHolding(book, symbol)
  const account = accountHoldingOf(book, symbol)
  if (book.positionMode === 'one_way_mode') {
    const missing = netLots(claimed) - netLots(account)
    return Math.max(0, side === 'sell' ? missing : -missing)
  }
  const missing = side === 'buy' ? claimed.longLots - account.longLots : claimed.shortLots - account.shortLots
  return Math.max(0, missing)
}

function claimedHolding(book: Book, symbol: string): Holding {
  let claimed: Holding = FLAT
  for (const [key, holding] of book.holdings) {
    if (splitPair(key)[1] === symbol) claimed = addHoldings(claimed, holding)
  }
  const orphans: readonly Fill[] = [...book.orphans.values()].flat().filter((fill) => fill.symbol === symbol)
  return orphans.reduce((sum, fill) => applyToHolding(book.positionMode, sum, fill), claimed)
}

function addHoldings(one: Holding, other: Holding): Holding {
  return { longLots: one.longLots + other.longLots, shortLots: one.shortLots + other.shortLots }
}
