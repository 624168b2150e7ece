import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readMark, markFileOf } from '../../../src/journal/durable-mark.ts'
import { JournalReader } from '../../../src/journal/journal-reader.ts'
import { type OpenedJournal } from '../../../src/journal/journal.ts'
import { PostgresConnection, type PostgresPlace } from '../../../src/journal/postgres/connection.ts'
import { type CopyOptions, type CopyReport } from '../../../src/journal/copy/copy-options.ts'
import { requestKill } from '../../../src/journal/postgres/kill-request.ts'
import { copyToFile } from '../../../src/journal/copy/copy-to-file.ts'
import { copyToServer } from '../../../src/journal/copy/copy-to-server.ts'
import { openSqliteJournal } from '../../../src/journal/sqlite-journal.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { systemTimers } from '../../../src/lib/timers.ts'
import { postgresMissing, postgresServer } from '../../support/postgres-server.ts'
import { fill, Machine, record, send } from '../postgres/scene.ts'

/** More than fill a block of packed records. */
const OLD_RECORDS = 300
const KEY = { purpose: 'place', strategyId: 's', key: 'used' } as const

type TestJournal = Pick<
  OpenedJournal,
  'append' | 'saveCheckpoint' | 'flush' | 'load' | 'usedKeys' | 'bookings' | 'salt'
>

/** Something of everything that a journal holds, some of it packed. */
function fillJournal(journal: TestJournal): void {
  journal.append(send(1, 'used'))
  for (let at = 2; at <= OLD_RECORDS; at += 1)
    journal.append(record(at, `number ${at}: \u0000 \uF8FF \u00E9`))
  journal.append(record(OLD_RECORDS + 1), [fill('t1', 10), fill('t2', 20)])
  journal.saveCheckpoint([{ name: 'orders', key: 'a', value: '"first \\u0000 "' }])
  journal.flush()
  journal.append(record(OLD_RECORDS + 2), [fill('t3', 30)])
  journal.flush()
}

/** All that it gives back. */
function contentsOf(journal: TestJournal): unknown {
  return [journal.salt, journal.load(), journal.usedKeys([KEY]), [...journal.bookings('fill')]]
}

function sequencesIn(file: string): readonly number[] {
  const reader = new JournalReader(file)
  try {
    return [...reader.records()].map(({ sequence }) => sequence)
  } finally {
    reader.close()
  }
}

