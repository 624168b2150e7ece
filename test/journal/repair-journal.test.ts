import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type JournalRecord, type RepairedRecord } from '../../src/domain/record.ts'
import { type JournalContents } from '../../src/journal/journal.ts'
import { repairJournal, type RepairReport } from '../../src/journal/repair-journal.ts'
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts'
import { appendDurable } from './specimen.ts'

let folder: string
let file: string
let salt: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'repair-'))
  file = join(folder, 'journal.sqlite')
  const journal = open()
  salt = journal.salt
  for (const at of [1, 2]) appendDurable(journal, halt(at))
  journal.saveCheckpoint(HALTS)
  for (const at of [3, 4, 5]) appendDurable(journal, halt(at))
  journal.close()
})

afterEach(() => rmSync(folder, { recursive: true }))

const HALTS = ['a', 'b'].map((key) => ({ name: 'halts', key, value: '2' }))
const halt = (at: number): JournalRecord => ({
  kind: 'restricted',
  at,
  scope: '*',
  mode: 'halted',
  code: 'operator',
  by: 'a test',
  reason: `number ${at}`,
})
const open = () => openSqliteJournal({ file, identity: 'live 1', keepSince: () => 0 })

function repair(stamp = 'now'): RepairReport | undefined {
  return repairJournal({ file, identity: 'live 1', stamp, buildRecord })
}

function buildRecord(reason: string): RepairedRecord {
  return { kind: 'repaired', at: 9, strategies: ['grid'], symbols: ['BTCUSDT'], reason }
}

function damageBy(sql: string): void {
  const database = new DatabaseSync(file)
  database.exec(sql)
  database.close()
}

function contents(): JournalContents {
  const journal = open()
  const found = journal.load()
  expect(journal.salt).toBe(salt)
  journal.close()
  return found
}

describe('a repair', () => {
  test('leaves a sound journal as it is', () => {
    expect(repair()).toBeUndefined()

    expect(contents().records.map(({ at }) => at)).toEqual([3, 4, 5])
  })

  test('carries over what was before the damage, says what the rest was, and keeps what it found', () => {
    damageBy("UPDATE records SET body = replace(body, '4', '7') WHERE at = 4")
    const found = readFileSync(file)

    const report = repair()

    expect(report).toMatchObject({
      records: 1,
      lostMin: 2,
      hasCheckpoint: true,
      hasSalt: true,
      aside: `${file}.damaged-now`,
    })
    expect(contents()).toEqual({
      checkpoint: HALTS,
      records: [halt(3), buildRecord('the journal was repaired after JOURNAL_CORRUPT')],
    })
    expect(readFileSync(`${file}.damaged-now`)).toEqual(found)
  })

  test('mends what is damaged before the checkpoint, which a start does not read', () => {
    damageBy("UPDATE records SET body = replace(body, '2', '7') WHERE at = 2")
    open().close()

    expect(repair()).toMatchObject({ refusal: { code: 'JOURNAL_CORRUPT' }, records: 3, lostMin: 0 })
    expect(contents().records.map(({ at }) => at)).toEqual([3, 4, 5, 9])
    expect(repair('again')).toBeUndefined()
  })

  test('that is wanted before old records can be dropped is named where that fails', () => {
    const journal = openSqliteJournal({ file, identity: 'live 1', keepSince: () => 4 })
    damageBy('CREATE TRIGGER damaged BEFORE DELETE ON records BEGIN SELECT RAISE(ABORT, 1); END')
    expect(() => journal.saveCheckpoint([])).toThrow(/JOURNAL_POISONED[^]*intentd repair/)
    journal.close()
  })

  test('takes a lost tail for lost, however sound the rest is', () => {
    damageBy('DELETE FROM records WHERE at = 5')

    expect(repair()).toMatchObject({ lostMin: 1 })

    expect(contents().records).toEqual([
      halt(3),
      halt(4),
      buildRecord('the journal was repaired after JOURNAL_TAIL_LOST'),
    ])
  })

  test('begins with nothing where nothing is readable, under another salt', () => {
    writeFileSync(file, 'no database at all'.repeat(1000))

    const report = repair()

    expect(report).toMatchObject({ records: 0, lostMin: 5, hasCheckpoint: false, hasSalt: false })
    const journal = open()
    expect(journal.load()).toMatchObject({ checkpoint: undefined, records: [{ kind: 'repaired' }] })
    expect(journal.salt).not.toBe(salt)
    journal.close()
  })

  test('that was broken off lets nothing else in, and begins again from what it had put aside', () => {
    damageBy('DELETE FROM records WHERE at = 5')
    const found = readFileSync(file)
    expect(() =>
      repairJournal({ file, identity: 'live 1', stamp: 'first', buildRecord: breakOff }),
    ).toThrow(/broken off/)
    writeFileSync(file, found.subarray(0, 5000))

    expect(() => open()).toThrow(/JOURNAL_REPAIR_UNFINISHED[^]*journal.sqlite.damaged-first/)
    repair('second')

    expect(contents().records.map(({ at }) => at)).toEqual([3, 4, 9])
    expect(readdirSync(folder).filter((name) => name.includes('second'))).toEqual([])
  })

  test('does not touch the journal of another account', () => {
    expect(() => repairJournal({ file, identity: 'live 2', stamp: 'now', buildRecord })).toThrow(
      /JOURNAL_FOREIGN/,
    )

    expect(contents().records).toHaveLength(3)
  })
})

function breakOff(): never {
  throw new RangeError('broken off')
}
