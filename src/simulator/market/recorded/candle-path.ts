/**
 * How a candle becomes a path. A candle says its open, high, low and close and nothing of what happened between
 * them, so whatever a strategy could learn from the points between would be an invention of ours.
 *
 *   random     a walk from the open to one extreme, the other one and the close, that never leaves the range.
 *              When the turns come is drawn, and which extreme comes first by how likely each order is for a
 *              price that moves at random
 *   highFirst  straight lines from the open to the high, the low, and the close
 *   lowFirst   straight lines from the open to the low, the high, and the close
 *
 * The last two are the extreme orders: what a strategy earns on either bounds what the unknown path may have
 * brought, and shows how much of a result the candles do not know.
 *
 * A walk that must meet four prices is not free of memory: its next move has more often the sign of the last one,
 * or less often, than chance would have it. So several walks are drawn, and three are taken among which one is
 * chosen with such odds that, on the mean of the three, the next move has neither the sign of the last one nor the
 * opposite, and who follows the last move, or fades it, earns nothing. In a candle that is a tick wide every move
 * is the opposite of the one before: what no three walks can balance, the next candles make up.
 */
import { exponential, likelyValues, normalQuantile, type Random } from '../../../lib/random.ts'

/** How the points between the four prices of a candle are found. */
export const CANDLE_PATHS = ['random', 'highFirst', 'lowFirst'] as const
export type CandlePathKind = (typeof CANDLE_PATHS)[number]

/** Prices in ticks. */
export interface TickCandle {
  open: number
  high: number
  low: number
  close: number
}

/** Points of one candle, enough to walk its levels in small steps. */
export const CANDLE_POINTS_MAX = 16
/** Open, both extremes, close. */
export const CANDLE_POINTS_MIN = 4

/** As many walks are drawn at most; where no three of them will do, the nearest is taken. */
const WALKS_MAX = 32
/** More than so much is not made up, in moves and in ranges of the candle. */
const OWED_MAX = 20
/** The mean range of a price that moves at random, in standard deviations of its move from open to close. */
const MEAN_RANGE = 1.6

/** Normal numbers: computed for each move they took half of a market's time. */
const NORMALS = likelyValues(1024, normalQuantile)
/** What a bridge may still sway by at its next move, by the moves that are left: the root of (left - 1) / left. */
const SWAY = Float64Array.from({ length: CANDLE_POINTS_MAX + 1 }, (_, left) =>
  left === 0 ? 0 : Math.sqrt((left - 1) / left),
)

/** What the candles before have left. */
export interface PathMemory {
  /** The last price, in ticks; 0 when there was none. */
  readonly lastTicks: number
  /** -1, 0 or 1: of the last move. */
  readonly lastSign: number
  /** Not balanced yet: see {@link Walk}. */
  readonly signs: number
  readonly gain: number
}

export const NO_PATH: PathMemory = { lastTicks: 0, lastSign: 0, signs: 0, gain: 0 }

/** One walk, and what a follower of the last move would have met in it, with what is owed from before. */
interface Walk {
  readonly path: Float64Array
  /** Moves with the sign of the one before, less those with the opposite sign. */
  signs: number
  /** What following each move brought, in ticks. */
  gain: number
}

/** Draws the paths of an instrument's candles, one after the other. */
export class CandlePaths {
  readonly #kind: CandlePathKind
  readonly #walks: readonly Walk[]
  #memory: PathMemory

