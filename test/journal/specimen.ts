import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type JournalRecord } from '../../src/domain/record.ts'
import { type BookedFill, type BookedRow, type Booking } from '../../src/journal/booking.ts'
import {
  type BookingStore,
  type BookRow,
  type Journal,
  type RowChange,
} from '../../src/journal/journal.ts'
import { JournalReader, type NumberedRecord } from '../../src/journal/journal-reader.ts'
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts'

/** The files of one journal as bytes; `wal` is empty where there is none. */
export interface JournalFiles {
  readonly main: Buffer
  readonly wal: Buffer
  readonly mark: Buffer
}

/** A journal that real appends have made, at two moments: before its last records, and after. */
export interface Specimen {
  readonly name: string
  readonly before: JournalFiles
  readonly after: JournalFiles
  readonly salt: string
  /** Everything that was ever appended, in order. */
  readonly history: readonly JournalRecord[]
  /** As many of them are in the checkpoint, which is {@link checkpointBook} of that number. */
  readonly checkpointed: number
  /** As many of them the mark says were durable. */
  readonly durable: number
}

const SUFFIXES = { main: '', wal: '-wal', mark: '.mark' } as const

export const LAST_RECORDS = 3
/** Small ones before all others: what the checkpoint covers fills a block of packed records. */
const FILLERS = 256
const BEFORE_CHECKPOINT = FILLERS + 30
const AFTER_CHECKPOINT = 9
/** Keys of the record behind the checkpoint: some are stored before the next checkpoint. */
const MANY_KEYS = 80
/** The number of the first one: other keys have smaller ones. */
const MANY_KEYS_NUMBER = 50
const DROPPED = 15

/** Text that fills pages unevenly; the largest record goes over several pages. Some use keys. */
export function specimenRecord(at: number): JournalRecord {
  if (at <= FILLERS) return { kind: 'released', at, scope: '*', reason: `${at}`, by: 'a test' }
  const isManyKeys = at === BEFORE_CHECKPOINT + 1
  if (at % 3 === 0 || isManyKeys) {
    const first = isManyKeys ? MANY_KEYS_NUMBER : at - FILLERS
    const orders = Array.from({ length: isManyKeys ? MANY_KEYS : 1 }, (_, index) => ({
      purpose: 'place',
      strategyId: 's',
      key: `order ${first + index}`,
    }))
    return { kind: 'send', at, orders, body: 'ab'.repeat((at * 89) % 500) } as never
  }
  return {
    kind: 'restricted',
    at,
    scope: '*',
    mode: 'halted',
    code: 'operator',
    by: 'a test',
    reason: `record ${at} ${'ab'.repeat((at * 97) % 500)}`,
  }
}

/** The rows after so many records; they go over several pages, and each checkpoint leaves some as they were. */
export function checkpointBook(records: number): readonly BookRow[] {
  const kept = Array.from({ length: 20 }, (_, index) => index).filter((index) => index % 4 > 0)
  return kept.map((index) => ({
    name: 'orders',
    key: `order ${index}`,
    value: `${index % 4 === 1 ? records : 0} ${'book '.repeat(index * 20)}`,
  }))
}

/** What makes those rows of the ones before: every fourth goes, every fourth changes. */
function checkpointChanges(records: number): readonly RowChange[] {
  const gone = [0, 4, 8, 12, 16].map((index) => ({
    name: 'orders',
    key: `order ${index}`,
    value: undefined,
  }))
  return [
    ...gone,
    ...checkpointBook(records).filter(({ value }) => value.startsWith(`${records} `)),
  ]
}

/** The rows of the first checkpoint, with those that the second takes away. */
function firstCheckpoint(): readonly BookRow[] {
  const rows = checkpointBook(1)
  const gone = checkpointChanges(1).flatMap(({ name, key, value }) =>
    value === undefined ? [{ name, key, value: 'gone' }] : [],
  )
  return [...rows, ...gone]
}

/** What those records book: fills over some days, of which some get their owner later, and funding payments. */
function specimenBookings(at: number): readonly Booking[] {
  if (at <= FILLERS) return []
  const time = at * 5 * 3_600_000
  if (at % 4 === 2) return [fillOf(at, time)]
  if (at % 4 === 3)
    return [{ kind: 'owner', tradeId: `t${at - 1}`, orderId: `o${at - 1}`, ...OWNED }]
  if (at % 5 > 0) return []
  return [
    {
      kind: 'funding',
      id: `f${at}`,
      at: time,
      symbol: 'A',
      side: 'long',
      amount: `-0.${at}`,
      coin: 'U',
    },
  ]
}

const NOTED = { reason: 'stop', tag: 'dip' } as const
const OWNED = { clientOid: 'c-0', strategyId: 's', owner: 'strategy', ...NOTED } as const

