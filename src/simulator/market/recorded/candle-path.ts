/**
 * The points between the prices of a candle. A random path must hold no profit for any rule
 * (docs/simulator.md, "Between the prices of a candle"), and three measures see to that:
 * - A visible extreme would pay for a bet on the way back, so an extreme only matches orders and
 *   triggers.
 * - A path of few large moves gives other candles than one of many small moves. So each candle gets
 *   a shape of the kind (path-shapes.ts) that has such candles more often.
 * - Of several paths, the one is taken that best balances the past (candle-looks.ts).
 */
import { clamp, type Random } from '../../../lib/random.ts'
import { CandleLooks, RULES_COUNT } from './candle-looks.ts'
import { type PathShape, Shapes } from './path-shapes.ts'

export type CandlePathKind = 'random' | 'highFirst' | 'lowFirst'

export interface TickCandle {
  open: number
  high: number
  low: number
  close: number
}

export interface CandlePath {
  readonly prices: Float64Array
  /** Shares of the candle's length, 0 for the first. Two points may be at one instant. */
  readonly times: Float64Array
  readonly lows: Float64Array
  readonly highs: Float64Array
}

export const CANDLE_POINTS_MAX = 16
export const CANDLE_POINTS_MIN = 4

const DRAWN = 4
const OWED_MAX = 60
/** Signs are counted in ones, profits in tenths of a range. */
const GAIN_WEIGHT = 2
const USUAL_CANDLES = 50
const MIX_PACE = 0.01
const COARSE_MIN = 0.02

export interface PathMemory {
  readonly lastTicks: number
  readonly lastSign: number
  readonly signs: number
  readonly within: number
  /**
   * In usual ranges: the profit of following each move, then those of the rules in candle-looks.ts.
   */
  readonly gains: readonly number[]
  readonly usualRange: number
  readonly coarse: number
}

export const NO_PATH: PathMemory = {
  lastTicks: 0,
  lastSign: 0,
  signs: 0,
  within: 0,
  gains: Array(1 + RULES_COUNT).fill(0),
  usualRange: 0,
  coarse: 0.3,
}

interface DrawnPath extends CandlePath {
  laid: ShapePlacement | undefined
  lastSign: number
  signs: number
  within: number
  readonly gains: number[]
}

interface ShapePlacement {
  readonly shape: PathShape
  readonly isFlipped: boolean
  readonly isReversed: boolean
  readonly atOpen: number
  readonly atClose: number
}

export class CandlePaths {
  readonly #kind: CandlePathKind
  readonly #drawn: readonly DrawnPath[]
  readonly #looks = new CandleLooks()
  #memory: PathMemory

