import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type JournalRecord } from '../../src/domain/record.ts'
import { createRandom } from '../../src/lib/random.ts'
import { type BookRow, type Journal } from '../../src/journal/journal.ts'
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts'
import { appendDurable } from './specimen.ts'

let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'journal-'))
  file = join(folder, 'journal.sqlite')
})

afterEach(() => rmSync(folder, { recursive: true }))

const halt = (at: number, reason = `number ${at}`): JournalRecord => ({
  kind: 'restricted',
  at,
  scope: '*',
  mode: 'halted',
  code: 'operator',
  by: 'a test',
  reason,
})
const halts = (count: number): readonly BookRow[] => [
  { name: 'halts', key: '', value: String(count) },
]
const open = (identity = 'live 1', keepSinceAt = 0): Journal =>
  openSqliteJournal({ file, identity, keepSince: () => keepSinceAt })

function instants(journal: Journal): number[] {
  return journal.load().records.map(({ at }) => at)
}

/** What a process that is killed leaves on the disk, in a folder of its own. */
function copyAsKilled(): string {
  const copy = join(mkdtempSync(join(folder, 'killed-')), 'journal.sqlite')
  writeFileSync(copy, readFileSync(file))
  for (const beside of ['-wal', '.mark'])
    writeFileSync(`${copy}${beside}`, readFileSync(`${file}${beside}`))
  return copy
}

