import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import { rebuildBook } from '../../../src/engine/book/book-rows.ts'
import { knowsFill } from '../../../src/engine/book/book.ts'
import { readLayout } from '../../../src/journal/journal-layout.ts'
import { JournalReader } from '../../../src/journal/journal-reader.ts'
import { migrateFile, planMigration } from '../../../src/journal/migrate/migrate-file.ts'
import { repairJournal } from '../../../src/journal/repair-journal.ts'
import { openSqliteJournal } from '../../../src/journal/sqlite-journal.ts'
import { verifyJournal } from '../../../src/journal/verify-journal.ts'
import { IDENTITY, unpackState } from '../../install/released-state.ts'

const WATCH = new URL('../../crash/watch-points.ts', import.meta.url).href
const PROCESS = fileURLToPath(new URL('./migrate-process.ts', import.meta.url))
const OLD = [
  ['0.1.0', 5],
  ['0.1.0-layout-6', 6],
  ['0.1.0-layout-7', 7],
] as const

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

function unpack(version: string): string {
  const { directory, journal } = unpackState(version)
  folders.push(directory)
  return journal
}

function layoutOf(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    return readLayout(database)
  } finally {
    database.close()
  }
}

function change(file: string, sql: string): void {
  const database = new DatabaseSync(file)
  database.exec(sql)
  database.close()
}

/** Everything that a reader gets: records with their chain, and fills. */
function contentsOf(file: string) {
  const reader = new JournalReader(file)
  try {
    return { records: [...reader.records()], fills: [...reader.bookings('fill')] }
  } finally {
    reader.close()
  }
}

const verify = (file: string) => verifyJournal({ file, identity: IDENTITY }, { allRows: true })
const migrate = (file: string) => migrateFile({ file, identity: IDENTITY })

