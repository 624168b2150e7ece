import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { hasBlocks } from '../journal-layout.ts'

export interface JournalSize {
  readonly records: number
  /** At the checkpoint. */
  readonly book: number
  readonly keys: number
  readonly fills: number
  readonly funding: number
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
  }
}

function toCount(value: SQLOutputValue | undefined): number {
  return Number(value ?? 0)
}

export function differenceOf(one: JournalSize, other: JournalSize): string | undefined {
  const names = ['records', 'book', 'keys', 'fills', 'funding'] as const
  const name = names.find((each) => one[each] !== other[each])
  return name && `${name}: ${one[name]} and ${other[name]}`
}
