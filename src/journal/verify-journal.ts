import { type DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { messageOf } from '../lib/failure.ts'
import { type Mark } from './durable-mark.ts'
import { type Flaw, isDamage } from './journal-failures.ts'
import { type JournalNature } from './journal-layout.ts'
import { nextLink, sealCheckpoint, type StoredCheckpoint, type StoredRecord } from './record-chain.ts'

export interface LinkedRecord extends StoredRecord {
  readonly link: string
}

/** The part of a journal that is proved to be what was written: the longest one from its start. */
export interface VerifiedPrefix {
  readonly checkpoint: StoredCheckpoint | undefined
  /** All records after the checkpoint. */
  readonly records: readonly LinkedRecord[]
  /** Its end. */
  readonly last: Mark
  /** Why it ends there, when that is not because nothing more was written. */
  readonly flaw: Flaw | undefined
}

/**
 * Reads the newest checkpoint and follows the links from there. Damage ends the prefix and is told as its flaw.
 * @throws Error of SQLite where the disk cannot be read just now: that is no damage.
 */
export function readVerified(database: DatabaseSync, { first }: JournalNature): VerifiedPrefix {
  const found = attempt(() => readCheckpoint(database, first))
  const checkpoint = found.value
  const start: Mark = checkpoint ?? { sequence: 0, link: first }
  const records: LinkedRecord[] = []
  const flaw = attempt(() => followLinks(database, start, records))
  return {
    checkpoint,
    records,
    last: records.at(-1) ?? start,
    flaw: found.flaw ?? flaw.flaw ?? flaw.value,
  }
}

function attempt<Value>(work: () => Value): { readonly value?: Value; readonly flaw?: Flaw } {
  try {
    return { value: work() }
  } catch (error) {
    if (!isDamage(error)) throw error
    return { flaw: { sequence: undefined, found: messageOf(error) } }
  }
}

/** The newest checkpoint. @throws RangeError when it is not as it was written */
export function readCheckpoint(database: DatabaseSync, first: string): StoredCheckpoint | undefined {
  const row = database
    .prepare('SELECT sequence, body, link, seal FROM checkpoints ORDER BY sequence DESC LIMIT 1')
    .get()
  if (row === undefined) return undefined
  const checkpoint = {
    sequence: Number(row['sequence']),
    body: String(row['body']),
    link: String(row['link']),
  }
  if (sealCheckpoint(first, checkpoint) === row['seal']) return checkpoint
  throw new RangeError(`the checkpoint at ${checkpoint.sequence} is not as it was written`)
}

/** Puts each record that fits behind the one before it; the first that does not is the flaw. */
function followLinks(database: DatabaseSync, start: Mark, into: LinkedRecord[]): Flaw | undefined {
  const rows = database
    .prepare('SELECT sequence, at, kind, body, link FROM records WHERE sequence > ? ORDER BY sequence')
    .iterate(start.sequence)
  let last = start
  for (const row of rows) {
    const expected = last.sequence + 1
    const record = toLinkedRecord(row)
    if (record.sequence !== expected) {
      return { sequence: expected, found: `the record is missing: ${record.sequence} follows` }
    }
    if (!isLinked(last.link, record))
      return { sequence: expected, found: 'the record is not as it was written' }
    into.push(record)
    last = record
  }
  return undefined
}

type StoredRow = Readonly<Record<string, SQLOutputValue>>

/** A row of the records table. */
export function toLinkedRecord(row: StoredRow): LinkedRecord {
  return {
    sequence: Number(row['sequence']),
    at: Number(row['at']),
    kind: String(row['kind']),
    body: String(row['body']),
    link: String(row['link']),
  }
}

export function isLinked(previous: string, record: LinkedRecord): boolean {
  return nextLink(previous, record) === record.link
}
