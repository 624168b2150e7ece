import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type JournalRecord, type UsedKey } from '../../src/domain/record.ts'
import { type Journal } from '../../src/journal/journal.ts'
import { repairJournal } from '../../src/journal/repair-journal.ts'
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts'
import { appendDurable } from './specimen.ts'

const IDENTITY = 'live 1'
/** A book that says something. */
const BOOK = [{ name: 'scalars', key: '', value: '{}' }]

let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keys-'))
  file = join(folder, 'journal.sqlite')
})

afterEach(() => rmSync(folder, { recursive: true }))

const open = (keysSinceAt = 0): Journal =>
  openSqliteJournal({
    file,
    identity: IDENTITY,
    keepSince: () => 0,
    keepKeysSince: () => keysSinceAt,
  })

/** Orders by name are sent, and one of a ladder. */
function send(at: number, ...keys: readonly string[]): JournalRecord {
  const orders = [
    ...keys.map((key) => ({ purpose: 'place', key })),
    { purpose: 'quote', key: 'quote:B:1' },
  ]
  return {
    kind: 'send',
    at,
    orders: orders.map((order) => ({ strategyId: 's', ...order })),
  } as never
}

/** A call on the account is decided on. */
function decide(at: number, key: string): JournalRecord {
  return { kind: 'decision', at, strategyId: 's', calls: [{ strategyId: 's', key }] } as never
}

function place(key: string, strategyId = 's') {
  return { purpose: 'place', strategyId, key } as const
}

function damageBy(sql: string): void {
  const database = new DatabaseSync(file)
  database.exec(sql)
  database.close()
}

/** Which of these a new process finds. */
function find(...keys: readonly string[]): readonly string[] {
  const journal = open()
  journal.load()
  try {
    return journal.usedKeys(keys.map((key) => place(key))).map(({ key }) => key)
  } finally {
    journal.close()
  }
}

describe('[ORD2] a key that a record has used', () => {
  test('is known at once, after a restart, and after the checkpoint that contains its record', () => {
    const journal = open()
    journal.append(send(1, 'a'))
    expect(journal.usedKeys([place('a'), place('b')])).toEqual([{ ...place('a'), at: 1 }])
    journal.close()
    expect(find('a', 'b')).toEqual(['a'])

    const second = open()
    second.load()
    appendDurable(second, send(2, 'b', 'a'))
    second.saveCheckpoint(BOOK)
    expect(second.usedKeys([place('a'), place('b'), place('c')])).toEqual([
      { ...place('a'), at: 1 },
      { ...place('b'), at: 2 },
    ])
    second.close()

    expect(find('a', 'b', 'c', 'quote:B:1')).toEqual(['a', 'b'])
  })

  test('is that of its strategy, and of an order or a call', () => {
    const journal = open()
    for (const record of [send(1, 'a'), decide(2, 'b')]) journal.append(record)
    const call = { purpose: 'call', strategyId: 's', key: 'b' } as const
    for (let time = 0; time < 2; time++) {
      const found = journal.usedKeys([place('a', 't'), { ...call, key: 'a' }, place('b'), call])
      expect(found).toEqual([{ ...call, at: 2 }] satisfies UsedKey[])
      journal.saveCheckpoint(BOOK)
    }
    journal.close()
  })

  test('is that of a close or a cancel by hand', () => {
    const journal = open()
    const closed = { kind: 'restricted', at: 1, scope: '*', code: 'close', key: 'c' }
    const cancelled = { kind: 'decision', at: 2, strategyId: 's', command: { key: 'd' } }
    for (const record of [closed, cancelled]) journal.append(record as never)
    const keys = ['c', 'd', 'e'].map(
      (key) => ({ purpose: 'command', strategyId: 'manual', key }) as const,
    )
    for (let time = 0; time < 2; time++) {
      const used = journal.usedKeys(keys).map(({ purpose, key }) => `${purpose} ${key}`)
      expect(used).toEqual(['command c', 'command d'])
      journal.saveCheckpoint(BOOK)
    }
    journal.close()
  })

  test('goes when it is too old, as others take its place', () => {
    const names = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, index) => `${prefix} ${index}`)
    const journal = open(100)
    appendDurable(journal, send(1, ...names('old', 100)))
    journal.saveCheckpoint(BOOK)
    appendDurable(journal, send(100, ...names('new', 40_000)))
    journal.saveCheckpoint(BOOK)
    const count = (prefix: string, of: number) =>
      journal.usedKeys(names(prefix, of).map((key) => place(key))).length
    expect([count('new', 1000), count('old', 100) < 80]).toEqual([1000, true])
    journal.close()

    expect(find('new 1')).toEqual(['new 1'])
  })
})