describe('[ORD1] the journal', () => {
  test('gives back what was written, in order, with the salt that it was made with', () => {
    const first = open()
    for (const at of [1, 2, 3]) first.append(halt(at))
    first.close()

    const second = open()
    expect([instants(second), second.salt]).toEqual([[1, 2, 3], first.salt])
    second.close()
  })

  test('keeps a prefix when the process is killed: all that was durable, and what stood before it', () => {
    const journal = open()
    journal.append(halt(1))
    appendDurable(journal, halt(2))
    journal.append(halt(3))
    const copy = copyAsKilled()
    journal.close()

    const found = openSqliteJournal({ file: copy, identity: 'live 1', keepSince: () => 0 })
    expect(instants(found)).toEqual([1, 2])
    found.close()
  })

  test('refuses a journal of another account', () => {
    open().close()

    expect(() => open('live 2')).toThrow(/JOURNAL_FOREIGN/)
  })

  test('starts from its checkpoint, and reads only what came after', () => {
    const journal = open()
    appendDurable(journal, halt(1))
    journal.saveCheckpoint(halts(1))
    appendDurable(journal, halt(2))
    journal.close()

    const again = open()
    expect(again.load()).toMatchObject({ checkpoint: halts(1), records: [{ at: 2 }] })
    again.close()
  })

  test('drops what is old at a checkpoint, and goes on counting', () => {
    const journal = open('live 1', 2)
    for (const at of [1, 2, 3]) appendDurable(journal, halt(at))
    journal.saveCheckpoint([])
    appendDurable(journal, halt(4))
    journal.close()

    const again = open()
    expect(instants(again)).toEqual([4])
    again.close()
  })

  test('[DET2] gives back the rows that all checkpoints come to, in the order of a map', () => {
    const put = (key: string, value: string | undefined) => ({ name: 'halts', key, value })
    const map = new Map<string, string>()
    const random = createRandom('rows')
    for (let run = 0; run < 20; run++) {
      const journal = open()
      for (let checkpoint = 0; checkpoint < 3; checkpoint++) {
        const changes = Array.from({ length: 6 }, (_, index) => {
          const key = `key ${random.integer(12)}`
          const value = random.integer(3) === 0 ? undefined : `${run} ${checkpoint} ${index}`
          if (value === undefined) map.delete(key)
          else map.set(key, value)
          return put(key, value)
        })
        journal.append(halt(run))
        journal.saveCheckpoint(changes)
      }
      journal.close()
    }

    const again = open()
    const rows = again.load().checkpoint ?? []
    expect(rows.map(({ key, value }) => [key, value])).toEqual([...map])
    expect(again.recordsSinceCheckpoint).toBe(0)
    again.close()
  })

  test('writes nothing more after a write that failed', () => {
    const journal = open()
    appendDurable(journal, halt(1))
    const broken = [{ name: 'halts', key: '', value: {} as never }]

    expect(() => journal.saveCheckpoint(broken)).toThrow(/JOURNAL_POISONED/)
    expect(() => appendDurable(journal, halt(2))).toThrow(/JOURNAL_POISONED/)
    journal.close()
  })

  test.each([
    ['a record is gone', 'DELETE FROM records WHERE at = 2', /JOURNAL_CORRUPT[^]*sequence +2/],
    [
      'a record says something else',
      "UPDATE records SET body = replace(body, '2', '7') WHERE at = 2",
      /sequence +2/,
    ],
    ['a record has another time', 'UPDATE records SET at = 9 WHERE at = 2', /sequence +2/],
    [
      'a record is of another kind',
      "UPDATE records SET kind = 'fills' WHERE at = 2",
      /sequence +2/,
    ],
    [
      'two records changed places',
      'UPDATE records SET sequence = -sequence; UPDATE records SET sequence = 4 + sequence',
      /sequence +1/,
    ],
    [
      'a record stands twice',
      'INSERT INTO records SELECT 4, at, kind, body, booked, link FROM records WHERE at = 3',
      /sequence +4/,
    ],
    [
      'the last record is gone',
      'DELETE FROM records WHERE at = 3',
      /JOURNAL_TAIL_LOST[^]*found +2[^]*durable +3/,
    ],
    ['all records are gone', 'DELETE FROM records', /JOURNAL_TAIL_LOST/],
    [
      'the salt is another one',
      "UPDATE meta SET value = 'ab' WHERE name = 'salt'",
      /JOURNAL_CORRUPT/,
    ],
    [
      'the identity is another one',
      "UPDATE meta SET value = 'live 2' WHERE name = 'identity'",
      /JOURNAL_CORRUPT/,
    ],
    ['it has no salt', "DELETE FROM meta WHERE name = 'salt'", /JOURNAL_CORRUPT/],
    ['a table is gone', 'DROP TABLE checkpoints', /JOURNAL_CORRUPT/],
  ])('refuses a journal in which %s', (_, damage, refusal) => {
    const journal = open()
    for (const at of [1, 2, 3]) appendDurable(journal, halt(at))
    journal.close()
    damageBy(damage)

    expect(() => open()).toThrow(refusal)
  })

  test.each([
    ['number of rows', 'UPDATE checkpoints SET rows = 2'],
    ['sum', "UPDATE checkpoints SET sum = 'ab'"],
    ['seal', "UPDATE checkpoints SET seal = 'ab'"],
    ['place', 'UPDATE checkpoints SET sequence = 1'],
    ['link', "UPDATE checkpoints SET link = 'ab'"],
  ])('refuses a checkpoint with another %s', (_, damage) => {
    const journal = open()
    for (const at of [1, 2]) appendDurable(journal, halt(at))
    journal.saveCheckpoint(halts(2))
    journal.close()
    damageBy(damage)

    expect(() => open()).toThrow(/JOURNAL_CORRUPT[^]*checkpoint/)
  })

  test.each([
    ['has another value', "UPDATE book SET value = '7' WHERE key = 'b'"],
    ['has another key', "UPDATE book SET key = 'd' WHERE key = 'b'"],
    ['stands elsewhere', "UPDATE book SET position = 9 WHERE key = 'b'"],
    ['is gone', "DELETE FROM book WHERE key = 'b'"],
    ['is gone, the last of all', 'DELETE FROM book'],
    [
      'stands twice',
      'INSERT INTO book SELECT 9, name, key, value, digest FROM book WHERE position = 2',
    ],
    ['is as it was before', "REPLACE INTO book SELECT * FROM older WHERE key = 'b'"],
    ['is one that was taken away', "REPLACE INTO book SELECT * FROM older WHERE key = 'c'"],
    ['has no checkpoint', 'DELETE FROM checkpoints'],
  ])('refuses a checkpoint of which a row %s', (_, damage) => {
    const journal = open()
    const rows = ['a', 'b', 'c'].map((key) => ({ name: 'halts', key, value: '1' }))
    journal.saveCheckpoint(rows)
    damageBy('CREATE TABLE older AS SELECT * FROM book')
    appendDurable(journal, halt(1))
    journal.saveCheckpoint([
      { name: 'halts', key: 'b', value: '2' },
      { name: 'halts', key: 'c', value: undefined },
    ])
    journal.close()
    damageBy(damage)

    expect(() => open()).toThrow(/JOURNAL_CORRUPT[^]*checkpoint/)
  })

  test('refuses to begin anew where there was a journal', () => {
    const journal = open()
    appendDurable(journal, halt(1))
    journal.close()
    rmSync(file)

    expect(() => open()).toThrow(/JOURNAL_TAIL_LOST[^]*durable +1/)
  })

  test.each([
    ['is gone', () => rmSync(`${file}.mark`), /JOURNAL_MARK_DAMAGED/],
    ['is cut short', () => damageMark(/.\n/, ''), /JOURNAL_MARK_DAMAGED/],
    ['names a record before the checkpoint', () => damageMark('3 ', '1 '), /JOURNAL_MARK_DAMAGED/],
    [
      'names a record with another link',
      () => damageMark(/(.)\n/, differently),
      /JOURNAL_MARK_DAMAGED/,
    ],
    ['names a record that never was', () => damageMark('3 ', '4 '), /JOURNAL_TAIL_LOST/],
  ])('refuses a journal whose mark %s: its end could be anywhere', (_, damage, refusal) => {
    const journal = open()
    for (const at of [1, 2]) appendDurable(journal, halt(at))
    journal.saveCheckpoint(halts(2))
    appendDurable(journal, halt(3))
    journal.close()
    damage()

    expect(() => open()).toThrow(refusal)
  })

  test('starts with a mark as old as the checkpoint: a power cut may take its later writes', () => {
    const journal = open()
    appendDurable(journal, halt(1))
    journal.saveCheckpoint(halts(1))
    const mark = readFileSync(`${file}.mark`)
    appendDurable(journal, halt(2))
    journal.close()
    writeFileSync(`${file}.mark`, mark)

    const again = open()
    expect(instants(again)).toEqual([2])
    again.close()
  })

  test('refuses a record of another run, sound as it is', () => {
    const runs = ['one', 'other'].map((name) => join(folder, name))
    for (const run of runs) {
      const journal = openSqliteJournal({
        file: run,
        identity: 'live 1',
        salt: 'ab',
        keepSince: () => 0,
      })
      for (const at of [1, run === runs[0] ? 2 : 7, 3]) appendDurable(journal, halt(at))
      journal.close()
    }
    const [one = '', other] = runs
    file = one
    damageBy(
      `ATTACH '${other}' AS other; REPLACE INTO records SELECT * FROM other.records WHERE sequence = 2`,
    )

    expect(() => open()).toThrow(/JOURNAL_CORRUPT[^]*sequence +3/)
  })

  test('starts where the process was killed between making the journal and its mark', () => {
    open().close()
    rmSync(`${file}.mark`)

    const again = open()
    expect(instants(again)).toEqual([])
    again.close()
  })

  test('refuses the journal of another version', () => {
    open().close()
    damageBy('PRAGMA user_version = 1')

    expect(() => open()).toThrow(
      /JOURNAL_LAYOUT_UNKNOWN: the journal was written by an earlier version/,
    )
  })
})

