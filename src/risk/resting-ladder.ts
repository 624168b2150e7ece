import type { MoveDirection } from '../domain/worst-case.ts'

/** An order that rests, as a move of the market meets it. */
export interface Rung {
  /** Quote coin; undefined: it is filled at once, at any price. */
  readonly price: number | undefined
  /** Base coin: what it opens, and what it closes of the other side. One of the two is zero; below zero takes one away. */
  readonly opening: number
  readonly closing: number
}

/** What a move has filled on one side: sizes in the base coin, and their average price. */
export interface FilledRungs {
  readonly opening: number
  readonly closing: number
  readonly price: number
}

/** The orders of one side, nearest first, with running sums: what a move fills is found by halving. */
export interface RestingLadder {
  readonly direction: MoveDirection
  readonly prices: Float64Array
  /** Sums over the rung and all nearer ones. */
  readonly opening: Float64Array
  readonly closing: Float64Array
  readonly cost: Float64Array
  /** What is filled at once. */
  readonly atOnce: { readonly opening: number; readonly closing: number }
}

/** @param direction `down` fills buys, `up` fills sells. */
export function buildLadder(direction: MoveDirection, rungs: readonly Rung[]): RestingLadder {
  const priced = rungs.flatMap(({ price, ...sizes }) => (price === undefined ? [] : [{ price, ...sizes }]))
  const sign = direction === 'down' ? -1 : 1
  priced.sort((one, other) => sign * (one.price - other.price))
  const sums = { opening: 0, closing: 0, cost: 0 }
  const ladder = {
    prices: new Float64Array(priced.length),
    opening: new Float64Array(priced.length),
    closing: new Float64Array(priced.length),
    cost: new Float64Array(priced.length),
  }
  for (const [index, { price, opening, closing }] of priced.entries()) {
    sums.opening += opening
    sums.closing += closing
    sums.cost += price * (opening + closing)
    ladder.prices[index] = price
    ladder.opening[index] = sums.opening
    ladder.closing[index] = sums.closing
    ladder.cost[index] = sums.cost
  }
  const atOnce = { opening: 0, closing: 0 }
  for (const { price, opening, closing } of rungs) {
    if (price !== undefined) continue
    atOnce.opening += opening
    atOnce.closing += closing
  }
  return { direction, ...ladder, atOnce }
}

/**
 * What a move of the market from one price to another fills.
 * @param more Orders that came since the ladder was built.
 */
export function fillLadder(
  ladder: RestingLadder,
  { from, to }: { readonly from: number; readonly to: number },
  more: readonly Rung[],
): FilledRungs {
  const { direction, prices, atOnce } = ladder
  const isReached = (price: number): boolean => (direction === 'down' ? price >= to : price <= to)
  let [low, high] = [0, prices.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isReached(prices[middle] ?? Number.NaN)) low = middle + 1
    else high = middle
  }
  let opening = atOnce.opening + (ladder.opening[low - 1] ?? 0)
  let closing = atOnce.closing + (ladder.closing[low - 1] ?? 0)
  let cost = (atOnce.opening + atOnce.closing) * from + (ladder.cost[low - 1] ?? 0)
  for (const rung of more) {
    if (rung.price !== undefined && !isReached(rung.price)) continue
    opening += rung.opening
    closing += rung.closing
    cost += (rung.price ?? from) * (rung.opening + rung.closing)
  }
  const size = opening + closing
  return { opening, closing, price: size > 0 ? cost / size : from }
}
