import type { Instrument } from '../domain/instrument.ts'
import { isClosing, type OrderAction } from '../domain/order-action.ts'
import type { MoveDirection } from '../domain/worst-case.ts'
import { floatOnGrid } from '../lib/grid.ts'

export interface Rung {
  /** Undefined: filled at once, at any price. */
  readonly ticks: number | undefined
  /** Lots that it opens, or closes of the other side. Negative lots remove an order. */
  readonly opening: number
  readonly closing: number
}

export interface SizedOrder {
  readonly action: OrderAction
  readonly lots: number
  readonly ticks?: number | undefined
}

/** @param isNet one-way mode: the closing part follows from all orders together */
export function toRung({ action, lots, ticks }: SizedOrder, isNet: boolean): Rung {
  const closes = isClosing(action) && !isNet
  return { ticks, opening: closes ? 0 : lots, closing: closes ? lots : 0 }
}

/** Sizes in the base coin. */
export interface FilledRungs {
  readonly opening: number
  readonly closing: number
  readonly price: number
}

type LadderGrids = Pick<Instrument, 'tick' | 'lot'>

/**
 * One side's orders as columns by price, the first to be met in front. Sums behind a changed price
 * are computed again on demand.
 *
 * Lots and ticks are integers and each sum follows from the one before, so sums are equal to the
 * last bit in whatever order orders came.
 */
export interface RestingLadder {
  readonly direction: MoveDirection
  readonly grids: LadderGrids
  readonly prices: LadderColumns
  readonly atOnce: { opening: number; closing: number }
  /** Sums over each price and all before it. */
  readonly sums: {
    readonly opening: number[]
    readonly closing: number[]
    /** Ticks times lots. */
    readonly cost: number[]
    /** So many sums hold. */
    upTo: number
  }
}

interface LadderColumns {
  readonly ticks: number[]
  /** Quote coin. */
  readonly price: number[]
  readonly opening: number[]
  readonly closing: number[]
}

/** @param direction `down` fills buys, `up` fills sells */
export function createLadder(direction: MoveDirection, { tick, lot }: LadderGrids): RestingLadder {
  return {
    direction,
    grids: { tick, lot },
    prices: { ticks: [], price: [], opening: [], closing: [] },
    atOnce: { opening: 0, closing: 0 },
    sums: { opening: [], closing: [], cost: [], upTo: 0 },
  }
}

/** Negative lots remove an order. */
export function addRung(ladder: RestingLadder, { ticks, opening, closing }: Rung): void {
  const { atOnce, prices, sums } = ladder
  if (ticks === undefined) {
    atOnce.opening += opening
    atOnce.closing += closing
    return
  }
  const at = placeOf(ladder, ticks)
  sums.upTo = Math.min(sums.upTo, at)
  if (prices.ticks[at] !== ticks) {
    prices.ticks.splice(at, 0, ticks)
    prices.price.splice(at, 0, floatOnGrid(ladder.grids.tick, ticks))
    prices.opening.splice(at, 0, opening)
    prices.closing.splice(at, 0, closing)
    return
  }
  const opens = (prices.opening[at] ?? 0) + opening
  const closes = (prices.closing[at] ?? 0) + closing
  prices.opening[at] = opens
  prices.closing[at] = closes
  if (opens === 0 && closes === 0)
    for (const column of [prices.ticks, prices.price, prices.opening, prices.closing])
      column.splice(at, 1)
}

function placeOf({ direction, prices: { ticks: column } }: RestingLadder, ticks: number): number {
  const isDown = direction === 'down'
  let [from, to] = [0, column.length]
  while (from < to) {
    const middle = (from + to) >> 1
    const other = column[middle] ?? Number.NaN
    if (isDown ? other > ticks : other < ticks) from = middle + 1
    else to = middle
  }
  return from
}

/** @param more orders that came since the ladder was built */
export function fillLadder(
  ladder: RestingLadder,
  { from, to }: { readonly from: number; readonly to: number },
  more: readonly Rung[],
): FilledRungs {
  const { atOnce, sums, direction, grids } = ladder
  const isDown = direction === 'down'
  const count = countReached(ladder, to)
  sumUpTo(ladder, count)
  let { opening, closing } = atOnce
  let lotsAtOnce = opening + closing
  let cost = 0
  if (count > 0) {
    opening += sums.opening[count - 1] ?? 0
    closing += sums.closing[count - 1] ?? 0
    cost = sums.cost[count - 1] ?? 0
  }
  for (const rung of more) {
    const lots = rung.opening + rung.closing
    if (rung.ticks === undefined) {
      lotsAtOnce += lots
    } else {
      const price = floatOnGrid(grids.tick, rung.ticks)
      if (!isReached(price, to, isDown)) continue
      cost += rung.ticks * lots
    }
    opening += rung.opening
    closing += rung.closing
  }
  const lots = opening + closing
  return {
    opening: floatOnGrid(grids.lot, opening),
    closing: floatOnGrid(grids.lot, closing),
    price: lots > 0 ? (floatOnGrid(grids.tick, cost) + lotsAtOnce * from) / lots : from,
  }
}

/** A move mostly reaches all prices or none, so these are tried first. */
function countReached({ direction, prices: { price: column } }: RestingLadder, to: number): number {
  const isDown = direction === 'down'
  const count = column.length
  if (count === 0 || isReached(column[count - 1], to, isDown)) return count
  if (!isReached(column[0], to, isDown)) return 0
  let reached = 0
  let beyond = count - 1
  while (beyond - reached > 1) {
    const middle = (reached + beyond) >> 1
    if (isReached(column[middle], to, isDown)) reached = middle
    else beyond = middle
  }
  return beyond
}

function isReached(price = Number.NaN, to: number, isDown: boolean): boolean {
  return !(isDown ? price < to : price > to)
}

export function sumUpTo({ prices, sums }: RestingLadder, count: number): void {
  let at = sums.upTo
  if (at >= count) return
  let opening = at === 0 ? 0 : (sums.opening[at - 1] ?? 0)
  let closing = at === 0 ? 0 : (sums.closing[at - 1] ?? 0)
  let cost = at === 0 ? 0 : (sums.cost[at - 1] ?? 0)
  for (; at < count; at++) {
    const opens = prices.opening[at] ?? 0
    const closes = prices.closing[at] ?? 0
    sums.opening[at] = opening += opens
    sums.closing[at] = closing += closes
    sums.cost[at] = cost += (prices.ticks[at] ?? 0) * (opens + closes)
  }
  sums.upTo = count
}
