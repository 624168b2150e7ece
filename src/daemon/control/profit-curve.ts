import type { CurvesView } from '../../control/detail-views.ts'
import type { AccountView } from '../../control/views.ts'

/** Each a span of time with the lowest and the highest point in it. Of so many, each two become one. */
const SPANS_MAX = 600
const STEP_MS = 1000

/**
 * What an account and its strategies have made since the run began: at most 1,200 points, however long it is. A peak of
 * a second stays in it: a curve of every n-th point would show a smaller drawdown than there was.
 */
export class ProfitCurve {
  #spans: Span[] = []
  #spanMs = STEP_MS
  #peak: number | null = null
  #takenAt = Number.NEGATIVE_INFINITY
  /** From monotonic to Unix ms: it never gets smaller, so that a clock set back bends no curve. */
  #offset = Number.NEGATIVE_INFINITY

  /** @param now Monotonic ms. */
  isDue(now: number): boolean {
    return now - this.#takenAt >= STEP_MS
  }

  /** @param now Monotonic ms. `at`: Unix ms. */
  take(
    now: number,
    at: number,
    { profit, equity, peak }: Pick<AccountView, 'profit' | 'equity' | 'peak'>,
  ): void {
    this.#takenAt = now
    this.#offset = Math.max(this.#offset, at - now)
    if (peak !== null) this.#peak ??= Number(peak)
    const point: Point = {
      at: now + this.#offset,
      net: profit.total.unrealised === null ? null : Number(profit.total.net),
      equity: equity === null ? null : Number(equity),
      strategies: Object.fromEntries(
        Object.entries(profit.strategies).map(([id, { net }]) => [id, Number(net)]),
      ),
    }
    const added: Span = { since: now, low: point, high: point }
    const last = this.#spans.at(-1)
    if (last !== undefined && now - last.since < this.#spanMs)
      this.#spans[this.#spans.length - 1] = merge(last, added)
    else this.#spans.push(added)
    if (this.#spans.length <= SPANS_MAX) return
    this.#spans = this.#spans.flatMap((span, index) => {
      if (index % 2 === 1) return []
      const next = this.#spans[index + 1]
      return next ? merge(span, next) : span
    })
    this.#spanMs *= 2
  }

  view(): CurvesView {
    const points = this.#spans.flatMap(({ low, high }) =>
      low === high ? [low] : [low, high].toSorted((one, other) => one.at - other.at),
    )
    const ids = Object.keys(points.at(-1)?.strategies ?? {})
    return {
      peak: this.#peak,
      at: points.map(({ at }) => at),
      net: points.map(({ net }) => net),
      equity: points.map(({ equity }) => equity),
      strategies: Object.fromEntries(
        ids.map((id) => [id, points.map(({ strategies }) => strategies[id] ?? 0)]),
      ),
    }
  }
}

interface Span {
  /** Monotonic ms. */
  readonly since: number
  readonly low: Point
  readonly high: Point
}

function merge(one: Span, other: Span): Span {
  return {
    since: one.since,
    low: chooseOf(one.low, other.low, (left, right) => right < left),
    high: chooseOf(one.high, other.high, (left, right) => right > left),
  }
}

/** A point that is known, and of two the one that goes further. */
function chooseOf(
  one: Point,
  other: Point,
  goesFurther: (one: number, other: number) => boolean,
): Point {
  if (other.net === null) return one
  return one.net === null || goesFurther(one.net, other.net) ? other : one
}

interface Point {
  readonly at: number
  readonly net: number | null
  readonly equity: number | null
  readonly strategies: Readonly<Record<string, number>>
}
