import type { ParamSet } from './param-sets.ts'

export interface ScoredSet {
  readonly params: ParamSet
  readonly score: number
}

/** A peak is isolated below this lead of its neighbours over the median, as a share of its own. */
const LEAD_SHARE = 0.5

function variedParams(sets: readonly ParamSet[]): readonly string[] {
  return Object.keys(sets[0] ?? {}).filter(
    (name) => new Set(sets.map((params) => params[name])).size > 1,
  )
}

function valuesOf(sets: readonly ParamSet[], name: string): readonly string[] {
  const texts = [...new Set(sets.map((params) => params[name] ?? ''))]
  const numbers = texts.map(toNumber)
  if (numbers.some(Number.isNaN)) return texts
  return texts.toSorted((one, other) => toNumber(one) - toNumber(other))
}

function toNumber(text: string): number {
  const value: unknown = JSON.parse(text)
  return typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN
}

export function isIsolated(peak: ScoredSet, all: readonly ScoredSet[]): boolean {
  const sets = all.map(({ params }) => params)
  const names = variedParams(sets)
  const steps = new Map(
    names.map((name) => [name, new Map(valuesOf(sets, name).map((text, index) => [text, index]))]),
  )
  const distanceTo = ({ params }: ScoredSet): number =>
    names.reduce((sum, name) => {
      const places = steps.get(name)
      return (
        sum +
        ((places?.get(params[name] ?? '') ?? 0) - (places?.get(peak.params[name] ?? '') ?? 0)) ** 2
      )
    }, 0)
  const others = all
    .filter((one) => one.params !== peak.params)
    .map((one) => ({ score: one.score, distance: distanceTo(one) }))
    .toSorted((one, other) => one.distance - other.distance)
  const nearest = others.slice(0, 2 * names.length)
  if (nearest.length === 0) return false
  const scores = all.map(({ score }) => score).toSorted((one, other) => one - other)
  const median = middleOf(scores)
  const best = Math.max(...nearest.map(({ score }) => score))
  return peak.score > median && best - median < LEAD_SHARE * (peak.score - median)
}

function middleOf(sorted: readonly number[]): number {
  const half = sorted.length >> 1
  const upper = sorted[half] ?? 0
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[half - 1] ?? upper)) / 2
}

export interface HeatMap {
  readonly rowName: string
  readonly columnName: string
  readonly rows: readonly string[]
  readonly columns: readonly string[]
  /** Null if it has no trials. */
  readonly cells: readonly (readonly (number | null)[])[]
}

const BINS_MAX = 12

/** Undefined if fewer than two parameters were varied. */
export function buildHeatMap(all: readonly ScoredSet[]): HeatMap | undefined {
  const sets = all.map(({ params }) => params)
  const [rowName, columnName] = variedParams(sets)
  if (rowName === undefined || columnName === undefined) return undefined
  const [rows, columns] = [rowName, columnName].map((name) =>
    cutIntoBins(valuesOf(sets, name)),
  ) as [Bins, Bins]
  const sums = rows.labels.map(() => columns.labels.map(() => ({ sum: 0, count: 0 })))
  for (const { params, score } of all) {
    const cell = sums[rows.binOf(params[rowName] ?? '')]?.[columns.binOf(params[columnName] ?? '')]
    if (cell === undefined) continue
    cell.sum += score
    cell.count += 1
  }
  return {
    rowName,
    columnName,
    rows: rows.labels,
    columns: columns.labels,
    cells: sums.map((row) => row.map(({ sum, count }) => (count === 0 ? null : sum / count))),
  }
}

interface Bins {
  readonly labels: readonly string[]
  binOf(text: string): number
}

function cutIntoBins(values: readonly string[]): Bins {
  const count = Math.min(BINS_MAX, values.length)
  const bins = new Map(
    values.map((text, index) => [text, Math.floor((index * count) / values.length)]),
  )
  const labels = Array.from({ length: count }, (_, bin) => {
    const own = values.filter((text) => bins.get(text) === bin)
    return own.length === 1 ? (own[0] ?? '') : `${own[0]} to ${own.at(-1)}`
  })
  return { labels, binOf: (text) => bins.get(text) ?? 0 }
}
