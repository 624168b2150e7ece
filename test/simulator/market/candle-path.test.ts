import { describe, expect, it } from 'vitest'
import { createRandom, type Random } from '../../../src/lib/random.ts'
import {
  type CandlePathKind,
  CandlePaths,
  NO_PATH,
  type TickCandle,
} from '../../../src/simulator/market/recorded/candle-path.ts'

const POINTS = 16

function paths(kind: CandlePathKind, points = POINTS): CandlePaths {
  return new CandlePaths({ kind, points, memory: NO_PATH })
}

function draw(
  kind: CandlePathKind,
  [open, high, low, close]: readonly [number, number, number, number],
  { points = POINTS, seed = 'path' }: { points?: number; seed?: string } = {},
): number[] {
  return [...paths(kind, points).draw({ open, high, low, close }, createRandom(seed)).prices]
}

/** Candles of a price that moves at random, by many small steps each. */
function randomWalkCandles(
  random: Random,
  { count, deviation }: { count: number; deviation: number },
): TickCandle[] {
  let price = 1_000_000
  return Array.from({ length: count }, () => {
    const candle = {
      open: Math.round(price),
      high: Math.round(price),
      low: Math.round(price),
      close: 0,
    }
    for (let step = 0; step < 60; step++) {
      price += deviation * random.normal()
      candle.high = Math.max(candle.high, Math.round(price))
      candle.low = Math.min(candle.low, Math.round(price))
    }
    return { ...candle, close: Math.round(price) }
  })
}

/** Candles of a price that stands still between its jumps. @param jumps A minute; 0 for a random walk. */
function jumpingCandles(
  random: Random,
  { count, jumps }: { count: number; jumps: number },
): TickCandle[] {
  let price = 1_000_000
  const steps = 60
  return Array.from({ length: count }, () => {
    const candle = {
      open: Math.round(price),
      high: Math.round(price),
      low: Math.round(price),
      close: 0,
    }
    for (let step = 0; step < steps; step++) {
      if (jumps === 0) price += 13 * random.normal()
      else if (random.next() < jumps / steps)
        price += 13 * Math.sqrt(steps / jumps) * random.normal()
      candle.high = Math.max(candle.high, Math.round(price))
      candle.low = Math.min(candle.low, Math.round(price))
    }
    return { ...candle, close: Math.round(price) }
  })
}

/** Candles that trend from end to end, and such as turn at their wicks. */
function extremeCandles(random: Random, count: number): TickCandle[] {
  return Array.from({ length: count }, (_, index) => {
    const open = 50_000 + random.integer(1000)
    const reach = 1 + random.integer(400)
    if (index % 3 === 0) return { open, high: open + reach, low: open, close: open + reach }
    if (index % 3 === 1) return { open, high: open + reach, low: open - reach, close: open }
    return { open, high: open, low: open - reach, close: open - Math.floor(reach / 2) }
  })
}