  /** @param points Of each candle, {@link CANDLE_POINTS_MIN} at least. */
  constructor({ kind, points, memory }: { kind: CandlePathKind; points: number; memory: PathMemory }) {
    this.#kind = kind
    this.#memory = memory
    const count = kind === 'random' ? WALKS_MAX : 1
    this.#walks = Array.from({ length: count }, () => ({
      path: new Float64Array(points),
      signs: 0,
      gain: 0,
    }))
  }

  get memory(): PathMemory {
    return this.#memory
  }

  /** @returns the prices of the candle's points, the open first, the close last; valid until the next call. */
  draw(candle: TickCandle, random: Random): Float64Array {
    const lastSign = signAtOpen(this.#memory, candle)
    const { path, signs, gain } = this.#choose(candle, { lastSign, random })
    this.#memory = {
      lastTicks: candle.close,
      lastSign: lastSignOf(path, lastSign),
      signs: clamp(signs, OWED_MAX),
      gain: clamp(gain, OWED_MAX * (candle.high - candle.low)),
    }
    return path
  }

  /** @returns the path, and what it leaves to be made up. */
  #choose(candle: TickCandle, { lastSign, random }: { lastSign: number; random: Random }): Walk {
    const [first] = this.#walks as [Walk]
    const { signs, gain } = this.#memory
    if (this.#kind !== 'random' || candle.high === candle.low) {
      fillStraight(first.path, candle, this.#kind === 'highFirst')
      return { path: first.path, signs, gain }
    }
    const terms = walkTerms(candle, first.path.length)
    const before = { lastSign, signs, gain }
    for (let count = 0; count < this.#walks.length; count++) {
      const walk = this.#walks[count] as Walk
      fillRandom(walk.path, terms, random)
      judge(walk, before)
      const chosen = chooseWith(walk, this.#walks, { count, random })
      if (chosen) return { path: chosen.path, signs: 0, gain: 0 }
    }
    return this.#walks.reduce((least, walk) => (Math.abs(walk.signs) < Math.abs(least.signs) ? walk : least))
  }
}

function clamp(value: number, reach: number): number {
  return Math.max(-reach, Math.min(reach, value))
}

function lastSignOf(path: Float64Array, before: number): number {
  for (let point = path.length - 1; point > 0; point--) {
    const move = (path[point] as number) - (path[point - 1] as number)
    if (move !== 0) return Math.sign(move)
  }
  return before
}

/** The move from one candle to the next is the candles' own; it is only what is followed next. */
function signAtOpen({ lastTicks, lastSign }: PathMemory, { open }: TickCandle): number {
  return lastTicks === 0 || lastTicks === open ? lastSign : Math.sign(open - lastTicks)
}

function judge(walk: Walk, { lastSign, signs, gain }: Omit<PathMemory, 'lastTicks'>): void {
  let sign = lastSign
  walk.signs = signs
  walk.gain = gain
  for (let point = 1; point < walk.path.length; point++) {
    const move = (walk.path[point] as number) - (walk.path[point - 1] as number)
    if (move === 0) continue
    walk.signs += sign * Math.sign(move)
    walk.gain += sign * move
    sign = Math.sign(move)
  }
}

/**
 * Looks for two earlier walks with which the new one has a mean of nothing, and chooses one of the three with
 * the odds of that mean.
 *
 * @param count How many of the walks were drawn before this one.
 */
function chooseWith(
  walk: Walk,
  walks: readonly Walk[],
  { count, random }: { count: number; random: Random },
): Walk | undefined {
  if (walk.signs === 0 && walk.gain === 0) return walk
  for (let first = 0; first < count; first++) {
    for (let second = first + 1; second < count; second++) {
      const [one, other] = [walks[first] as Walk, walks[second] as Walk]
      const odds = [cross(other, walk), cross(walk, one), cross(one, other)] as const
      const sum = odds[0] + odds[1] + odds[2]
      if (sum === 0 || odds.some((part) => part / sum < 0)) continue
      const drawn = random.next() * sum
      // All three have the sign of their sum.
      if (Math.abs(drawn) < Math.abs(odds[0])) return one
      return Math.abs(drawn) < Math.abs(odds[0] + odds[1]) ? other : walk
    }
  }
  return undefined
}

function cross(one: Walk, other: Walk): number {
  return one.signs * other.gain - one.gain * other.signs
}