  constructor({
    kind,
    points,
    memory,
  }: {
    kind: CandlePathKind
    points: number
    memory: PathMemory
  }) {
    this.#kind = kind
    const isOfOthers = memory.gains.length !== NO_PATH.gains.length
    this.#memory = isOfOthers ? { ...memory, gains: NO_PATH.gains } : memory
    this.#drawn = Array.from({ length: DRAWN }, () => ({
      prices: new Float64Array(points),
      times: new Float64Array(points),
      lows: new Float64Array(points),
      highs: new Float64Array(points),
      laid: undefined,
      lastSign: 0,
      signs: 0,
      within: 0,
      gains: [...NO_PATH.gains],
    }))
  }

  get memory(): PathMemory {
    return this.#memory
  }

  draw(candle: TickCandle, random: Random): CandlePath {
    if (this.#kind !== 'random' || candle.high === candle.low) {
      const [path] = this.#drawn as [DrawnPath]
      fillStraight(path, candle, this.#kind === 'highFirst')
      path.laid = undefined
      layWays(path, candle)
      this.#judge(path, candle)
      this.#memory = { ...this.#memory, lastTicks: candle.close, lastSign: path.lastSign }
      return path
    }
    const path = this.#drawRandom(candle, random)
    layWays(path, candle)
    this.#remember(candle, path)
    return path
  }

  #drawRandom(candle: TickCandle, random: Random): DrawnPath {
    const { usualRange } = this.#memory
    const shapes = this.#kindOf(candle, random)
    const reach = usualRange === 0 ? 1 : (candle.high - candle.low) / usualRange
    let [best] = this.#drawn as [DrawnPath]
    let least = Number.POSITIVE_INFINITY
    for (const drawn of this.#drawn) {
      layShape(drawn, candle, { shapes, reach }, random)
      this.#judge(drawn, candle)
      const owedGains = drawn.gains.reduce((sum, gain) => sum + Math.abs(gain), 0)
      const owed = Math.abs(drawn.signs) + Math.abs(drawn.within) + GAIN_WEIGHT * owedGains
      if (owed < least) [best, least] = [drawn, owed]
    }
    return best
  }

  #kindOf({ open, high, low, close }: TickCandle, random: Random): Shapes {
    const points = this.#drawn[0]?.prices.length ?? 0
    // Both kinds have extremes as extra points at the same times, so that times do not reveal the
    // kind.
    const [smooth, coarse] = [shapesOf('smooth', points - 2), shapesOf('coarse', points - 2)]
    const begin = (open - low) / (high - low)
    const end = (close - low) / (high - low)
    const ofCoarse = this.#memory.coarse * coarse.likelihood(begin, end)
    const ofSmooth = (1 - this.#memory.coarse) * smooth.likelihood(begin, end)
    return random.next() * (ofCoarse + ofSmooth) < ofCoarse ? coarse : smooth
  }

  #judge(path: DrawnPath, { open, high, low }: TickCandle): void {
    const { lastTicks, lastSign, signs, within, gains, usualRange } = this.#memory
    // The data fix the move between candles, so it only gives the sign that is followed next.
    let sign = lastTicks === 0 || lastTicks === open ? lastSign : Math.sign(open - lastTicks)
    let [sameSigns, sameWithin, followed] = [0, 0, 0]
    let signWithin = 0
    let seen = open
    for (let point = 1; point < path.prices.length; point++) {
      if (path.times[point] === path.times[point + 1]) continue
      const move = (path.prices[point] as number) - seen
      seen = path.prices[point] as number
      if (move === 0) continue
      sameSigns += sign * Math.sign(move)
      sameWithin += signWithin * Math.sign(move)
      followed += sign * move
      sign = signWithin = Math.sign(move)
    }
    path.lastSign = sign
    path.signs = clamp(signs + sameSigns, OWED_MAX)
    path.within = clamp(within + sameWithin, OWED_MAX)
    const range = usualRange || high - low || 1
    path.gains[0] = clamp((gains[0] as number) + followed / range, OWED_MAX)
    const brought = this.#looks.follow(path.prices, path.times, range)
    for (let rule = 0; rule < RULES_COUNT; rule++) {
      path.gains[rule + 1] = clamp(
        (gains[rule + 1] as number) + (brought[rule] as number) / range,
        OWED_MAX,
      )
    }
  }

  #remember(
    { open, high, low, close }: TickCandle,
    { prices, times, lastSign, signs, within, gains }: DrawnPath,
  ): void {
    const usualRange = this.#memory.usualRange || high - low
    let brought = 0
    for (let point = 1; point + 1 < prices.length; point++) {
      const price = prices[point] as number
      const share = (times[point + 1] as number) - (times[point] as number)
      brought += share * Math.sign(price - open) * (close - price)
    }
    const coarse = this.#memory.coarse + (MIX_PACE * brought) / usualRange
    this.#memory = {
      lastTicks: close,
      lastSign,
      signs,
      within,
      gains: [...gains],
      usualRange: usualRange + (high - low - usualRange) / USUAL_CANDLES,
      coarse: Math.max(COARSE_MIN, Math.min(1 - COARSE_MIN, coarse)),
    }
  }
}

const SHAPES = new Map<string, Shapes>()

function shapesOf(kind: 'smooth' | 'coarse', points: number): Shapes {
  const name = `${kind} ${points}`
  const shapes = SHAPES.get(name) ?? new Shapes(kind, points)
  SHAPES.set(name, shapes)
  return shapes
}

