import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { TrialQueue } from '../../../src/sweep-run/queue/trial-queue.ts'
import { type CopyOptions } from '../../../src/journal/copy/copy-options.ts'
import { copyToFile } from '../../../src/journal/copy/copy-to-file.ts'
import { copyToServer } from '../../../src/journal/copy/copy-to-server.ts'
import { FleetReader } from '../../../src/journal/fleet/fleet-reader.ts'
import { openSqliteJournal } from '../../../src/journal/sqlite-journal.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { systemTimers } from '../../../src/lib/timers.ts'
import { OldPostgres } from '../../support/old-postgres.ts'
import { record } from './scene.ts'

let old: OldPostgres
let folder: string

beforeEach(async () => {
  old = await OldPostgres.start()
  folder = mkdtempSync(join(tmpdir(), 'server-old-'))
})
afterEach(async () => {
  rmSync(folder, { recursive: true })
  await old.close()
})

function copyOptions(): CopyOptions {
  const file = join(folder, 'journal.sqlite')
  return {
    place: {
      url: old.url,
      password: undefined,
      schema: 'intentd_live',
    },
    file,
    identity: 'i',
    replicaFile: join(folder, 'replica.sqlite'),
    fileName: 'here',
    taker: {
      place: 'here',
      name: 'here',
    },
    terms: {
      lastingMs: 1e4,
      validityMs: 0,
    },
    clock: systemClock,
    timers: systemTimers,
    onProgress: () => undefined,
  }
}

async function look(): Promise<void> {
  const reader = new FleetReader({ url: old.url, password: undefined, schema: '' })
  try {
    await reader.assertVersion()
  } finally {
    await reader.close()
  }
}

async function copyThere(): Promise<unknown> {
  const options = copyOptions()
  const journal = openSqliteJournal({ file: options.file, identity: 'i', keepSince: () => 0 })
  journal.append(record(1))
  journal.close()
  return copyToServer({ ...options, isRetreated: false })
}

test.each<[string, () => Promise<unknown>]>([
  ['a look at all accounts', look],
  ['a copy of a journal to it', copyThere],
  [
    'a copy of a journal from it',
    () => copyToFile({ ...copyOptions(), noteRetreat: () => undefined }),
  ],
  ['a queue of sweeps', () => TrialQueue.open(old.url, undefined, 'sweep')],
])(
  'a server that is too old is refused by its version before %s makes anything there',
  async (_, act) => {
    await expect(act()).rejects.toThrow(/JOURNAL_SERVER_OLD[^]*PostgreSQL 14\.19/)
    expect(old.asked.filter((sql) => /create|insert|update/i.test(sql))).toEqual([])
  },
)