describe('[DET2] a journal of an earlier layout', () => {
  test.each(OLD)(
    'of %s has the present one afterwards, and every record and fill',
    (version, layout) => {
      const file = unpack(version)
      const before = contentsOf(file)
      const { sequence, link } = verify(file)?.prefix.last ?? {}

      expect(migrate(file)).toMatchObject({ from: layout, to: 8, copy: `${file}.layout-${layout}` })

      expect(layoutOf(file)).toBe(8)
      expect(contentsOf(file)).toEqual(before)
      expect(verify(file)?.prefix.last).toMatchObject({ sequence, link })
      expect(before.fills.length).toBeGreaterThan(10)
      const unknown = { reason: '', tag: '', ...(layout < 7 && { fillKind: '', otherFees: '' }) }
      for (const fill of before.fills) expect(fill).toMatchObject(unknown)
      expect(migrate(file)).toBeUndefined()
    },
  )

  test.each(OLD)(
    'of %s knows each of its fills by trade and order, and no other of the trade',
    (version) => {
      const file = unpack(version)
      migrate(file)

      const journal = openSqliteJournal({ file, identity: IDENTITY, keepSince: () => 0 })
      const book = rebuildBook(journal.load(), 'one_way_mode')
      const fills = [...journal.bookings('fill')].flatMap((row) =>
        row.kind === 'fill' ? [row] : [],
      )
      journal.close()
      const known = fills.filter(({ at }) => at >= book.tradesSinceAt) as never[]
      expect(known.length).toBeGreaterThan(0)
      expect(known.filter((fill) => !knowsFill(book, fill))).toEqual([])
      expect(
        known.filter((fill) => knowsFill(book, { ...(fill as object), orderId: '7' } as never)),
      ).toEqual([])
    },
  )

  test.each(OLD)(
    'of %s is kept as it was beside it, and continues from there',
    (version, layout) => {
      const file = unpack(version)
      const before = contentsOf(file)
      migrate(file)
      const copy = `${file}.layout-${layout}`

      expect([layoutOf(copy), contentsOf(copy)]).toEqual([layout, before])
      // The way back to the earlier version, and forwards once more.
      for (const part of ['-wal', '-shm']) rmSync(`${file}${part}`, { force: true })
      copyFileSync(copy, file)
      copyFileSync(`${copy}.mark`, `${file}.mark`)
      expect(verify(file)?.layout).toBe(layout)
      expect(migrate(file)?.copy).toBe(copy)
      expect(contentsOf(file)).toEqual(before)
    },
  )

  test('is not changed by a plan', () => {
    const file = unpack('0.1.0')
    const bytes = readFileSync(file)
    const names = readdirSync(dirname(file))

    const plan = planMigration({ file, identity: IDENTITY })

    expect(plan).toMatchObject({ from: 5, to: 8, counted: { fills: 17, records: 67, book: 86 } })
    expect(plan?.neededBytes).toBe(2 * bytes.length)
    expect(readdirSync(dirname(file)).filter((name) => !/-(?:wal|shm)$/.test(name))).toEqual(names)
    expect(readFileSync(file)).toEqual(bytes)
  })

  test('is read as it is, written only once it is migrated, and never where it is damaged', () => {
    const file = unpack('0.1.0')
    expect(() => openSqliteJournal({ file, identity: IDENTITY, keepSince: () => 0 })).toThrow(
      /JOURNAL_LAYOUT_OLD[^]*intentd journal migrate/,
    )
    change(file, "UPDATE fills SET price = '1'")

    expect(() => migrate(file)).toThrow(/JOURNAL_CORRUPT[^]*fills/)

    expect([layoutOf(file), existsSync(`${file}.layout-5`)]).toEqual([5, false])
  })

  test('does not take the place of a copy of another state', () => {
    const file = unpack('0.1.0')
    const other = join(dirname(file), 'journal.sqlite.layout-5')
    copyFileSync(unpack('0.1.0-layout-6'), other)
    const bytes = readFileSync(other)

    expect(migrate(file)?.copy).toBe(`${file}.layout-5.2`)

    expect(readFileSync(other)).toEqual(bytes)
  })

  test('that a later version wrote is refused', () => {
    const file = unpack('0.1.0')
    change(file, 'PRAGMA user_version = 9')

    expect(() => migrate(file)).toThrow(
      /JOURNAL_LAYOUT_UNKNOWN: the journal was written by a later version/,
    )
    expect(() => verify(file)).toThrow(/JOURNAL_LAYOUT_UNKNOWN/)
  })

  test('is repaired into one of the present layout', () => {
    const file = unpack('0.1.0-layout-6')
    change(file, "UPDATE fills SET price = '1' WHERE tradeId = (SELECT min(tradeId) FROM fills)")
    const buildRecord = (reason: string) =>
      ({ kind: 'repaired', at: 1, strategies: [], symbols: [], reason }) as const

    expect(repairJournal({ file, identity: IDENTITY, buildRecord, stamp: 'x' })).toMatchObject({
      hasSalt: true,
    })

    expect([layoutOf(file), contentsOf(file).fills.length]).toEqual([8, 20])
  })
})

/** In their order: the copy begins, is whole, is durable, has its name; the change begins, and is committed. */
const POINTS = [
  'file.open.journal.sqlite.layout-6.part.before',
  'file.open.journal.sqlite.layout-6.part.after',
  'file.sync.before',
  'file.rename.journal.sqlite.layout-6.part.before',
  'file.rename.journal.sqlite.layout-6.part.after',
  'journal.layout.before',
  'journal.layout.after',
  'journal.commit.read.before',
  'journal.commit.read.after',
]

describe('[ORD5] a migration that is killed', () => {
  test.concurrent.each(POINTS)('at %s is run again, and nothing is lost', async (point) => {
    const { directory, journal: file } = unpackState('0.1.0-layout-6')
    try {
      const before = contentsOf(file)
      const child = spawn(process.execPath, ['--import', WATCH, PROCESS, file, IDENTITY], {
        env: { ...process.env, INTENTD_CRASH_AT: `${point}:1` },
        stdio: 'ignore',
      })
      expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])

      const isDone = point === 'journal.commit.read.after'
      expect(migrate(file)?.copy).toBe(isDone ? undefined : `${file}.layout-6`)
      expect([layoutOf(file), layoutOf(`${file}.layout-6`)]).toEqual([8, 6])
      expect(contentsOf(file)).toEqual(before)
      expect(contentsOf(`${file}.layout-6`)).toEqual(before)
      verify(file)
      expect(readdirSync(dirname(file)).filter((name) => name.endsWith('.part'))).toEqual([])
    } finally {
      rmSync(directory, { recursive: true })
    }
  })
})
