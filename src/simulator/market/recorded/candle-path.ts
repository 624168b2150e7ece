/**
 * How a candle becomes a path. A candle says its open, high, low and close and nothing of what happened between
 * them, so whatever a strategy could learn from the points between would be an invention of ours.
 *
 *   random     a price that moves at random and has such a candle (path-shapes.ts)
 *   highFirst  straight lines from the open to the high, the low, and the close
 *   lowFirst   straight lines from the open to the low, the high, and the close
 *
 * The last two are the extreme orders: what a strategy earns on either bounds what the unknown path may have
 * brought, and shows how much of a result the candles do not know.
 *
 * Nobody earns on a random path because three things are seen to:
 * - An extreme that everybody could look at would pay who bets on the way back. So it is there for an instant, at
 *   the time of the point after it: resting orders and triggers meet it, nobody sees it.
 * - Prices that move in few large steps (thin markets) have other candles than such as move in many small ones. A
 *   candle is laid out by the kind of shapes that has such candles more often. The mix of the two follows the candles:
 *   it is such that the distance from a candle's open says nothing of the rest of the way.
 * - Of several paths the one is taken with which, over all candles and within them alone, the next move has neither
 *   the sign of the last one nor the opposite, and following or fading it brings nothing; nor does following what has
 *   moved between two looks at a candle (candle-looks.ts).
 */
import { clamp, type Random } from '../../../lib/random.ts'
import { CandleLooks, RULES_COUNT } from './candle-looks.ts'
import { type Shape, Shapes } from './path-shapes.ts'

/** How the points between the four prices of a candle are found. */
export type CandlePathKind = 'random' | 'highFirst' | 'lowFirst'

/** Prices in ticks. */
export interface TickCandle {
  open: number
  high: number
  low: number
  close: number
}

/** The points of a candle. */
export interface CandlePath {
  /** In ticks: the open first, the close last. */
  readonly prices: Float64Array
  /** When each is there, as a share of the candle: 0 the first. Two of them may be at one instant. */
  readonly times: Float64Array
  /** How far down and up the price went on the way to each from the one before, in ticks. */
  readonly lows: Float64Array
  readonly highs: Float64Array
}

/** Points of one candle, enough to walk its levels in small steps. */
export const CANDLE_POINTS_MAX = 16
/** Open, both extremes, close. */
export const CANDLE_POINTS_MIN = 4

/** So many paths are laid into a candle; one is taken. */
const DRAWN = 4
/** More than so much is not made up, in moves and in usual ranges. */
const OWED_MAX = 60
/** What following brings is owed in ranges, a few tenths each candle; signs are counted. */
const GAIN_WEIGHT = 2
/** Candles that the usual range is the mean of. */
const USUAL_CANDLES = 50
/** How fast the mix follows what the distance from the open brought, in usual ranges. */
const MIX_PACE = 0.01
/** No candle is of one kind for certain. */
const COARSE_MIN = 0.02

/** What the candles before have left. */
export interface PathMemory {
  /** The last price, in ticks; 0 when there was none. */
  readonly lastTicks: number
  /** -1, 0 or 1: of the last move. */
  readonly lastSign: number
  /** Moves with the sign of the one before, less those with the opposite sign. */
  readonly signs: number
  /** The same of pairs of moves within one candle. */
  readonly within: number
  /** In usual ranges: what following each move brought, and then what each rule of candle-looks.ts did. */
  readonly gains: readonly number[]
  /** The mean range of the last candles, in ticks. */
  readonly usualRange: number
  /** The share of paths that are coarse, before a candle is seen. */
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

interface Drawn extends CandlePath {
  /** How its shape was laid; undefined of straight lines. */
  laid: Laid | undefined
  lastSign: number
  signs: number
  within: number
  readonly gains: number[]
}

interface Laid {
  readonly shape: Shape
  readonly isFlipped: boolean
  readonly isReversed: boolean
  /** Of the shape, how far it was moved to meet the candle's open and close. */
  readonly atOpen: number
  readonly atClose: number
}

/** Draws the paths of an instrument's candles, one after the other. */
export class CandlePaths {
  readonly #kind: CandlePathKind
  readonly #drawn: readonly Drawn[]
  readonly #looks = new CandleLooks()
  #memory: PathMemory