/** Unchanged, flipped (up with down) or reversed (end with start). */
function layShape(
  path: DrawnPath,
  candle: TickCandle,
  { shapes, reach }: { readonly shapes: Shapes; readonly reach: number },
  random: Random,
): void {
  const { high, low } = candle
  const range = high - low
  const isFlipped = random.next() < 0.5
  const isReversed = random.next() < 0.5
  const open = (isFlipped ? high - candle.open : candle.open - low) / range
  const close = (isFlipped ? high - candle.close : candle.close - low) / range
  const begin = isReversed ? close : open
  const shape = shapes.draw(begin, isReversed ? open : close, reach, random)
  const { prices } = shape
  const moves = prices.length - 1
  const first = prices[isReversed ? moves : 0] as number
  const last = prices[isReversed ? 0 : moves] as number
  const [atOpen, atClose] = [open - first, close - last]
  path.laid = { shape, isFlipped, isReversed, atOpen, atClose }
  const isSmooth = shape.tops.length > 0
  const early = random.next() < 0.5 ? 1 : 0
  const highMove = moveOf(shape.highMove, isReversed, isSmooth ? moves + 1 : moves)
  const lowMove = moveOf(shape.lowMove, isReversed, isSmooth ? moves + 1 : moves)
  const isHighFirst = highMove === lowMove ? shape.isHighFirst !== isReversed : highMove < lowMove
  const highPoint = isSmooth ? Math.max(1, highMove - early) : highMove
  const lowPoint = isSmooth ? Math.max(1, lowMove - early) : lowMove
  let next = 0
  for (let point = 0; point <= moves; point++) {
    const time = point / (moves + 1)
    const isHigh = point === highPoint
    const isLow = point === lowPoint
    if (isLow && !(isHigh && isHighFirst)) put(path, next++, isFlipped ? high : low, time)
    if (isHigh) put(path, next++, isFlipped ? low : high, time)
    if (isLow && isHigh && isHighFirst) put(path, next++, isFlipped ? high : low, time)
    const level = prices[isReversed ? moves - point : point] as number
    const along = point / moves
    const isExtreme = level === 0 || level === 1
    const laid = isExtreme ? level : level + atOpen * (1 - along) + atClose * along
    const price = Math.round(low + range * (isFlipped ? 1 - laid : laid))
    put(path, next++, Math.max(low, Math.min(high, price)), time)
  }
  path.prices[0] = candle.open
  path.prices[path.prices.length - 1] = candle.close
  meetExtremes(path.prices, candle)
}

function layWays({ prices, times, lows, highs, laid }: DrawnPath, { low, high }: TickCandle): void {
  lows.set(prices)
  highs.set(prices)
  if (laid === undefined) return
  const { shape, isFlipped, isReversed, atOpen, atClose } = laid
  const { bottoms, tops } = shape
  const moves = tops.length
  for (let point = 1; point < prices.length && moves > 0; point++) {
    if (times[point] === times[point + 1]) continue
    const move = Math.round((times[point] as number) * (moves + 1))
    const index = isReversed ? moves - move : move - 1
    const along = (move - 0.5) / moves
    const moved = atOpen * (1 - along) + atClose * along
    const down = (bottoms[index] as number) + moved
    const up = (tops[index] as number) + moved
    const bottom = Math.ceil(low + (high - low) * (isFlipped ? 1 - up : down))
    const top = Math.floor(low + (high - low) * (isFlipped ? 1 - down : up))
    lows[point] = Math.min(prices[point] as number, Math.max(low, bottom))
    highs[point] = Math.max(prices[point] as number, Math.min(high, top))
  }
}

function put({ prices, times }: DrawnPath, index: number, price: number, time: number): void {
  prices[index] = price
  times[index] = time
}

function moveOf(move: number, isReversed: boolean, last: number): number {
  return isReversed ? last - move : move
}

/** A coarse shape of other proportions may miss an extreme, so the nearest point is moved there. */
function meetExtremes(prices: Float64Array, { high, low }: { high: number; low: number }): void {
  let [top, bottom] = [1, 1]
  for (let point = 1; point < prices.length - 1; point++) {
    if ((prices[point] as number) > (prices[top] as number)) top = point
    if ((prices[point] as number) <= (prices[bottom] as number)) bottom = point
  }
  if (!prices.includes(high)) prices[top] = high
  if (!prices.includes(low)) prices[bottom === top ? top + 1 : bottom] = low
}

function fillStraight(
  { prices, times }: CandlePath,
  { open, high, low, close }: TickCandle,
  isHighFirst: boolean,
): void {
  const first = isHighFirst ? high : low
  const second = isHighFirst ? low : high
  const last = prices.length - 1
  const lengths = [Math.abs(first - open), high - low, Math.abs(close - second)] as const
  const whole = lengths[0] + lengths[1] + lengths[2]
  const share = (length: number) => (whole === 0 ? 0 : Math.floor(((last - 3) * length) / whole))
  const turn = 1 + share(lengths[0])
  const secondTurn = last - 1 - share(lengths[2])
  fillLine(prices, { from: 0, to: turn, start: open, end: first })
  fillLine(prices, { from: turn, to: secondTurn, start: first, end: second })
  fillLine(prices, { from: secondTurn, to: last, start: second, end: close })
  for (let point = 0; point <= last; point++) times[point] = point / prices.length
}

function fillLine(
  prices: Float64Array,
  { from, to, start, end }: { from: number; to: number; start: number; end: number },
): void {
  for (let point = from; point <= to; point++) {
    prices[point] = Math.round(start + ((end - start) * (point - from)) / (to - from))
  }
}