/** What all walks of one candle have in common. */
interface WalkTerms {
  readonly candle: TickCandle
  readonly chanceOfHighFirst: number
  /** Of one move, in ticks. */
  readonly deviation: number
}

function walkTerms(candle: TickCandle, points: number): WalkTerms {
  const deviation = (candle.high - candle.low) / MEAN_RANGE / Math.sqrt(points - 1)
  return { candle, chanceOfHighFirst: chanceOfHighFirst(candle), deviation }
}

function fillRandom(path: Float64Array, terms: WalkTerms, random: Random): void {
  const { open, high, low, close } = terms.candle
  const last = path.length - 1
  const isHighFirst = random.next() < terms.chanceOfHighFirst
  const first = isHighFirst ? high : low
  const second = isHighFirst ? low : high
  const from = open === first ? 0 : 1
  const to = close === second ? last : last - 1
  // At which points the extremes are met. One that the candle opens or closes at is met there every other time.
  let turn: number
  let secondTurn: number
  do {
    turn = from === 0 && random.next() < 0.5 ? 0 : from + Math.floor(random.next() * (to - from + 1))
    secondTurn =
      to === last && random.next() < 0.5 ? last : from + Math.floor(random.next() * (to - from + 1))
  } while (turn >= secondTurn)
  path[0] = open
  path[turn] = first
  path[secondTurn] = second
  path[last] = close
  fillWalk(path, { from: 0, to: turn }, terms, random)
  fillWalk(path, { from: turn, to: secondTurn }, terms, random)
  fillWalk(path, { from: secondTurn, to: last }, terms, random)
}

/** Of a price that moves at random: a path is the likelier the shorter its way is over both extremes. */
function chanceOfHighFirst({ open, high, low, close }: TickCandle): number {
  const range = high - low
  const chance = (way: number): number => exponential(-0.5 * ((way * MEAN_RANGE) / range) ** 2)
  const highFirst = chance(high - open + range + close - low)
  return highFirst / (highFirst + chance(open - low + range + high - close))
}

interface Leg {
  readonly from: number
  readonly to: number
  readonly start: number
  readonly end: number
}

/** A Brownian bridge between two points that are there, thrown back where it would leave the range of the candle. */
function fillWalk(
  path: Float64Array,
  { from, to }: { readonly from: number; readonly to: number },
  { candle: { high, low }, deviation }: WalkTerms,
  random: Random,
): void {
  const end = path[to] as number
  let price = path[from] as number
  for (let point = from + 1; point < to; point++) {
    const left = to - point + 1
    price += (end - price) / left + deviation * (SWAY[left] as number) * random.pick(NORMALS)
    if (price > high) price = Math.max(low, 2 * high - price)
    if (price < low) price = Math.min(high, 2 * low - price)
    path[point] = Math.round(price)
  }
}

/** The points are shared out to the three lines by their lengths, at least one each. */
function fillStraight(
  path: Float64Array,
  { open, high, low, close }: TickCandle,
  isHighFirst: boolean,
): void {
  const first = isHighFirst ? high : low
  const second = isHighFirst ? low : high
  const last = path.length - 1
  const lengths = [Math.abs(first - open), high - low, Math.abs(close - second)] as const
  const whole = lengths[0] + lengths[1] + lengths[2]
  const share = (length: number) => (whole === 0 ? 0 : Math.floor(((last - 3) * length) / whole))
  const turn = 1 + share(lengths[0])
  const secondTurn = last - 1 - share(lengths[2])
  fillLine(path, { from: 0, to: turn, start: open, end: first })
  fillLine(path, { from: turn, to: secondTurn, start: first, end: second })
  fillLine(path, { from: secondTurn, to: last, start: second, end: close })
}

function fillLine(path: Float64Array, { from, to, start, end }: Leg): void {
  for (let point = from; point <= to; point++) {
    path[point] = Math.round(start + ((end - start) * (point - from)) / (to - from))
  }
}
