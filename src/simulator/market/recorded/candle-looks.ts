/** What somebody gets who looks at a candle at certain times, or at large moves, and follows what has moved. */

/** From one look to another the price has moved; that is followed until a third. Shares of the candle. */
const RULES = [
  [0, 0.075, 1],
  [0, 0.125, 1],
  [0, 0.25, 1],
  [0, 0.5, 1],
  [0, 0.75, 1],
  [0, 0.125, 0.375],
  [0, 0.25, 0.5],
  [0.125, 0.375, 0.625],
  [0.25, 0.5, 0.75],
  [0.375, 0.625, 0.875],
  [0.5, 0.75, 1],
] as const
/** A move from one point to the next that is as large is followed to the end, in usual ranges of a candle. */
const LARGE = 0.2
/** Such moves of the first and of the second half of a candle are a rule each. */
export const RULES_COUNT = RULES.length + 2

/** All looks, in order, and the rules by their numbers. */
const LOOKS = [...new Set(RULES.flat())].sort((one, other) => one - other)
const RULES_BY_LOOKS = RULES.map(([from, to, until]) => ({
  from: LOOKS.indexOf(from),
  to: LOOKS.indexOf(to),
  until: LOOKS.indexOf(until),
}))

/** Of one path after the other; makes no new arrays. */
export class CandleLooks {
  /** The price at each look. */
  readonly #seen = new Float64Array(LOOKS.length)
  readonly #brought = new Float64Array(RULES_COUNT)

  /**
   * What each rule brings on a path, in the unit of its prices; valid until the next call.
   *
   * @param usualRange Of a candle, in that unit.
   */
  follow(prices: Float64Array, times: Float64Array, usualRange: number): Float64Array {
    const seen = this.#seen
    let point = 0
    for (let look = 0; look < LOOKS.length; look++) {
      while (point + 1 < times.length && (times[point + 1] as number) <= (LOOKS[look] as number)) point++
      seen[look] = prices[point] as number
    }
    for (let rule = 0; rule < RULES.length; rule++) {
      const { from, to, until } = RULES_BY_LOOKS[rule] as (typeof RULES_BY_LOOKS)[number]
      const side = Math.sign((seen[to] as number) - (seen[from] as number))
      this.#brought[rule] = side * ((seen[until] as number) - (seen[to] as number))
    }
    this.#followLarge(prices, times, LARGE * usualRange)
    return this.#brought
  }

  #followLarge(prices: Float64Array, times: Float64Array, large: number): void {
    const brought = this.#brought
    const last = prices.length - 1
    const close = prices[last] as number
    brought[RULES.length] = brought[RULES.length + 1] = 0
    let before = prices[0] as number
    for (let point = 1; point < last; point++) {
      // An extreme that nobody sees.
      if (times[point] === times[point + 1]) continue
      const price = prices[point] as number
      const rule = RULES.length + ((times[point] as number) < 0.5 ? 0 : 1)
      if (Math.abs(price - before) >= large) {
        brought[rule] = (brought[rule] as number) + Math.sign(price - before) * (close - price)
      }
      before = price
    }
  }
}
