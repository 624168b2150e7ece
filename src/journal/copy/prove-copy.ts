import type { DatabaseSync } from 'node:sqlite'
import { type JournalMeta, LAYOUT_CURVES, hasBlocks, hasCurves } from '../journal-layout.ts'
import type { PostgresConnection } from '../postgres/connection.ts'
import { quoteName } from '../postgres/server-schema.ts'
import type { Mark } from '../durable-mark.ts'
import type { Flaw } from '../journal-failures.ts'
import { findFlawedRows } from '../verify-journal.ts'
import { readVerifiedPrefix } from '../verified-prefix.ts'

const COUNTED = {
  records: 'records',
  book: 'book',
  keys: 'used_keys',
  fills: 'fills',
  funding: 'funding',
  curves: 'curves',
} as const

type Counted = keyof typeof COUNTED

export type JournalSize = Readonly<Record<Counted, number>>

function toJournalSize(countOf: (counted: Counted) => unknown): JournalSize {
  const names = Object.keys(COUNTED) as Counted[]
  const counts = names.map((name) => [name, Number(countOf(name) ?? 0)] as const)
  return Object.fromEntries(counts) as JournalSize
}

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

interface JournalCopy {
  readonly database: DatabaseSync
  readonly meta: JournalMeta
}

export interface ExpectedCopy {
  readonly last: Mark
  readonly counted: JournalSize
}

/**
 * Verifies what a start verifies, and all rows that a start does not read. If last links and seals
 * are equal, everything below them is.
 */
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

/** Must be called in the transaction in which `fetchTables` reads. */
export async function countServer(
  connection: Pick<PostgresConnection, 'query'>,
  schema: string,
  layout: number,
): Promise<JournalSize> {
  const isThere = ([name]: [string, string]): boolean =>
    name !== 'curves' || layout >= LAYOUT_CURVES
  const counts = Object.entries(COUNTED)
    .filter(isThere)
    .map(([name, table]) => `(SELECT count(*) FROM ${quoteName(schema)}.${table}) AS ${name}`)
  const [row = {}] = await connection.query(`SELECT ${counts.join(', ')}`)
  return toJournalSize((name) => row[name])
}
