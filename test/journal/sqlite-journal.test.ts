import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type JournalRecord } from '../../src/domain/record.ts'
import { type Journal } from '../../src/journal/journal.ts'
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts'

let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'journal-'))
  file = join(folder, 'journal.sqlite')
})

afterEach(() => rmSync(folder, { recursive: true }))

const halt = (at: number): JournalRecord => ({ kind: 'halt', at, symbol: '*', reason: `number ${at}` })
const open = (identity = 'live 1', keepSinceAt = 0): Journal =>
  openSqliteJournal({ file, identity, keepSince: () => keepSinceAt })

function instants(journal: Journal): number[] {
  return journal.load().records.map(({ at }) => at)
}

/** What a process that is killed leaves on the disk, in a folder of its own. */
function copyAsKilled(): string {
  const copy = join(mkdtempSync(join(folder, 'killed-')), 'journal.sqlite')
  writeFileSync(copy, readFileSync(file))
  writeFileSync(`${copy}-wal`, readFileSync(`${file}-wal`))
  return copy
}

describe('[ORD1] the journal', () => {
  test('gives back what was written, in order, with the salt that it was made with', () => {
    const first = open()
    for (const at of [1, 2, 3]) first.append(halt(at), at === 3)
    first.close()

    const second = open()
    expect([instants(second), second.salt]).toEqual([[1, 2, 3], first.salt])
    second.close()
  })

  test('keeps a prefix when the process is killed: all that was durable, and what stood before it', () => {
    const journal = open()
    journal.append(halt(1), false)
    journal.append(halt(2), true)
    journal.append(halt(3), false)
    const copy = copyAsKilled()
    journal.close()

    const found = openSqliteJournal({ file: copy, identity: 'live 1', keepSince: () => 0 })
    expect(instants(found)).toEqual([1, 2])
    found.close()
  })

  test('lets nobody in while another holds it', () => {
    const journal = open()

    expect(() => open()).toThrow(/JOURNAL_HELD/)
    journal.close()
  })

  test('refuses a journal of another account', () => {
    open().close()

    expect(() => open('live 2')).toThrow(/JOURNAL_FOREIGN/)
  })

  test('starts from its checkpoint, and reads only what came after', () => {
    const journal = open()
    journal.append(halt(1), true)
    journal.saveCheckpoint({ halts: 1 })
    journal.append(halt(2), true)
    journal.close()

    const again = open()
    expect(again.load()).toMatchObject({ checkpoint: { halts: 1 }, records: [{ at: 2 }] })
    again.close()
  })

  test('drops what is old at a checkpoint, and goes on counting', () => {
    const journal = open('live 1', 2)
    for (const at of [1, 2, 3]) journal.append(halt(at), true)
    journal.saveCheckpoint({})
    journal.append(halt(4), true)
    journal.close()

    const again = open()
    expect(instants(again)).toEqual([4])
    again.close()
  })

  test('writes nothing more after a write that failed', () => {
    const journal = open()
    journal.append(halt(1), true)
    const cyclic: Record<string, unknown> = {}
    cyclic['self'] = cyclic

    expect(() => journal.saveCheckpoint(cyclic)).toThrow(/JOURNAL_POISONED/)
    expect(() => journal.append(halt(2), true)).toThrow(/JOURNAL_POISONED/)
    journal.close()
  })

  test('refuses to start over a gap', () => {
    const journal = open()
    for (const at of [1, 2, 3]) journal.append(halt(at), true)
    journal.close()
    const database = new DatabaseSync(file)
    database.exec('DELETE FROM records WHERE at = 2')
    database.close()

    const again = open()
    expect(() => again.load()).toThrow(/JOURNAL_GAP/)
    again.close()
  })

  test('that was torn anywhere gives a prefix, or refuses; never something else', () => {
    const journal = open()
    for (let at = 1; at <= 40; at++) journal.append(halt(at), true)
    const copy = copyAsKilled()
    journal.close()
    const whole = readFileSync(`${copy}-wal`)
    for (let cut = 0; cut < 60; cut++) {
      writeFileSync(`${copy}-wal`, whole)
      truncateSync(`${copy}-wal`, Math.floor((statSync(`${copy}-wal`).size * cut) / 60))
      const found = readTorn(copy)
      if (found) expect(found).toEqual(Array.from({ length: found.length }, (_, index) => index + 1))
    }
  })
})

/** The instants that a torn file gives back; undefined where it is refused. */
function readTorn(torn: string): number[] | undefined {
  let journal: Journal | undefined
  try {
    journal = openSqliteJournal({ file: torn, identity: 'live 1', keepSince: () => 0 })
    return instants(journal)
  } catch {
    return undefined
  } finally {
    journal?.close()
  }
}
