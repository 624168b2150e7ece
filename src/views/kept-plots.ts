import type { KeptPlotView } from '../control/detail-views.ts'
import { type CurvePoint, type CurveQuery, parsePlotSeries } from '../journal/curves.ts'

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
