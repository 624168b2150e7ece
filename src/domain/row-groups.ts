import { dateOf, weekOf } from '../lib/start-of-day.ts'

/** Rows without a strategy, in sums by strategy. */
export const NO_STRATEGY = '(nobody)'

export const ROW_GROUPS = ['day', 'week', 'month', 'strategy', 'instrument', 'coin'] as const

export type GroupBy = (typeof ROW_GROUPS)[number]

interface GroupedRow {
  readonly at: number
  readonly symbol: string
  readonly coin: string
  readonly strategyId?: string
}

/** @returns `2025-06-02`, `2025-W23`, `2025-06`, or a field of the row */
export function groupOf(row: GroupedRow, by: GroupBy, timeZone: string): string {
  if (by === 'strategy') return row.strategyId || NO_STRATEGY
  if (by === 'instrument') return row.symbol
  if (by === 'coin') return row.coin
  return dateGroupOf(row.at, by, timeZone)
}

export function dateGroupOf(at: number, by: 'day' | 'week' | 'month', timeZone: string): string {
  const date = dateOf(at, timeZone)
  if (by === 'week') return weekOf(date)
  return by === 'month' ? date.slice(0, 7) : date
}
