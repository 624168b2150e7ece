import type { MoveDirection } from '../domain/worst-case.ts'

/** A resting order, as a market move fills it. */
export interface Rung {
  /** Quote coin; undefined: filled at once, at any price. */
  readonly price: number | undefined
  /**
   * Base coin: the size that it opens, and the size that it closes of the other side. One of the
   * two is zero; a negative size removes an order.
   */
  readonly opening: number
  readonly closing: number
}

/**
 * The orders of one side that a move has filled: sizes in the base coin, and their average price.
 */
export interface FilledRungs {
  readonly opening: number
  readonly closing: number
  readonly price: number
}

/**
 * The orders of one side as columns, in any order, with their sums: a move mostly reaches all of
 * them or none, and sorting for the other cases costs more than scanning.
 */
export interface RestingLadder {
  readonly direction: MoveDirection
  /** NaN: filled at once. */
  readonly prices: number[]
  readonly opening: number[]
  readonly closing: number[]
  /** The first and the last price on the way of a move. */
  nearest: number
  farthest: number
  /** Sums over all orders; orders that are filled at once are not part of the cost. */
  readonly sums: { opening: number; closing: number; cost: number; sizeAtOnce: number }
}

/** @param direction `down` fills buys, `up` fills sells. */
export function createLadder(direction: MoveDirection): RestingLadder {
  const isDown = direction === 'down'
  return {
    direction,
    prices: [],
    opening: [],
    closing: [],
    nearest: isDown ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY,
    farthest: isDown ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY,
    sums: { opening: 0, closing: 0, cost: 0, sizeAtOnce: 0 },
  }
}

export function addRung(
  ladder: RestingLadder,
  { price = Number.NaN, opening, closing }: Rung,
): void {
  const { sums } = ladder
  ladder.prices.push(price)
  ladder.opening.push(opening)
  ladder.closing.push(closing)
  sums.opening += opening
  sums.closing += closing
  if (Number.isNaN(price)) {
    sums.sizeAtOnce += opening + closing
    return
  }
  sums.cost += price * (opening + closing)
  const isDown = ladder.direction === 'down'
  ladder.nearest = isDown ? Math.max(ladder.nearest, price) : Math.min(ladder.nearest, price)
  ladder.farthest = isDown ? Math.min(ladder.farthest, price) : Math.max(ladder.farthest, price)
}

/**
 * Finds the orders that a move from one price to another fills.
 * @param more Orders that came since the ladder was built.
 */
export function fillLadder(
  ladder: RestingLadder,
  { from, to }: { readonly from: number; readonly to: number },
  more: readonly Rung[],
): FilledRungs {
  const isDown = ladder.direction === 'down'
  let { opening, closing, cost } = sumReached(ladder, from, to)
  for (const rung of more) {
    if (rung.price !== undefined && (isDown ? rung.price < to : rung.price > to)) continue
    opening += rung.opening
    closing += rung.closing
    cost += (rung.price ?? from) * (rung.opening + rung.closing)
  }
  const size = opening + closing
  return { opening, closing, price: size > 0 ? cost / size : from }
}

interface ReachedSums {
  opening: number
  closing: number
  cost: number
}

function sumReached(ladder: RestingLadder, from: number, to: number): ReachedSums {
  const { prices, nearest, farthest, sums } = ladder
  const isDown = ladder.direction === 'down'
  const isAllReached = isDown ? farthest >= to : farthest <= to
  if (isAllReached)
    return {
      opening: sums.opening,
      closing: sums.closing,
      cost: sums.cost + sums.sizeAtOnce * from,
    }
  const reached = { opening: 0, closing: 0, cost: 0 }
  const isNoneReached = isDown ? nearest < to : nearest > to
  if (isNoneReached && sums.sizeAtOnce === 0) return reached
  for (let index = 0; index < prices.length; index++) {
    const price = prices[index] ?? Number.NaN
    // The comparison is false for NaN, so an order that is filled at once always counts.
    if (isDown ? price < to : price > to) continue
    const opening = ladder.opening[index] ?? 0
    const closing = ladder.closing[index] ?? 0
    reached.opening += opening
    reached.closing += closing
    reached.cost += (Number.isNaN(price) ? from : price) * (opening + closing)
  }
  return reached
}
