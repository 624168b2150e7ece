import { type CurvesView } from '../../control/detail-views.ts'
import { type AccountView } from '../../control/views.ts'

/** When there are so many points every second one is forgotten, and the next ones come half as often. */
const POINTS_MAX = 1200
const FIRST_STEP_MS = 1000

/** What an account and its strategies have made since the run began: at most 1,200 points, however long it is. */
export class ProfitCurve {
  #points: Point[] = []
  #stepMs = FIRST_STEP_MS
  #takenAt = Number.NEGATIVE_INFINITY

  /** @param now Monotonic ms. */
  isDue(now: number): boolean {
    return now - this.#takenAt >= this.#stepMs
  }

  /** @param now Monotonic ms. `at`: Unix ms. */
  take(now: number, at: number, { profit, equity }: Pick<AccountView, 'profit' | 'equity'>): void {
    this.#takenAt = now
    this.#points.push({
      at,
      net: profit.total.unrealised === null ? null : Number(profit.total.net),
      equity: equity === null ? null : Number(equity),
      strategies: Object.fromEntries(
        Object.entries(profit.strategies).map(([id, { net }]) => [id, Number(net)]),
      ),
    })
    if (this.#points.length < POINTS_MAX) return
    this.#points = this.#points.filter((_, index) => index % 2 === 0)
    this.#stepMs *= 2
  }

  view(): CurvesView {
    const points = this.#points
    const ids = Object.keys(points.at(-1)?.strategies ?? {})
    return {
      at: points.map(({ at }) => at),
      net: points.map(({ net }) => net),
      equity: points.map(({ equity }) => equity),
      strategies: Object.fromEntries(
        ids.map((id) => [id, points.map(({ strategies }) => strategies[id] ?? 0)]),
      ),
    }
  }
}

interface Point {
  readonly at: number
  readonly net: number | null
  readonly equity: number | null
  readonly strategies: Readonly<Record<string, number>>
}