describe.skipIf(postgresMissing !== undefined)('[DET2] a journal that is copied', () => {
  let folder: string
  let place: PostgresPlace
  let options: CopyOptions
  let machine: Machine

  beforeEach(async () => {
    place = (await postgresServer()).newPlace()
    folder = mkdtempSync(join(tmpdir(), 'intentd-copy-'))
    machine = new Machine('b', place)
    const file = join(folder, 'journal.sqlite')
    options = {
      place,
      file,
      fileName: `a ${file}`,
      replicaFile: join(folder, 'journal-replica.sqlite'),
      identity: 'live 1',
      taker: {
        place: 'a',
        name: 'a',
      },
      clock: systemClock,
      timers: systemTimers,
      terms: {
        lastingMs: 6e4,
        validityMs: 0,
      },
      onProgress: () => undefined,
    }
  })

  afterEach(async () => {
    machine.remove()
    rmSync(folder, { recursive: true, force: true })
    await ask('DROP SCHEMA IF EXISTS $schema CASCADE')
  })

  const ask = async (sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> => {
    const connection = new PostgresConnection(place)
    try {
      return await connection.query(sql.replaceAll('$schema', `"${place.schema}"`))
    } finally {
      await connection.close()
    }
  }
  const openFile = () =>
    openSqliteJournal({ file: options.file, identity: 'live 1', keepSince: () => 0 })
  const withFile = <Result>(work: (journal: TestJournal) => Result): Result => {
    const journal = openFile()
    try {
      return work(journal)
    } finally {
      journal.close()
    }
  }
  const withServer = async <Result>(work: (journal: TestJournal) => Result): Promise<Result> => {
    const { journal } = await machine.open()
    try {
      return work(journal)
    } finally {
      await journal.close()
    }
  }
  const toServer = (
    more: { isRetreated?: boolean } & Partial<CopyOptions> = {},
  ): Promise<CopyReport> => copyToServer({ ...options, isRetreated: false, ...more })
  const toFile = (noteRetreat = () => undefined as void): Promise<CopyReport> =>
    copyToFile({ ...options, noteRetreat })

  test('is the same on the server, to the record, and in the file again when it comes back', async () => {
    const written = withFile((journal) => {
      fillJournal(journal)
      return journal.salt
    })
    const before = withFile(contentsOf)
    const counted = { records: OLD_RECORDS + 2, book: 1, keys: 1, fills: 3, funding: 0 }

    const there = await toServer()
    expect(there).toMatchObject({ kind: 'copied', counted, last: { sequence: OLD_RECORDS + 2 } })
    // As the journal: it names all that was traded.
    expect(statSync(options.replicaFile).mode & 0o777).toBe(0o600)
    expect(await withServer(contentsOf)).toEqual(before)

    await withServer((journal) => journal.append(record(1000)))
    const back = await toFile()
    expect(back).toMatchObject({
      kind: 'copied',
      counted: { ...counted, records: OLD_RECORDS + 3 },
    })
    const after = withFile((journal) => [journal.salt, journal.load().records.at(-1)])
    expect(after).toEqual([written, record(1000)])
    expect(sequencesIn(options.file)).toEqual(
      Array.from({ length: OLD_RECORDS + 3 }, (_, at) => at + 1),
    )
  })

  test('goes on where it was moved to, and nowhere else, however often', async () => {
    withFile((journal) => journal.append(record(1)))
    for (const at of [2, 4]) {
      await toServer()
      expect(openFile).toThrow('JOURNAL_MOVED')
      await withServer((journal) => journal.append(record(at)))

      await toFile()
      await expect(machine.open()).rejects.toThrow('JOURNAL_MOVED')
      withFile((journal) => journal.append(record(at + 1)))
    }
    expect(withFile((journal) => journal.load().records.map((one) => one.at))).toEqual([
      1, 2, 3, 4, 5,
    ])
  })

  test('is looked for at the machine that it has gone on to', async () => {
    withFile(fillJournal)
    await toServer()
    const elsewhere = { file: `${options.file}.elsewhere`, fileName: 'second /srv/journal.sqlite' }
    await copyToFile({ ...options, ...elsewhere, noteRetreat: () => undefined })

    const moved =
      /JOURNAL_MOVED[^]* to +second \/srv\/journal\.sqlite[^]*on the machine that `to` names/
    await expect(machine.open()).rejects.toThrow(moved)
    await expect(toServer()).rejects.toThrow(moved)
    await expect(toFile()).rejects.toThrow(moved)
  })

  test('is what it was where the copy fails on the way, and nothing is left', async () => {
    withFile(fillJournal)
    const onProgress = ({ doing }: { doing: string }): void => {
      if (doing === 'reading back') throw new Error('no space left on device')
    }

    await expect(toServer({ onProgress })).rejects.toThrow('JOURNAL_COPY_FAILED')
    expect(await ask("SELECT to_regclass('$schema.meta') AS found")).toEqual([{ found: null }])
    expect(existsSync(`${options.replicaFile}.copied`)).toBe(false)
    withFile((journal) => journal.append(record(1000)))

    await toServer()
    await expect(
      copyToFile({ ...options, onProgress: failing, noteRetreat: () => undefined }),
    ).rejects.toThrow('JOURNAL_COPY_FAILED')
    expect(existsSync(`${options.file}.copied`)).toBe(false)
    expect(await withServer((journal) => journal.load().records.at(-1))).toEqual(record(1000))
  })

  test('that was cut off before the commit is opened nowhere, and copied again, or kept', async () => {
    withFile(fillJournal)
    const before = withFile(contentsOf)
    for (const next of ['copied', 'kept'] as const) {
      await toServer()
      // The transaction is gone; the mark stands.
      await ask('DROP SCHEMA $schema CASCADE')
      expect(openFile).toThrow('JOURNAL_MOVED')

      const report = await (next === 'copied' ? toServer() : toFile())
      expect(report.kind).toBe(next)
      if (next === 'copied') expect(await withServer(contentsOf)).toEqual(before)
      if (next === 'copied') await toFile()
    }
    expect(withFile(contentsOf)).toEqual(before)
  })

  test('is copied back again where it was cut off before its file was opened', async () => {
    withFile(fillJournal)
    await toServer()
    for (const isThere of [true, false]) {
      await toFile()
      // As it is between the two last steps, and between the two before.
      if (!isThere) await ask('UPDATE $schema.lease SET moved_to = NULL')
      const { createCopyMark } = await import('../../../src/journal/durable-mark.ts')
      createCopyMark(markFileOf(options.file))

      expect(openFile).toThrow('JOURNAL_COPY_UNFINISHED')
      expect((await toFile()).kind).toBe('copied')
      expect(withFile((journal) => journal.load().records)).toHaveLength(1)
    }
  })

  test('says so where it was copied before', async () => {
    withFile(fillJournal)
    await toServer()
    expect((await toServer()).kind).toBe('done')
    await toFile()
    expect((await toFile()).kind).toBe('done')
  })

  test('takes the place of a schema that a refused start has made, and of no other', async () => {
    withFile(fillJournal)
    const other = await withServer((journal) => journal.salt)
    await toServer()
    expect(await withServer((journal) => journal.salt)).not.toBe(other)

    rmSync(markFileOf(options.file))
    rmSync(options.file)
    withFile(fillJournal)
    await expect(toServer()).rejects.toThrow('JOURNAL_COPY_TAKEN')
    await expect(toFile()).rejects.toThrow('JOURNAL_COPY_TAKEN')
  })

  test('is not copied from or to where a daemon writes', async () => {
    withFile(fillJournal)
    const { journal } = await machine.open()
    await expect(toServer()).rejects.toThrow('JOURNAL_LEASE_HELD')
    await journal.close()

    await toServer()
    const again = await machine.open()
    await expect(toFile()).rejects.toThrow('JOURNAL_LEASE_HELD')
    await again.journal.close()
  })

  test('does not leave a kill behind that was ordered on the server and is not released', async () => {
    withFile(fillJournal)
    await toServer()
    const connection = new PostgresConnection(place)
    await requestKill(connection, place.schema, { reason: 'all of them', by: 'a test' })
    await connection.close()
    await expect(toFile()).rejects.toThrow('JOURNAL_COPY_KILLED')
    await ask("UPDATE $schema.kill_order SET state = 'released'")
    expect((await toFile()).kind).toBe('copied')
  })

  test('is copied however long its proof keeps the process from renewing the lease', async () => {
    withFile(fillJournal)
    await toServer()
    const terms = { lastingMs: 20, validityMs: 0 }
    const onProgress = (): void => {
      const until = performance.now() + 40
      while (performance.now() < until);
    }
    const report = await copyToFile({ ...options, terms, onProgress, noteRetreat: () => undefined })
    expect(report.kind).toBe('copied')
  })

  test('does not overwrite what is newer: a file of a backup, a server that went on', async () => {
    withFile(fillJournal)
    await toServer()
    await withServer((journal) => journal.append(record(1000)))
    await toFile()
    await ask('UPDATE $schema.lease SET last_sequence = last_sequence + 1')
    await expect(toServer()).rejects.toThrow('JOURNAL_COPY_BEHIND')
  })

  test('is not copied where it is damaged, and says where', async () => {
    withFile(fillJournal)
    await toServer()
    await ask(
      "UPDATE $schema.records SET body = replace(body, 'number 7:', 'number 8:') WHERE sequence = 7",
    )
    await expect(toFile()).rejects.toThrow(
      /JOURNAL_CORRUPT: (?![^]*intentd repair)[^]*Damaged rows/,
    )
    expect(readMark(markFileOf(options.file)).kind).toBe('moved')
  })

  test('[ORD5] takes along that resting orders may have been cancelled without a record', async () => {
    withFile(fillJournal)
    await toServer({ isRetreated: true })
    const { journal } = await machine.open()
    expect(journal.lease?.isAbandoned).toBe(true)
    await journal.close(false)

    await ask("UPDATE $schema.lease SET expires_at = now() - interval '1 h', place = 'elsewhere'")
    let isLeft = false
    await toFile(() => {
      isLeft = true
    })
    expect(isLeft).toBe(true)
  })

  test('is followed by no copy of before: every machine fetches it anew', async () => {
    withFile(fillJournal)
    await toServer()
    await withServer((journal) => journal.append(record(1000)))
    await toFile()
    withFile((journal) => journal.append(record(2000)))
    // The very schema is new, and the machine holds what the old one was.
    await ask('DROP SCHEMA $schema CASCADE')
    await toServer()
    expect(
      await withServer((journal) =>
        journal
          .load()
          .records.slice(1)
          .map((one) => one.at),
      ),
    ).toEqual([1000, 2000])
  })
})

function failing(): never {
  throw new Error('no space left on device')
}

describe.skipIf(postgresMissing !== undefined)('a transaction on a connection that is lost', () => {
  test('is over: nothing of it is asked outside of it', async () => {
    const place = (await postgresServer()).newPlace()
    const [lost, other] = [new PostgresConnection(place), new PostgresConnection(place)]
    try {
      await other.query(`CREATE TABLE "${place.schema}" (value integer)`)
      const work = lost.within('BEGIN', async () => {
        const [row] = await lost.query('SELECT pg_backend_pid() AS pid')
        await other.query('SELECT pg_terminate_backend($1, 10000)', [row?.['pid']])
        await lost.query('SELECT 1').catch(() => undefined)
        await lost.query(`INSERT INTO "${place.schema}" VALUES (1)`)
      })
      await expect(work).rejects.toThrow('the connection was lost')
      expect(await other.query(`SELECT * FROM "${place.schema}"`)).toEqual([])
    } finally {
      await other.query(`DROP TABLE "${place.schema}"`)
      await lost.close()
      await other.close()
    }
  })
})
