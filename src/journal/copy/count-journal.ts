import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { hasBlocks, hasCurves } from '../journal-layout.ts'

export interface JournalSize {
  readonly records: number
  readonly book: number
  readonly keys: number
  readonly fills: number
  readonly funding: number
  /** Points of curves. */
  readonly curves: number
}

/** This proves nothing. */
export function countJournal(database: DatabaseSync): JournalSize {
  const count = (from: string, what = 'count(*)'): number =>
    toCount(database.prepare(`SELECT ${what} AS n FROM ${from}`).get()?.['n'])
  const packed = hasBlocks(database) ? count('record_blocks', 'sum(last - first + 1)') : 0
  return {
    records: packed + count('records'),
    book: count('book'),
    keys: count('used_keys'),
    fills: count('fills'),
    funding: count('funding'),
    curves: hasCurves(database) ? count('curves') : 0,
  }
}

function toCount(value: SQLOutputValue | undefined): number {
  return Number(value ?? 0)
}

export function differenceOf(one: JournalSize, other: JournalSize): string | undefined {
  const names = ['records', 'book', 'keys', 'fills', 'funding', 'curves'] as const
  const name = names.find((each) => one[each] !== other[each])
  return name && `${name}: ${one[name]} and ${other[name]}`
}