describe('[ORD2] a store of used keys that is damaged', () => {
  beforeEach(() => {
    const journal = open()
    appendDurable(journal, send(1, 'a', 'b', 'c'))
    journal.saveCheckpoint(BOOK)
    journal.close()
  })

  test.each([
    ['a key is gone', "DELETE FROM used_keys WHERE name LIKE '%a'"],
    ['a key has another name', "UPDATE used_keys SET name = 'place|s|x' WHERE name LIKE '%a'"],
    ['a key has another time', "UPDATE used_keys SET at = 9 WHERE name LIKE '%a'"],
    [
      'a bucket has another number',
      "UPDATE key_buckets SET bucket = bucket + 1 WHERE bucket = (SELECT bucket FROM used_keys WHERE name LIKE '%a')",
    ],
    ['a key lies elsewhere', "UPDATE used_keys SET bucket = bucket + 1 WHERE name LIKE '%a'"],
  ])('ends the run that asks for it: %s; a repair keeps the others', (_, damage) => {
    damageBy(damage)

    expect(() => find('a')).toThrow(/JOURNAL_POISONED[^]*intentd repair/)
    const report = repairJournal({
      file,
      identity: IDENTITY,
      stamp: 'now',
      buildRecord: (reason) => ({
        kind: 'repaired',
        at: 9,
        strategies: [],
        symbols: [],
        reason,
      }),
    })
    expect(report?.refusal.code).toBe('JOURNAL_CORRUPT')
    expect(find('b', 'c')).toEqual(['b', 'c'])
    expect(find('a', 'x').length).toBeLessThan(2)
  })

  test('takes no row for a key in a bucket that was sealed as empty', () => {
    damageBy(`WITH RECURSIVE every(bucket) AS (SELECT 0 UNION ALL SELECT bucket + 1 FROM every WHERE bucket < 65535)
      INSERT INTO used_keys SELECT bucket, 'place|s|x', 1, 'ab' FROM every
      WHERE bucket NOT IN (SELECT bucket FROM key_buckets)`)

    expect(find('a', 'x')).toEqual(['a'])
  })

  test('is not mended by a key that is added to the same place', () => {
    damageBy("DELETE FROM used_keys WHERE name LIKE '%a'")
    const journal = open()
    appendDurable(journal, send(1, 'a'))
    journal.saveCheckpoint(BOOK)
    journal.close()

    expect(() => find('a')).toThrow(/JOURNAL_POISONED[^]*intentd repair/)
    expect(find('b', 'c')).toEqual(['b', 'c'])
  })

  test.each([
    ['a sum', "UPDATE key_buckets SET sum = 'ab'"],
    ['a number of keys', 'UPDATE key_buckets SET keys = keys + 1'],
    ['a bucket', 'DELETE FROM key_buckets WHERE rowid = (SELECT min(bucket) FROM key_buckets)'],
    ['all buckets', 'DELETE FROM key_buckets'],
    ['the seal', 'UPDATE checkpoints SET keys = 2'],
  ])('is refused at the start where it is %s', (_, damage) => {
    damageBy(damage)

    expect(() => open()).toThrow(/JOURNAL_CORRUPT[^]*checkpoint/)
  })

  test('gives its keys to a repair where the book is lost', () => {
    damageBy("UPDATE book SET value = '7'")

    repairJournal({
      file,
      identity: IDENTITY,
      stamp: 'now',
      buildRecord: (reason) => ({
        kind: 'repaired',
        at: 9,
        strategies: [],
        symbols: [],
        reason,
      }),
    })

    const journal = open()
    expect(journal.load().checkpoint).toBeUndefined()
    journal.close()
    expect(find('a', 'b', 'c', 'd')).toEqual(['a', 'b', 'c'])
  })
})
