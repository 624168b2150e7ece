import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { JournalReader } from '../../src/journal/journal-reader.ts'
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts'
import { verifyJournal } from '../../src/journal/verify-journal.ts'

const WATCH = new URL('../crash/watch-points.ts', import.meta.url).href
const PROCESS = fileURLToPath(new URL('./pack-process.ts', import.meta.url))
const RECORDS = 300
const BLOCK = 256

const KEYS = 80

describe('[ORD5] a process that is killed while it packs', () => {
  test.concurrent.each([
    ['journal.pack.before', RECORDS],
    ['journal.pack.after', RECORDS],
    ['journal.commit.prune.before', RECORDS],
    ['journal.commit.prune.after', RECORDS - BLOCK],
  ])('at %s leaves every record once', async (point, unpacked) => {
    const folder = mkdtempSync(join(tmpdir(), 'killed-packing-'))
    const file = join(folder, 'journal.sqlite')
    // What is made durable by a commit has the name of its last statement: the rows of the block go.
    const after = point.startsWith('journal.commit')
      ? { INTENTD_CRASH_AFTER: 'journal.pack.after' }
      : {}
    try {
      await runUntilKilled(file, { ...after, INTENTD_CRASH_AT: `${point}:1` })
      openSqliteJournal({ file, identity: 'live 1', keepSince: () => 0 }).close()
      verifyJournal({ file, identity: 'live 1' }, { allRows: true })
      expect(sequencesIn(file)).toEqual(Array.from({ length: RECORDS }, (_, place) => place + 1))
      expect(countRows(file)).toBe(unpacked)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe('[ORD2] a process that is killed while it stores keys ahead of a checkpoint', () => {
  test.concurrent.each([
    'journal.checkpoint.drop.before',
    'journal.checkpoint.after',
    'journal.commit.checkpoint.after',
  ])('at %s has used each of them', async (point) => {
    const folder = mkdtempSync(join(tmpdir(), 'killed-keys-'))
    const file = join(folder, 'journal.sqlite')
    try {
      await runUntilKilled(file, {
        INTENTD_CRASH_AFTER: 'journal.commit.send.after',
        INTENTD_CRASH_AT: `${point}:1`,
      })
      const journal = openSqliteJournal({ file, identity: 'live 1', keepSince: () => 0 })
      const asked = Array.from({ length: KEYS }, (_, index) => `order ${index}`)
      const found = journal.usedKeys(
        asked.map((key) => ({ purpose: 'place', strategyId: 's', key })),
      )
      expect([journal.load().records.length, found.map(({ key }) => key)]).toEqual([1, asked])
      journal.close()
      verifyJournal({ file, identity: 'live 1' }, { allRows: true })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

async function runUntilKilled(file: string, env: Readonly<Record<string, string>>): Promise<void> {
  const given = ['--import', WATCH, PROCESS, file, String(RECORDS), String(KEYS)]
  const child = spawn(process.execPath, given, {
    env: { ...process.env, ...env },
    stdio: 'ignore',
  })
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
}

function sequencesIn(file: string): readonly number[] {
  const reader = new JournalReader(file)
  try {
    return Array.from(reader.records(), ({ sequence }) => sequence)
  } finally {
    reader.close()
  }
}

function countRows(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    return Number(database.prepare('SELECT count(*) AS n FROM records').get()?.['n'])
  } finally {
    database.close()
  }
}