function damageMark(what: string | RegExp, by: string | ((found: string) => string)): void {
  const text = readFileSync(`${file}.mark`, 'latin1')
  writeFileSync(
    `${file}.mark`,
    typeof by === 'string' ? text.replace(what, by) : text.replace(what, by),
  )
}

function differently(lastOfLine: string): string {
  return lastOfLine.startsWith('0') ? '1\n' : '0\n'
}

function damageBy(sql: string): void {
  const database = new DatabaseSync(file)
  database.exec(sql)
  database.close()
}

test('its file does not grow for ever: the pages of what is dropped are used again', () => {
  let now = 0
  const journal = openSqliteJournal({ file, identity: 'live 1', keepSince: () => now - 500 })
  const sizes = Array.from({ length: 8 }, () => {
    for (const endAt = now + 500; now < endAt; now++) {
      journal.append(halt(now, 'x'.repeat(1000)))
      if (now % 50 === 0) journal.flush()
    }
    journal.saveCheckpoint(halts(now))
    return statSync(file).size + statSync(`${file}-wal`).size
  })
  journal.close()

  const settled = Math.max(...sizes.slice(0, 4))
  expect(Math.max(...sizes.slice(4))).toBeLessThanOrEqual(settled * 1.1)
  expect(statSync(file).size).toBeLessThan(3 * 500 * 1100)
})
