/**
 * The rule by which a candle becomes a path: from the open to the nearer extreme, to the other extreme, to
 * the close, in straight lines. When both extremes are equally near, a candle that closes below its open
 * goes to its high first, any other to its low. The points are shared out to the three lines by their
 * lengths, at least one each, so that open, both extremes and close are always among them.
 */

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

/**
 * Fills `path` with the prices, in ticks, of a candle's points; the first is the open, the last the close.
 *
 * @param path Filled from index 0; its length, at least 4, is the number of points.
 */
export function fillCandlePath(path: Float64Array, { open, high, low, close }: TickCandle): void {
  const toHigh = high - open
  const toLow = open - low
  const isHighFirst = toHigh < toLow || (toHigh === toLow && close < open)
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

function fillLine(path: Float64Array, line: { from: number; to: number; start: number; end: number }): void {
  const { from, to, start, end } = line
  for (let point = from; point <= to; point++) {
    path[point] = Math.round(start + ((end - start) * (point - from)) / (to - from))
  }
}
