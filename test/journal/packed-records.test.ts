import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type JournalRecord } from '../../src/domain/record.ts'
import { JournalReader, type RecordQuery } from '../../src/journal/journal-reader.ts'
import { type Journal } from '../../src/journal/journal.ts'
import { migrateFile } from '../../src/journal/migrate/migrate-file.ts'
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts'
import { verifyJournal } from '../../src/journal/verify-journal.ts'

/** Two blocks and a rest. */
const COVERED = 600
const PACKED = 512
const BEHIND = 40
const ALL = COVERED + BEHIND

let folder: string
let file: string
let keepSinceAt = 0

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'packed-'))
  file = join(folder, 'journal.sqlite')
  keepSinceAt = 0
})

afterEach(() => rmSync(folder, { recursive: true }))

const open = (): Journal =>
  openSqliteJournal({ file, identity: 'live 1', keepSince: () => keepSinceAt })

function restriction(at: number): JournalRecord {
  const reason = `tab\tline\nnumber ${at} ü`
  const scope = `S${at % 7}USDT`
  return { kind: 'restricted', mode: 'halted', code: 'operator', by: 'a test', at, scope, reason }
}

function release(at: number): JournalRecord {
  return { kind: 'released', at, scope: '*', reason: 'looked', by: 'anna' }
}

const recordAt = (at: number): JournalRecord => (at % 10 === 0 ? release(at) : restriction(at))

function fill(journal: Journal): void {
  for (let at = 1; at <= COVERED; at++) journal.append(recordAt(at))
  journal.saveCheckpoint([{ name: 'halts', key: '', value: '1' }])
  for (let at = COVERED + 1; at <= ALL; at++) journal.append(recordAt(at))
}

/** As many times as it takes: nothing is packed then any more. */
function pack(journal: Journal): void {
  for (let flushes = 0; flushes < 4; flushes++) journal.flush()
}

function makePacked(): void {
  const journal = open()
  fill(journal)
  pack(journal)
  journal.close()
}

function change(sql: string): void {
  const database = new DatabaseSync(file)
  database.exec(sql)
  database.close()
}

function count(sql: string): number {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    return Number(database.prepare(`SELECT ${sql} AS n`).get()?.['n'])
  } finally {
    database.close()
  }
}

const rowsLeft = (): number => count('(SELECT count(*) FROM records)')

function read(query: RecordQuery = {}): readonly JournalRecord[] {
  const reader = new JournalReader(file)
  try {
    return [...reader.records(query)].map(({ record }) => record)
  } finally {
    reader.close()
  }
}

const verify = () => verifyJournal({ file, identity: 'live 1' }, { allRows: true })

const instants = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, place) => from + place)

describe('records that a checkpoint covers', () => {
  test('are packed one block a flush, in a fifth of their bytes at most', () => {
    const journal = open()
    fill(journal)
    const bytes = count('(SELECT sum(length(body)) FROM records WHERE sequence <= 512)')

    journal.flush()
    expect(rowsLeft()).toBe(ALL - PACKED / 2)
    pack(journal)

    expect(rowsLeft()).toBe(ALL - PACKED)
    expect(count('(SELECT sum(length(body)) FROM record_blocks)')).toBeLessThan(bytes / 5)
    journal.close()
  })

  test('are not packed in a commit, which an order waits for', () => {
    const journal = open()
    fill(journal)
    journal.commit(() => undefined)

    expect(rowsLeft()).toBe(ALL)
    journal.close()
  })

  test('[DET2] are what was written, and the journal is whole to its first record', () => {
    makePacked()

    expect(read()).toEqual(instants(1, ALL).map(recordAt))
    expect(verify()?.prefix.records).toHaveLength(BEHIND)
  })

  test('are packed at a later flush where they do not fill a block yet', () => {
    makePacked()
    const journal = open()
    for (let at = ALL + 1; at <= 800; at++) journal.append(recordAt(at))
    journal.saveCheckpoint([])
    pack(journal)
    journal.close()

    expect(rowsLeft()).toBe(800 - 768)
    expect(read()).toEqual(instants(1, 800).map(recordAt))
    verify()
  })

  test.each<[string, RecordQuery, (at: number) => boolean]>([
    ['from an instant on', { since: 300 }, (at) => at >= 300],
    ['before an instant', { until: 257 }, (at) => at < 257],
    ['of one kind', { kinds: ['released'] }, (at) => at % 10 === 0],
    ['that name a symbol', { containing: '"S3USDT"' }, (at) => at % 7 === 3 && at % 10 !== 0],
    ['behind a record', { behind: 200 }, (at) => at > 200],
    ['that are none', { containing: 'nowhere' }, () => false],
  ])('are read with the others: %s', (_, query, isMeant) => {
    makePacked()
    const expected = instants(1, ALL).filter(isMeant)

    expect(read(query).map(({ at }) => at)).toEqual(expected)
    if (query.behind !== undefined) return
    expect(read({ ...query, newestFirst: true }).map(({ at }) => at)).toEqual(expected.toReversed())
  })

  test.each([false, true])(
    'are read once each while they are packed, the newest first: %s',
    (newestFirst) => {
      const journal = open()
      fill(journal)
      journal.commit(() => undefined)
      const reader = new JournalReader(file)
      const seen: number[] = []
      for (const { sequence } of reader.records({ newestFirst })) {
        seen.push(sequence)
        if (seen.length === 300 || seen.length === 510) journal.flush()
      }
      reader.close()
      journal.close()

      expect(rowsLeft()).toBe(ALL - PACKED)
      expect(seen.toSorted((one, other) => one - other)).toEqual(instants(1, ALL))
    },
  )

  test('go with age, whole blocks from the oldest on', () => {
    makePacked()
    keepSinceAt = 300
    const journal = open()
    journal.saveCheckpoint([])
    journal.close()

    expect(read()[0]?.at).toBe(257)
    verify()
    keepSinceAt = 630
    const later = open()
    later.saveCheckpoint([])
    later.close()

    expect(read().map(({ at }) => at)).toEqual(instants(630, ALL))
    verify()
  })
})

