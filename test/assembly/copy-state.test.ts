import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { askForMove, describeMove } from '../../src/cli/operator/find-daemon.ts'
import { describeCopy, describeNext } from '../../src/cli/journal.ts'
import { type DaemonConfig, loadConfig } from '../../src/config/load-config.ts'
import { copyState } from '../../src/assembly/state/copy-state.ts'
import { openJournal } from '../../src/assembly/state/open-journal.ts'
import { keepRunningConfig } from '../../src/assembly/state/running-config.ts'
import { describeHolder, holdDirectory } from '../../src/assembly/state/state-directory.ts'
import { type CopyReport } from '../../src/journal/copy/copy-options.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { systemTimers } from '../../src/lib/timers.ts'
import { postgresMissing, postgresServer } from '../support/postgres-server.ts'

const load = (overrides: readonly string[] = []): DaemonConfig =>
  loadConfig({ file: 'config/paper.yaml', cwd: join(import.meta.dirname, '../..'), overrides })
    .config

describe.skipIf(postgresMissing !== undefined)('the journal of a state directory', () => {
  let directory: string
  let onServer: DaemonConfig
  const inFile = load()
  const frame = { password: undefined, clock: systemClock, timers: systemTimers }

  beforeEach(async () => {
    const { url, schema } = (await postgresServer()).newPlace()
    directory = mkdtempSync(join(tmpdir(), 'intentd-copy-state-'))
    onServer = load([`journal.url=${url}`, `journal.schema=${schema}`])
  })

  afterEach(() => rmSync(directory, { recursive: true }))

  /** As a start opens it, and an end in good order closes it. @returns how many records there were */
  const start = async (config: DaemonConfig): Promise<number> => {
    const logger = { log: () => undefined }
    const journal = await openJournal({
      ...frame,
      config,
      directory,
      logger,
      keepSince: () => 0,
      configOption: ' -c mine.yaml',
    })
    const { length } = journal.load().records
    journal.append({ kind: 'foreign', at: length, symbol: 'A', orderIds: [] })
    await journal.close()
    return length
  }
  const copy = (to: 'postgres' | 'file', config = onServer): Promise<CopyReport> =>
    copyState({ ...frame, config, directory, to, onProgress: () => undefined })

  test('is opened where it was copied to, and refused where it was before', async () => {
    await start(inFile)
    await expect(start(onServer)).rejects.toThrow('intentd journal copy --to postgres -c mine.yaml')
    await copy('postgres')
    await expect(start(inFile)).rejects.toThrow('JOURNAL_MOVED')
    expect(await start(onServer)).toBe(1)
    expect(await askForMove(onServer, { cwd: directory })).toBe(undefined)
    expect([onServer, inFile].map((config) => describeMove(config, directory))).toEqual([
      undefined,
      undefined,
    ])
    await copy('file')
    expect(describeMove(onServer, directory)).toMatch(/was moved from the server to the file here/)
    expect(describeMove(inFile, directory)).toBe(undefined)
    // What other machines hear: they have no file of it.
    const said = await Promise.all(
      [onServer, inFile].map((config) => askForMove(config, { cwd: directory })),
    )
    expect(said).toEqual([expect.stringContaining(join(directory, 'journal.sqlite')), undefined])
    await expect(start(onServer)).rejects.toThrow('JOURNAL_MOVED')
    expect(await start(inFile)).toBe(2)
  })

  test('is not begun anew in a file where it was on the server', async () => {
    await start(onServer)
    await expect(start(inFile)).rejects.toThrow('intentd journal copy --to file -c mine.yaml')
    await copy('file')
    expect(await start(inFile)).toBe(1)
  })

  test('is not copied while a daemon holds it, nor without a server', async () => {
    await start(inFile)
    await expect(copy('postgres', inFile)).rejects.toThrow('JOURNAL_COPY_NO_SERVER')
    const lock = holdDirectory(directory, describeHolder('intentd', 0))
    await expect(copy('postgres')).rejects.toThrow('STATE_HELD')
    lock.release()
  })

  test('is told of with what was counted, and what comes next', async () => {
    await start(inFile)
    const report = await copy('postgres')
    const text = describeCopy(report, { to: 'postgres', seconds: 1.26, next: 'NEXT' })
    expect(text.replace(/[0-9a-f]{32}/, 'LINK'))
      .toBe(`copied:   in 1.3 s, and read back: every record, row and sum is as it was written
records:  1, the last one is 1 (LINK)
book:     0 rows, 0 used keys
booked:   0 fills, 0 funding payments
left:     the file is marked as moved: no start takes it for the journal, explain still reads it
next:     NEXT`)
  })
})

describe('what comes after a copy', () => {
  const set = 'journal.url=postgresql://db.example/intentd?sslmode=verify-full'
  let directory: string

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'intentd-copy-next-'))
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  const next = (
    to: 'postgres' | 'file',
    options: { readonly config?: string; readonly set: readonly string[] },
    mainFile?: string,
  ): string => {
    const config = { ...load(), file: '/bots/bob.yaml', state: { ...load().state, directory } }
    if (mainFile !== undefined)
      keepRunningConfig(config, { mainFile, set: ['name=two'], params: [], market: [] })
    return describeNext(config, options, to)
  }

  test.each([
    ['postgres', [], '`intentd run -c bob.yaml`, here or on another machine'],
    ['postgres', [set], `\`intentd run -c bob.yaml --set '${set}'\`, here or on another machine`],
    ['file', [], 'take journal.url out of bob.yaml, then `intentd run -c bob.yaml`'],
    [
      'file',
      [set, 'name=bob'],
      '`intentd run -c bob.yaml --set name=bob`, without --set journal.url',
    ],
  ] as const)('is a run with the options that were given: to %s, %j', (to, given, said) => {
    expect(next(to, { config: 'bob.yaml', set: given }, '/bots/bob.yaml')).toBe(said)
    expect(next(to, { config: 'bob.yaml', set: given })).toBe(said)
  })

  test.each([
    ['postgres', [], '`intentd run -c /bots/all.yaml --set name=two`, here or on another machine'],
    [
      'postgres',
      [set],
      'set journal.url in bob.yaml, then `intentd run -c /bots/all.yaml --set name=two`, here or on another machine',
    ],
    [
      'file',
      [],
      'take journal.url out of bob.yaml, then `intentd run -c /bots/all.yaml --set name=two`',
    ],
  ] as const)(
    'is, for an account that another file lists, a run of that: to %s, %j',
    (to, given, said) => {
      expect(next(to, { config: 'bob.yaml', set: given }, '/bots/all.yaml')).toBe(said)
    },
  )
})
