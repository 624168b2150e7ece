import type { DatabaseSync } from 'node:sqlite'
import type { Failure } from '../../lib/failure.ts'
import type { Mark } from '../durable-mark.ts'
import type { Flaw } from '../journal-failures.ts'
import { hasBlocks, hasCurves, type JournalMeta } from '../journal-layout.ts'
import { findFlawedRows } from '../verify-journal.ts'
import { readVerifiedPrefix } from '../verified-prefix.ts'

/** The counted tables. */
export const COUNTED = {
  records: 'records',
  book: 'book',
  keys: 'used_keys',
  fills: 'fills',
  funding: 'funding',
  /** Points of curves. */
  curves: 'curves',
} as const

type Counted = keyof typeof COUNTED

export type JournalSize = Readonly<Record<Counted, number>>

export function toJournalSize(countOf: (counted: Counted) => unknown): JournalSize {
  const names = Object.keys(COUNTED) as Counted[]
  const counts = names.map((name) => [name, Number(countOf(name) ?? 0)] as const)
  return Object.fromEntries(counts) as JournalSize
}

/** This proves nothing. */
export function countJournal(database: DatabaseSync): JournalSize {
  const count = (from: string, what = 'count(*)'): number =>
    Number(database.prepare(`SELECT ${what} AS n FROM ${from}`).get()?.['n'] ?? 0)
  const packed = hasBlocks(database) ? count('record_blocks', 'sum(last - first + 1)') : 0
  const isThere = hasCurves(database)
  return toJournalSize((name) => {
    if (name === 'curves' && !isThere) return 0
    return count(COUNTED[name]) + (name === 'records' ? packed : 0)
  })
}

export function rowsOf(counted: JournalSize): number {
  return Object.values(counted).reduce((rows, count) => rows + count, 0)
}

export interface JournalCopy {
  readonly database: DatabaseSync
  readonly meta: JournalMeta
}

export interface ExpectedCopy {
  readonly last: Mark
  readonly counted: JournalSize
}

/**
 * As a start does, plus all rows that a start does not read. Equal last links and seals imply that
 * everything below them is equal.
 * @throws the failure that `refuse` builds of the first flaw
 */
export function proveCopy(
  copy: JournalCopy,
  expected: ExpectedCopy,
  refuse: (flaw: Flaw) => Failure,
): void {
  const flaw = findCopyFlaw(copy, expected)
  if (flaw) throw refuse(flaw)
}

export function findCopyFlaw(
  { database, meta }: JournalCopy,
  { last, counted }: ExpectedCopy,
): Flaw | undefined {
  const prefix = readVerifiedPrefix(database, meta)
  const flaw = prefix.flaw ?? prefix.daysFlaw ?? findFlawedRows(database, { meta, prefix })
  if (flaw) return flaw
  const { sequence, link } = prefix.last
  if (sequence !== last.sequence || link !== last.link)
    return { sequence, found: 'it ends with another record' }
  const found = countJournal(database)
  const name = (Object.keys(COUNTED) as Counted[]).find((one) => counted[one] !== found[one])
  if (name === undefined) return undefined
  const difference = `${name}: ${counted[name]} and ${found[name]}`
  return { sequence: undefined, found: `not as many rows: ${difference}` }
}
