/** Measures the profit of following a candle's direction, seen at certain times or at each move. */

/** Times of two looks and of the end, as shares of the candle. */
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
const LARGE = 0.2
const HALVES = 2
const PLACES = 14
export const RULES_COUNT = RULES.length + HALVES + PLACES

const LOOKS = [...new Set(RULES.flat())].sort((one, other) => one - other)
const RULES_BY_LOOKS = RULES.map(([from, to, until]) => ({
  from: LOOKS.indexOf(from),
  to: LOOKS.indexOf(to),
  until: LOOKS.indexOf(until),
}))

export class CandleLooks {
  readonly #seen = new Float64Array(LOOKS.length)
  readonly #brought = new Float64Array(RULES_COUNT)

  /**
   * The profits are in the unit of the prices, and valid until the next call.
   * @param usualRange in that unit
   */
  follow(prices: Float64Array, times: Float64Array, usualRange: number): Float64Array {
    const seen = this.#seen
    let point = 0
    for (let look = 0; look < LOOKS.length; look++) {
      while (point + 1 < times.length && (times[point + 1] as number) <= (LOOKS[look] as number))
        point++
      seen[look] = prices[point] as number
    }
    for (let rule = 0; rule < RULES.length; rule++) {
      const { from, to, until } = RULES_BY_LOOKS[rule] as (typeof RULES_BY_LOOKS)[number]
      const side = Math.sign((seen[to] as number) - (seen[from] as number))
      this.#brought[rule] = side * ((seen[until] as number) - (seen[to] as number))
    }
    this.#followMoves(prices, times, LARGE * usualRange)
    return this.#brought
  }

  #followMoves(prices: Float64Array, times: Float64Array, large: number): void {
    const brought = this.#brought.fill(0, RULES.length)
    const last = prices.length - 1
    const close = prices[last] as number
    let before = prices[0] as number
    let side = 0
    for (let point = 1; point <= last; point++) {
      const time = times[point] as number
      if (time === times[point + 1]) continue
      const price = prices[point] as number
      const move = price - before
      before = price
      const place = RULES.length + HALVES + Math.min(PLACES - 1, Math.floor(time * PLACES))
      brought[place] = (brought[place] as number) + side * move
      side = Math.sign(move)
      if (Math.abs(move) < large) continue
      const half = RULES.length + (time < 0.5 ? 0 : 1)
      brought[half] = (brought[half] as number) + side * (close - price)
    }
  }
}
