import type { KeptCurveView, KeptPlotView } from '../control/detail-views.ts'
import {
  ACCOUNT_SERIES,
  type AccountPoint,
  type CurvePoint,
  type CurveQuery,
  toAccountPoint,
  parsePlotSeries,
} from '../journal/curves.ts'

const SPANS_MAX = 600

interface CurveSource {
  curve(query: CurveQuery): Iterable<CurvePoint>
}

export function viewKeptCurve(source: CurveSource, since: number | undefined): KeptCurveView {
  const all = [...source.curve({ series: ACCOUNT_SERIES, since })].map(toAccountPoint)
  const points = thinOut(all)
  const toNumbers = (of: (point: AccountPoint) => string | null): (number | null)[] =>
    points.map((point) => {
      const amount = of(point)
      return amount === null ? null : Number(amount)
    })
  return {
    at: points.map(({ at }) => at),
    equity: toNumbers(({ equity }) => equity),
    netWithUnrealised: toNumbers(({ netWithUnrealised }) => netWithUnrealised),
    peak: toNumbers(({ peak }) => peak),
  }
}

/** Every n-th point would show a smaller drawdown. */
function thinOut(points: readonly AccountPoint[]): readonly AccountPoint[] {
  if (points.length <= 2 * SPANS_MAX) return points
  const [first, last] = [points[0]?.at ?? 0, points.at(-1)?.at ?? 0]
  const spanMs = (last - first + 1) / SPANS_MAX
  const spans = Map.groupBy(points, ({ at }) => Math.floor((at - first) / spanMs))
  return [...spans.values()].flatMap((span) => {
    const ranked = span.toSorted((one, other) => figureOf(one) - figureOf(other))
    const ends = new Set([ranked[0], ranked.at(-1)])
    return span.filter((point) => ends.has(point))
  })
}

function figureOf({ equity, netWithUnrealised }: AccountPoint): number {
  return Number(equity ?? netWithUnrealised)
}

const POINTS_MAX = 1500

interface PlotSource {
  curve(query: CurveQuery): Iterable<CurvePoint>
  curveNames(): readonly string[]
}

export function viewKeptPlots(
  source: PlotSource,
  symbol: string,
  since: number | undefined,
): KeptPlotView[] {
  return source.curveNames().flatMap((series) => {
    const named = parsePlotSeries(series)
    if (named?.symbol !== symbol) return []
    const all = [...source.curve({ series })]
    // Only changes are kept, so the point before the span still holds.
    const first = Math.max(
      0,
      all.findLastIndex(({ at }) => at <= (since ?? 0)),
    )
    const points = all.slice(first).slice(-POINTS_MAX)
    return [
      {
        strategy: named.strategy,
        name: named.name,
        points: points.map(({ at, value }) => ({ at, value: Number(value) })),
      },
    ]
  })
}