  /** @param points Of each candle, {@link CANDLE_POINTS_MIN} at least. */
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
    // Stored by a version with other rules.
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

  /** @returns the candle's points; valid until the next call. */
  draw(candle: TickCandle, random: Random): CandlePath {
    if (this.#kind !== 'random' || candle.high === candle.low) {
      const [path] = this.#drawn as [Drawn]
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

  #drawRandom(candle: TickCandle, random: Random): Drawn {
    const { usualRange } = this.#memory
    const shapes = this.#kindOf(candle, random)
    // The range of the candle, in usual ranges.
    const reach = usualRange === 0 ? 1 : (candle.high - candle.low) / usualRange
    let [best] = this.#drawn as [Drawn]
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

  /** A candle that one kind of path rarely has, as one that opens at its low, is laid out by the other kind. */
  #kindOf({ open, high, low, close }: TickCandle, random: Random): Shapes {
    const points = this.#drawn[0]?.prices.length ?? 0
    // The extremes are points beside its own: for both kinds at the same times, or these would tell them apart.
    const [smooth, coarse] = [shapesOf('smooth', points - 2), shapesOf('coarse', points - 2)]
    const begin = (open - low) / (high - low)
    const end = (close - low) / (high - low)
    const ofCoarse = this.#memory.coarse * coarse.likelihood(begin, end)
    const ofSmooth = (1 - this.#memory.coarse) * smooth.likelihood(begin, end)
    return random.next() * (ofCoarse + ofSmooth) < ofCoarse ? coarse : smooth
  }

  /** What would be owed after this path. */
  #judge(path: Drawn, { open, high, low }: TickCandle): void {
    const { lastTicks, lastSign, signs, within, gains, usualRange } = this.#memory
    // The move from one candle to the next is the candles' own; it is only what is followed next.
    let sign = lastTicks === 0 || lastTicks === open ? lastSign : Math.sign(open - lastTicks)
    let [sameSigns, sameWithin, followed] = [0, 0, 0]
    let signWithin = 0
    let seen = open
    for (let point = 1; point < path.prices.length; point++) {
      // An extreme that nobody sees.
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
    { prices, times, lastSign, signs, within, gains }: Drawn,
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

/** Drawn when they are first needed. */
function shapesOf(kind: 'smooth' | 'coarse', points: number): Shapes {
  const name = `${kind} ${points}`
  const shapes = SHAPES.get(name) ?? new Shapes(kind, points)
  SHAPES.set(name, shapes)
  return shapes
}

/** Lays a shape into a candle: as it is or turned round, up with down, or the end with the start. */
function layShape(
  path: Drawn,
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

/** How far the path that is taken went between its points, which only resting orders meet. */
function layWays({ prices, times, lows, highs, laid }: Drawn, { low, high }: TickCandle): void {
  lows.set(prices)
  highs.set(prices)
  if (laid === undefined) return
  const { shape, isFlipped, isReversed, atOpen, atClose } = laid
  const { bottoms, tops } = shape
  const moves = tops.length
  for (let point = 1; point < prices.length && moves > 0; point++) {
    // An extreme comes on the way to the point of the same instant.
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

function put({ prices, times }: Drawn, index: number, price: number, time: number): void {
  prices[index] = price
  times[index] = time
}

/** In which move of a shape, or at which of its prices, an extreme is met; it may be turned round. */
function moveOf(move: number, isReversed: boolean, last: number): number {
  return isReversed ? last - move : move
}

/** A coarse shape of other proportions may have missed an extreme: then the point nearest to it is there. */
function meetExtremes(prices: Float64Array, { high, low }: { high: number; low: number }): void {
  let [top, bottom] = [1, 1]
  for (let point = 1; point < prices.length - 1; point++) {
    if ((prices[point] as number) > (prices[top] as number)) top = point
    if ((prices[point] as number) <= (prices[bottom] as number)) bottom = point
  }
  if (!prices.includes(high)) prices[top] = high
  if (!prices.includes(low)) prices[bottom === top ? top + 1 : bottom] = low
}

/** The points are shared out to the three lines by their lengths, at least one each. */
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