describe('a damaged block', () => {
  test.each([
    'body = zeroblob(8) WHERE first = 1',
    'body = (SELECT body FROM record_blocks WHERE first = 257) WHERE first = 1',
    'body = substr(body, 1, length(body) - 1) WHERE first = 257',
    "first_link = replace(first_link, substr(first_link, 1, 1), 'x') WHERE first = 257",
    "last_link = 'x' WHERE first = 1",
    'last = last + 1 WHERE first = 257',
    'first = 256 WHERE first = 257',
    'at_min = at_min + 1 WHERE first = 1',
    'at_max = at_max + 1 WHERE first = 257',
  ])('is found by whoever reads it, and holds up no start: %s', (damage) => {
    makePacked()
    change(`UPDATE record_blocks SET ${damage}`)

    expect(() => read()).toThrow(/JOURNAL_CORRUPT/)
    expect(verify).toThrow(/JOURNAL_CORRUPT/)
    const journal = open()
    expect(journal.load().records).toHaveLength(BEHIND)
    journal.close()
  })

  test('that is gone is found', () => {
    makePacked()
    change('DELETE FROM record_blocks WHERE first = 257')

    expect(() => read()).toThrow(/JOURNAL_CORRUPT/)
    expect(verify).toThrow(/JOURNAL_CORRUPT/)
  })

  test('is never made: damaged records stay as they are, which is said once, and the journal is written on', () => {
    const reasons: string[] = []
    const onUnpacked = (reason: string): void => void reasons.push(reason)
    const journal = openSqliteJournal({ file, identity: 'live 1', keepSince: () => 0, onUnpacked })
    fill(journal)
    journal.commit(() => undefined)
    change("UPDATE records SET body = replace(body, 'anna', 'otto') WHERE sequence = 20")
    pack(journal)
    journal.append(recordAt(ALL + 1))
    journal.saveCheckpoint([])
    pack(journal)
    journal.close()

    expect(reasons).toEqual(['the records from 1 on are not as they were written'])
    expect(rowsLeft()).toBe(ALL + 1)
    expect(() => read()).toThrow(/JOURNAL_CORRUPT[^]*sequence +20/)
  })
})

describe('a journal of before there were blocks', () => {
  beforeEach(() => {
    const journal = open()
    fill(journal)
    journal.close()
    change('DROP TABLE record_blocks; DROP TABLE curves; PRAGMA user_version = 5')
  })

  test('is read as it is', () => {
    expect(read()).toEqual(instants(1, ALL).map(recordAt))
    expect(read({ newestFirst: true, kinds: ['released'] })).toHaveLength(ALL / 10)
    verify()
  })

  test('is packed when it is written again, once it is migrated', () => {
    expect(() => open()).toThrow(/JOURNAL_LAYOUT_OLD[^]*intentd journal migrate/)
    expect(migrateFile({ file, identity: 'live 1' })).toMatchObject({ from: 5, to: 8 })
    const journal = open()
    pack(journal)
    journal.close()

    expect(rowsLeft()).toBe(ALL - PACKED)
    expect(read()).toEqual(instants(1, ALL).map(recordAt))
    verify()
  })
})
