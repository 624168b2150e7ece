import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type JournalRecord, keysUsedBy } from '../../src/domain/record.ts'
import { type BookedRow } from '../../src/journal/booking.ts'
import { type Journal, type JournalContents } from '../../src/journal/journal.ts'
import { type NumberedRecord } from '../../src/journal/journal-reader.ts'
import { Failure } from '../../src/lib/failure.ts'
import { type Damage } from './damages.ts'
import {
  appendDurable,
  bookedBy,
  checkpointBook,
  openSpecimen,
  readBooked,
  readRecords,
  type Specimen,
  specimenRecord,
  writeJournalFiles,
} from './specimen.ts'

/** More than a specimen has. */
const KEYS_MAX = 140

/** What became of a damaged journal. `wrong` is what must never be. */
export type Verdict =
  | { readonly kind: 'whole' }
  | { readonly kind: 'prefix'; readonly records: number }
  | { readonly kind: 'refused'; readonly code: string }
  | { readonly kind: 'wrong'; readonly why: string }

/**
 * Damages a copy of the specimen and opens it: it must give back an exact prefix of what was appended, no
 * shorter than the mark allows, or refuse with a `Failure`; and where it opens, a record appended then must be
 * there the next time, or that is refused.
 */
export function torture(specimen: Specimen, damage: Damage, folder: string): Verdict {
  const file = join(folder, 'journal.sqlite')
  const { after } = specimen
  writeJournalFiles(file, { ...after, [damage.file]: damage.apply(after[damage.file]) })
  const opened = openAndAppend(file)
  if (opened.kind !== 'opened') return opened
  const { found, added, salt, keys, booked, read } = opened
  if (salt !== specimen.salt) return { kind: 'wrong', why: 'it has another salt' }
  const prefix = toHistory(specimen, found)
  const wrong = judge(specimen, prefix)
  if (wrong !== undefined) return { kind: 'wrong', why: wrong }
  if (!isDeepStrictEqual(keys, keysOf(prefix ?? [])))
    return { kind: 'wrong', why: 'it has other used keys' }
  if (typeof booked === 'object' && !isDeepStrictEqual(booked, bookedBy(prefix ?? []))) {
    return { kind: 'wrong', why: 'it has other fills or funding payments' }
  }
  if (typeof read === 'object' && !isRead(read, prefix ?? [])) {
    return { kind: 'wrong', why: 'a reader is given other records' }
  }
  if (added !== undefined) {
    const again = openAndAppend(file)
    if (again.kind === 'wrong') return again
    const expected = [...(prefix ?? []), added]
    if (again.kind === 'opened' && !isDeepStrictEqual(toHistory(specimen, again.found), expected)) {
      return { kind: 'wrong', why: 'what was appended after it is not there the next time' }
    }
  }
  if (typeof booked === 'string')
    return { kind: 'refused', code: `${booked}, when fills were read` }
  if (typeof read === 'string') return { kind: 'refused', code: `${read}, when records were read` }
  const records = prefix?.length ?? 0
  return records === specimen.history.length ? { kind: 'whole' } : { kind: 'prefix', records }
}

interface Opened {
  readonly kind: 'opened'
  readonly salt: string
  readonly found: JournalContents
  /** Those of the specimen's keys that it says were used. */
  readonly keys: readonly string[]
  /** Its fills and funding payments, or the code with which they were refused. */
  readonly booked: readonly BookedRow[] | string
  /** What a reader is given of it, or the code with which that was refused. */
  readonly read: readonly NumberedRecord[] | string
  /** What could be appended after it. */
  readonly added: JournalRecord | undefined
}

function openAndAppend(file: string): Opened | Exclude<Verdict, { kind: 'whole' | 'prefix' }> {
  try {
    const journal = openSpecimen(file)
    const { salt } = journal
    try {
      const found = journal.load()
      return {
        kind: 'opened',
        salt,
        found,
        keys: findKeys(journal),
        booked: tryRead(() => readBooked(journal)),
        read: tryRead(() => readRecords(file)),
        added: tryAppend(() => appendDurable(journal, specimenRecord(1000))),
      }
    } finally {
      journal.close()
    }
  } catch (error) {
    if (error instanceof Failure) return { kind: 'refused', code: error.code }
    return { kind: 'wrong', why: `not a Failure: ${String(error)}` }
  }
}

/** A look that finds the store damaged is a refusal: nothing is placed then. */
function findKeys(journal: Journal): readonly string[] {
  const asked = Array.from({ length: KEYS_MAX }, (_, index) => `order ${index}`)
  const found = journal.usedKeys(asked.map((key) => ({ purpose: 'place', strategyId: 's', key })))
  return found.map(({ key }) => key).toSorted()
}

function tryRead<Row>(read: () => readonly Row[]): readonly Row[] | string {
  try {
    return read()
  } catch (error) {
    if (error instanceof Failure) return error.code
    throw error
  }
}

/** Those of the end, without a gap: the oldest are dropped with age. */
function isRead(read: readonly NumberedRecord[], expected: readonly JournalRecord[]): boolean {
  const first = expected.length - read.length
  return read.every(
    ({ sequence, record }, index) =>
      sequence === first + index + 1 && isDeepStrictEqual(record, expected[sequence - 1]),
  )
}

function keysOf(records: readonly JournalRecord[]): readonly string[] {
  return records
    .flatMap(keysUsedBy)
    .map(({ key }) => key)
    .toSorted()
}

/** Damage may lie where the next record goes: then it says so, and nothing was acknowledged. */
function tryAppend(append: () => void): JournalRecord | undefined {
  try {
    append()
    return specimenRecord(1000)
  } catch (error) {
    if (error instanceof Failure && error.code === 'JOURNAL_POISONED') return undefined
    throw error
  }
}

/** The contents as the records that they stand for; undefined where the checkpoint is not the one that was stored. */
function toHistory(
  { history, checkpointed }: Specimen,
  { checkpoint, records }: JournalContents,
): readonly JournalRecord[] | undefined {
  if (checkpoint === undefined) return records
  if (!isDeepStrictEqual(checkpoint, checkpointBook(checkpointed))) return undefined
  return [...history.slice(0, checkpointed), ...records]
}

function judge(
  specimen: Specimen,
  prefix: readonly JournalRecord[] | undefined,
): string | undefined {
  if (prefix === undefined) return 'its checkpoint is not the one that was stored'
  if (!isDeepStrictEqual(prefix, specimen.history.slice(0, prefix.length))) return 'it is no prefix'
  if (prefix.length < specimen.durable) return `it ends at ${prefix.length}, and nothing says so`
  return undefined
}
