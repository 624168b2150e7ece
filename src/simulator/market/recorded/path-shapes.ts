/**
 * Shapes of random paths, always the same, that are fitted into candles of their proportions.
 * - smooth: many small moves; the extremes are between the points
 * - coarse: few moves, some much larger; the extremes are points
 */
import { createRandom, exponential, logarithm, type Random } from '../../../lib/random.ts'

export interface PathShape {
  /** At equal intervals, from open to close; 0 is the lowest and 1 the highest. */
  readonly prices: readonly number[]
  readonly bottoms: readonly number[]
  readonly tops: readonly number[]
  /** Counted from 1; the index of the price if the extreme is one of the prices. */
  readonly highMove: number
  readonly lowMove: number
  readonly isHighFirst: boolean
  /**
   * How wide the shape is, relative to the mean one: a wide shape moved more often in one
   * direction.
   */
  readonly reach: number
}

const SHAPES = 3000
/** Shapes are indexed by open and close, in steps between low and high and both themselves. */
const STEPS = 12
const CELLS = STEPS + 2
const COARSE_SPREAD = 1

export class Shapes {
  readonly #cells: readonly (readonly PathShape[])[]
  readonly #likelihoods: readonly number[]

  constructor(kind: 'smooth' | 'coarse', points: number) {
    const random = createRandom(`${kind} shapes`)
    const cells: PathShape[][] = Array.from({ length: CELLS * CELLS }, () => [])
    let ranges = 0
    for (let count = 1; count <= SHAPES; count++) {
      const { prices, bottoms, tops, high, low, ...moves } =
        kind === 'smooth' ? smooth(points, random) : coarse(points, random)
      ranges += high - low
      const scale = (values: readonly number[]) =>
        values.map((value) => (value - low) / (high - low))
      const scaled = scale(prices)
      const ways = { bottoms: scale(bottoms), tops: scale(tops) }
      const shape = { ...moves, ...ways, prices: scaled, reach: ((high - low) * count) / ranges }
      cells[cellOf(scaled[0] as number, scaled[points - 1] as number)]?.push(shape)
    }
    this.#likelihoods = cells.map((_, index) => likelihoodOf(cells, index))
    this.#cells = cells.map((cell, index) => (cell.length > 0 ? cell : nearestTo(cells, index)))
  }

  likelihood(open: number, close: number): number {
    return this.#likelihoods[cellOf(open, close)] as number
  }

  draw(open: number, close: number, reach: number, random: Random): PathShape {
    const cell = this.#cells[cellOf(open, close)] as readonly PathShape[]
    let nearest = cell[random.integer(cell.length)] as PathShape
    for (let other = 1; other < 3; other++) {
      const shape = cell[random.integer(cell.length)] as PathShape
      if (Math.abs(shape.reach - reach) < Math.abs(nearest.reach - reach)) nearest = shape
    }
    return nearest
  }
}

interface RandomWalk extends Omit<PathShape, 'reach'> {
  readonly high: number
  readonly low: number
}

/** The extremes of a Brownian bridge between two points have an exactly known distribution. */
function smooth(points: number, random: Random): RandomWalk {
  const prices = [0]
  const bottoms: number[] = []
  const tops: number[] = []
  let [high, low, highMove, lowMove] = [0, 0, 0, 0]
  for (let move = 1; move < points; move++) {
    const before = prices[move - 1] as number
    const after = before + random.normal()
    const reach = () => Math.sqrt((after - before) ** 2 - 2 * logarithm(1 - random.next()))
    const top = (before + after + reach()) / 2
    const bottom = (before + after - reach()) / 2
    if (top > high) [high, highMove] = [top, move]
    if (bottom < low) [low, lowMove] = [bottom, move]
    bottoms.push(bottom)
    tops.push(top)
    prices.push(after)
  }
  const isHighFirst = highMove === lowMove ? random.next() < 0.5 : highMove < lowMove
  return { prices, bottoms, tops, high, low, highMove, lowMove, isHighFirst }
}

function coarse(points: number, random: Random): RandomWalk {
  const prices = [0]
  for (let move = 1; move < points; move++) {
    const size = random.normal() * exponential(COARSE_SPREAD * random.normal())
    prices.push((prices[move - 1] as number) + size)
  }
  const [high, low] = [Math.max(...prices), Math.min(...prices)]
  const [highMove, lowMove] = [prices.indexOf(high), prices.indexOf(low)]
  return { prices, bottoms: [], tops: [], high, low, highMove, lowMove, isHighFirst: false }
}

function cellOf(open: number, close: number): number {
  return indexOf(open) * CELLS + indexOf(close)
}

function indexOf(share: number): number {
  if (share <= 0) return 0
  return share >= 1 ? CELLS - 1 : 1 + Math.floor(share * STEPS)
}

/** Never zero, because candles of any proportions need a shape. */
function likelihoodOf(cells: readonly PathShape[][], index: number): number {
  const [open, close] = [Math.floor(index / CELLS), index % CELLS]
  const last = CELLS - 1
  // A flipped path (up with down) or a reversed one (end with start) is equally likely.
  const alike = [
    [open, close],
    [last - open, last - close],
    [close, open],
    [last - close, last - open],
  ] as const
  const count = alike.reduce(
    (sum, [from, to]) => sum + (cells[from * CELLS + to] as PathShape[]).length,
    0,
  )
  return Math.max(0.1, count) / (alike.length * SHAPES)
}

function nearestTo(cells: readonly PathShape[][], index: number): PathShape[] {
  const distance = (other: number) =>
    Math.abs(Math.floor(other / CELLS) - Math.floor(index / CELLS)) +
    Math.abs((other % CELLS) - (index % CELLS))
  const filled = [...cells.keys()].filter((other) => cells[other]?.length !== 0)
  const nearest = filled.reduce((best, other) => (distance(other) < distance(best) ? other : best))
  return cells[nearest] as PathShape[]
}