function fillOf(at: number, time: number): BookedFill {
  const words = {
    clientOid: '',
    strategyId: '',
    symbol: 'A',
    side: 'buy',
    tradeSide: 'open',
    coin: 'U',
  }
  const amounts = { price: `${at}.5`, size: '1', profit: '0', fee: '0.01' }
  const added = { fillKind: 'trade', otherFees: '', reason: '', tag: '' }
  const rest = {
    orderId: `o${at}`,
    owner: 'waiting',
    scope: 'maker',
    source: 'API',
    ...added,
  } as const
  return { kind: 'fill', tradeId: `t${at}`, at: time, ...words, ...amounts, ...rest }
}

/** The rows that the bookings of those records come to, in the order in which they are read. */
export function bookedBy(records: readonly JournalRecord[]): readonly BookedRow[] {
  const bookings = records.flatMap(({ at }) => specimenBookings(at))
  const rows = bookings.filter((booking) => booking.kind !== 'owner')
  const owners = new Map(
    bookings.flatMap((one) => (one.kind === 'owner' ? [[one.tradeId, OWNED]] : [])),
  )
  const fills = rows.filter((row) => row.kind === 'fill')
  return [
    ...fills.map((fill) => ({ ...fill, ...owners.get(fill.tradeId) })),
    ...rows.filter((row) => row.kind === 'funding'),
  ]
}

export function readBooked(journal: BookingStore): readonly BookedRow[] {
  return [...journal.bookings('fill'), ...journal.bookings('funding')]
}

export function openSpecimen(file: string): Journal & BookingStore {
  // Some of what stands before the checkpoint is dropped at it.
  return openSqliteJournal({ file, identity: 'live 1', keepSince: () => DROPPED + 1 })
}

/**
 * The records that a reader is given, those that are packed among them.
 * @throws Failure
 */
export function readRecords(file: string): readonly NumberedRecord[] {
  const reader = new JournalReader(file)
  try {
    return [...reader.records()]
  } finally {
    reader.close()
  }
}

export function appendDurable(journal: Journal, record: JournalRecord): void {
  journal.append(record, specimenBookings(record.at))
  journal.commit((failure) => assert.equal(failure, undefined))
}

/** `killed`: the last records stand in the log; `closed`: in the main file. Both begin with a run that ended well. */
export function makeSpecimens(folder: string): readonly Specimen[] {
  mkdirSync(folder, { recursive: true })
  const killed = makeSpecimen(folder, 'killed')
  const closed = makeSpecimen(folder, 'closed')
  // A power cut may take the last writes of the mark along: then the tail may go with it, and nothing else.
  const cut: Specimen = {
    ...killed,
    name: 'killed, with a mark of before',
    after: { ...killed.after, mark: killed.before.mark },
    durable: killed.durable - LAST_RECORDS,
  }
  return [killed, closed, cut]
}

function makeSpecimen(folder: string, name: 'killed' | 'closed'): Specimen {
  const file = join(folder, `${name}.sqlite`)
  const history: JournalRecord[] = []
  const append = (journal: Journal, count: number): void => {
    for (let left = count; left > 0; left--) {
      const record = specimenRecord(history.length + 1)
      history.push(record)
      appendDurable(journal, record)
    }
  }
  const fill = (journal: Journal): void => {
    for (let at = 1; at <= FILLERS; at++) {
      history.push(specimenRecord(at))
      journal.append(specimenRecord(at))
    }
  }
  const first = openSpecimen(file)
  fill(first)
  append(first, 15)
  first.saveCheckpoint(firstCheckpoint())
  append(first, BEFORE_CHECKPOINT - history.length)
  first.saveCheckpoint(checkpointChanges(BEFORE_CHECKPOINT))
  append(first, 2)
  assert(first.prepareCheckpoint())
  first.close()
  const second = openSpecimen(file)
  // Packs a block of what the checkpoint covers.
  second.flush()
  append(second, AFTER_CHECKPOINT - 2 - LAST_RECORDS)
  if (name === 'closed') second.close()
  const before = readJournalFiles(file)
  const last = name === 'closed' ? openSpecimen(file) : second
  append(last, LAST_RECORDS)
  if (name === 'closed') last.close()
  const after = readJournalFiles(file)
  const { salt } = last
  if (name === 'killed') last.close()
  return {
    name,
    before,
    after,
    salt,
    history,
    checkpointed: BEFORE_CHECKPOINT,
    durable: history.length,
  }
}

function readJournalFiles(file: string): JournalFiles {
  const read = (suffix: string): Buffer =>
    statSync(file + suffix, { throwIfNoEntry: false })
      ? readFileSync(file + suffix)
      : Buffer.alloc(0)
  return { main: read(SUFFIXES.main), wal: read(SUFFIXES.wal), mark: read(SUFFIXES.mark) }
}

/** Lays the files where a journal of that name has them, and takes away what SQLite had made there. */
export function writeJournalFiles(file: string, { main, wal, mark }: JournalFiles): void {
  rmSync(`${file}-shm`, { force: true })
  rmSync(`${file}-wal`, { force: true })
  writeFileSync(file, main)
  writeFileSync(`${file}${SUFFIXES.mark}`, mark)
  if (wal.length > 0) writeFileSync(`${file}${SUFFIXES.wal}`, wal)
}