/** The moves within candles, each with the one before it, which may lead from one candle to the next. */
function movesOf(
  candles: readonly TickCandle[],
  seed: string,
): { move: number; before: number; isWithin: boolean }[] {
  const all = paths('random')
  const random = createRandom(seed)
  let [price, before] = [candles[0]?.open ?? 0, 0]
  return candles.flatMap((candle) => {
    let isWithin = false
    const { prices, times } = all.draw(candle, random)
    return [...prices].flatMap((next, point) => {
      if (times[point] === times[point + 1]) return []
      const pair = { move: next - price, before, isWithin }
      price = next
      if (pair.move === 0) return []
      before = pair.move
      isWithin = point > 0
      return point === 0 ? [] : [pair]
    })
  })
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** What a rule brings a move, and how many standard errors that is from nothing. */
function outcome(gains: readonly number[]): number {
  const mean = meanOf(gains)
  const variance = meanOf(gains.map((gain) => (gain - mean) ** 2))
  return mean / Math.sqrt(variance / gains.length)
}

describe('a random path', () => {
  it('has the four prices of its candle, and no other beyond them', () => {
    const random = createRandom('four prices')
    const all = paths('random')
    const candles = [
      ...randomWalkCandles(random, { count: 500, deviation: 8 }),
      ...extremeCandles(random, 500),
    ]

    for (const candle of candles) {
      const path = [...all.draw(candle, random).prices]
      expect([path[0], Math.max(...path), Math.min(...path), path.at(-1)]).toEqual([
        candle.open,
        candle.high,
        candle.low,
        candle.close,
      ])
      expect(path.every(Number.isInteger)).toBe(true)
    }
  })

  it('begins its accounts anew where the memory is of a version with other rules', () => {
    const candle = { open: 100, high: 190, low: 20, close: 80 }
    const of = (gains: readonly number[]) =>
      new CandlePaths({ kind: 'random', points: POINTS, memory: { ...NO_PATH, gains } })
    const [all, shorter] = [of(NO_PATH.gains), of([3])]
    const drawn = [all, shorter].map((one) => [...one.draw(candle, createRandom('memory')).prices])

    expect(drawn[1]).toEqual(drawn[0])
    expect(shorter.memory).toEqual(all.memory)
  })

  it('shows by no time at which it moves how many moves it has', () => {
    const random = createRandom('times')
    const all = paths('random')
    const times = new Set<string>()
    for (const candle of randomWalkCandles(random, { count: 500, deviation: 8 }))
      times.add([...new Set(all.draw(candle, random).times)].join())

    expect([...times]).toEqual([
      Array.from({ length: POINTS - 2 }, (_, look) => look / (POINTS - 2)).join(),
    ])
  })

  it('fits into four points, and stands still in a candle without a range', () => {
    for (let seed = 0; seed < 50; seed++) {
      const path = draw('random', [100, 110, 70, 80], { points: 4, seed: String(seed) })
      expect([
        [100, 110, 70, 80],
        [100, 70, 110, 80],
      ]).toContainEqual(path)
    }
    expect(draw('random', [5, 5, 5, 5])).toEqual(Array(POINTS).fill(5))
  })

  it('is another one with another seed, and the same with the same', () => {
    const candle = [100, 190, 20, 80] as const

    expect(draw('random', candle)).toEqual(draw('random', candle))
    expect(draw('random', candle, { seed: 'other' })).not.toEqual(draw('random', candle))
  })

  it('meets the nearer extreme first more often, and neither always', () => {
    const candle = [100, 115, 60, 75] as const

    const highFirst = Array.from({ length: 500 }, (_, seed) => {
      const path = draw('random', candle, { seed: String(seed) })
      return path.indexOf(115) < path.indexOf(60)
    }).filter(Boolean).length

    expect(highFirst).toBeGreaterThan(300)
    expect(highFirst).toBeLessThan(490)
  })

  const kinds = {
    'narrow candles': (random: Random) =>
      randomWalkCandles(random, { count: 6000, deviation: 0.4 }),
    'candles a tick wide, among others': (random: Random) =>
      randomWalkCandles(random, { count: 6000, deviation: 8 }).map((candle, index) =>
        index % 20 === 0
          ? { ...candle, high: candle.open + 1, low: candle.open, close: candle.open }
          : candle,
      ),
    'candles that trend or turn': (random: Random) => extremeCandles(random, 6000),
  }
  for (const [name, candlesOf] of Object.entries(kinds)) {
    it(`has no memory in the signs of its moves, nor pays who follows or fades them: ${name}`, () => {
      const moves = movesOf(candlesOf(createRandom(name)), name)

      const signsOf = (pairs: typeof moves) =>
        pairs.map(({ move, before }) => Math.sign(move) * Math.sign(before))
      const within = moves.filter(({ isWithin }) => isWithin)
      const gains = moves.map(({ move, before }) => move * Math.sign(before))

      expect(moves.length).toBeGreaterThan(20_000)
      expect(Math.abs(meanOf(signsOf(moves)))).toBeLessThan(2 / Math.sqrt(moves.length))
      expect(within.length).toBeGreaterThan(18_000)
      expect(Math.abs(meanOf(signsOf(within)))).toBeLessThan(2 / Math.sqrt(within.length))
      expect(Math.abs(outcome(gains))).toBeLessThan(2)
    })
  }
})

describe('over 200 seeds', () => {
  const runs = Array.from({ length: 200 }, (_, seed) => {
    const walk = createRandom(`walk ${seed}`)
    const moves = movesOf(randomWalkCandles(walk, { count: 200, deviation: 8 }), `path ${seed}`)
    const coin = createRandom(`coin ${seed}`)
    return {
      signs: moves.map(({ move, before }) => Math.sign(move) * Math.sign(before)),
      momentum: moves.map(({ move, before }) => move * Math.sign(before)),
      reversion: moves.map(({ move, before }) => -move * Math.sign(before)),
      coin: moves.map(({ move }) => (coin.next() < 0.5 ? move : -move)),
    }
  })
  /** Chance alone leaves 4.6 % of them outside. */
  const OUTSIDE_MAX = 0.05 * runs.length

  it('the signs of the moves of a random path have an autocorrelation within ±2/√n', () => {
    const outside = runs.filter(
      ({ signs }) => Math.abs(meanOf(signs)) > 2 / Math.sqrt(signs.length),
    )
    expect(outside.length).toBeLessThanOrEqual(OUTSIDE_MAX)
  })

  it.each(['momentum', 'reversion', 'coin'] as const)('%s earns nothing before fees', (rule) => {
    const earning = runs.filter((run) => outcome(run[rule]) > 2)
    expect(earning.length).toBeLessThanOrEqual(OUTSIDE_MAX)
    const [mean, move] = [
      meanOf(runs.flatMap((run) => run[rule])),
      meanOf(runs.flatMap((run) => run[rule].map(Math.abs))),
    ]
    expect(Math.abs(mean) / move).toBeLessThan(0.005)
  })
})

/** The price at even times of each candle, as somebody sees it who looks often. */
function looksAt(candles: readonly TickCandle[], seed: string): number[][] {
  const all = paths('random')
  const random = createRandom(seed)
  return candles.map((candle) => {
    const { prices, times } = all.draw(candle, random)
    return Array.from({ length: POINTS }, (_, look) => {
      const at = (look + 0.5) / POINTS
      return prices[times.findLastIndex((time) => time <= at)] ?? 0
    })
  })
}

const RULES: Readonly<Record<string, (path: readonly number[], look: number) => number>> = {
  'the last move': (path, look) => (path[look] ?? 0) - (path[look - 1] ?? 0),
  'the last four moves': (path, look) => (path[look] ?? 0) - (path[look - 4] ?? 0),
  'the last eight moves': (path, look) => (path[look] ?? 0) - (path[look - 8] ?? 0),
  'the way from the open': (path, look) => (path[look] ?? 0) - (path[0] ?? 0),
  'a new extreme': (path, look) => {
    const seen = path.slice(0, look + 1)
    if (path[look] === Math.max(...seen)) return 1
    return path[look] === Math.min(...seen) ? -1 : 0
  },
}

describe('who looks at a random path', () => {
  const walks = randomWalkCandles(createRandom('looks'), { count: 6000, deviation: 8 })
  const seen = looksAt(walks, 'looks')
  const moves = seen.flatMap((path) =>
    path.slice(1).map((price, look) => Math.abs(price - (path[look] ?? 0))),
  )

  it.each(Object.keys(RULES))('earns nothing by following or fading %s', (name) => {
    const rule = RULES[name] as (typeof RULES)[string]
    const gains = { next: [] as number[], close: [] as number[] }
    for (const path of seen) {
      for (let look = 8; look < POINTS - 1; look++) {
        const side = Math.sign(rule(path, look))
        if (side === 0) continue
        gains.next.push(side * ((path[look + 1] ?? 0) - (path[look] ?? 0)))
        gains.close.push(side * ((path[POINTS - 1] ?? 0) - (path[look] ?? 0)))
      }
    }

    // Of the mean move: a path of straight lines gives who follows more than half of it.
    expect(Math.abs(meanOf(gains.next)) / meanOf(moves)).toBeLessThan(0.05)
    expect(Math.abs(meanOf(gains.close)) / meanOf(moves)).toBeLessThan(0.2)
  })

  it.each([0, 8, 20])(
    'every 15 seconds earns nothing by following the last look, where price jumps %i times a minute',
    (jumps) => {
      const name = `looks ${jumps}`
      const candles = jumpingCandles(createRandom(name), { count: 12_000, jumps })
      const looks = looksAt(candles, name).flatMap((path) =>
        path.filter((_, look) => look % 4 === 1),
      )
      const steps = looks.slice(1).map((price, look) => price - (looks[look] ?? 0))
      const gains = steps.slice(1).map((step, look) => step * Math.sign(steps[look] ?? 0))

      expect(Math.abs(meanOf(gains)) / meanOf(steps.map(Math.abs))).toBeLessThan(0.02)
    },
  )

  it.each([0, 8, 20])(
    'earns nothing by following the way from the open until the close, where price jumps %i times a minute',
    (jumps) => {
      const name = `from the open ${jumps}`
      const candles = jumpingCandles(createRandom(name), { count: 12_000, jumps })
      const seenOf = looksAt(candles, name)

      // Looks at a tenth, a quarter, a half and four fifths of the candle. It was up to a fifth of a move at the first.
      for (const look of [1, 4, 8, 12]) {
        const rests = seenOf.map((path) => (path[POINTS - 1] ?? 0) - (path[look] ?? 0))
        const gains = seenOf.map(
          (path, index) => Math.sign((path[look] ?? 0) - (path[0] ?? 0)) * (rests[index] ?? 0),
        )
        expect(Math.abs(meanOf(gains)) / meanOf(rests.map(Math.abs))).toBeLessThan(0.035)
      }
    },
  )

  it.each([0, 8])(
    'earns nothing by following or fading a large move until the close, where price jumps %i times a minute',
    (jumps) => {
      const name = `large moves ${jumps}`
      const candles = jumpingCandles(createRandom(name), { count: 12_000, jumps })
      const range = meanOf(candles.map(({ high, low }) => high - low))
      const followed: number[] = []
      for (const path of looksAt(candles, name)) {
        for (let look = 8; look < POINTS - 1; look++) {
          const move = (path[look] ?? 0) - (path[look - 1] ?? 0)
          const rest = (path[POINTS - 1] ?? 0) - (path[look] ?? 0)
          if (Math.abs(move) >= 0.2 * range) followed.push(Math.sign(move) * rest)
        }
      }

      // Fading one brought a fifteenth of the way that was left.
      expect(Math.abs(meanOf(followed)) / meanOf(followed.map(Math.abs))).toBeLessThan(0.035)
    },
  )

  it('does not see an extreme that lies between two points: it is over in an instant', () => {
    const all = paths('random')
    const random = createRandom('instants')
    let hidden = 0
    for (const candle of walks) {
      const { prices, times } = all.draw(candle, random)
      if (all.memory.coarse > 0.5) continue
      for (let point = 1; point < POINTS - 1; point++) {
        if (times[point] !== times[point + 1]) continue
        hidden++
        expect([candle.high, candle.low]).toContain(prices[point])
      }
    }

    expect(hidden).toBeGreaterThan(walks.length)
  })
})

/**
 * What bids and asks around each point get within the next move, in steps of its usual size: filled when price goes
 * through them on the way, and held against the price at its end.
 */
function makersGain(candles: readonly TickCandle[], seed: string): number {
  const all = paths('random')
  const random = createRandom(seed)
  const gains: number[] = []
  let moved = 0
  for (const candle of candles) {
    const { prices, times, lows, highs } = all.draw(candle, random)
    let [from, low, high] = [prices[0] ?? 0, candle.open, candle.open]
    for (let point = 1; point < POINTS; point++) {
      low = Math.min(low, lows[point] ?? 0)
      high = Math.max(high, highs[point] ?? 0)
      if (times[point] === times[point + 1]) continue
      const price = prices[point] ?? 0
      for (const away of [2, 5, 10]) {
        if (low < from - away) gains.push(price - from + away)
        if (high > from + away) gains.push(from + away - price)
      }
      moved += Math.abs(price - from)
      ;[from, low, high] = [price, price, price]
    }
  }
  return meanOf(gains) / (moved / (candles.length * (POINTS - 3)))
}

describe('between two points', () => {
  it('price stays within its candle, and goes as far as both of them at least', () => {
    const all = paths('random')
    const random = createRandom('ways')
    for (const candle of [
      ...randomWalkCandles(random, { count: 500, deviation: 8 }),
      ...extremeCandles(random, 500),
    ]) {
      const { prices, lows, highs } = all.draw(candle, random)
      for (const [point, price] of prices.entries()) {
        expect(lows[point]).toBeGreaterThanOrEqual(candle.low)
        expect(lows[point]).toBeLessThanOrEqual(price)
        expect(highs[point]).toBeLessThanOrEqual(candle.high)
        expect(highs[point]).toBeGreaterThanOrEqual(price)
      }
    }
  })

  it('orders that rest around a price are met as often as price comes back from them', () => {
    const walks = randomWalkCandles(createRandom('makers'), { count: 6000, deviation: 8 })

    // A whole move where price jumps from point to point, as it does in coarse shapes: a quarter of these candles.
    expect(makersGain(walks, 'makers')).toBeGreaterThan(-0.3)
    expect(makersGain(walks, 'makers')).toBeLessThan(0.05)
  })
})

describe('a straight path', () => {
  it('goes to the high first, or to the low first', () => {
    expect(draw('highFirst', [100, 110, 70, 80], { points: 8 })).toEqual([
      100, 110, 102, 94, 86, 78, 70, 80,
    ])
    expect(draw('highFirst', [100, 130, 90, 120], { points: 4 })).toEqual([100, 130, 90, 120])
    expect(draw('lowFirst', [100, 110, 70, 80], { points: 4 })).toEqual([100, 70, 110, 80])
  })
})
