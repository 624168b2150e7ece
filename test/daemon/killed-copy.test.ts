import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { type DaemonConfig, loadConfig } from '../../src/config/load-config.ts'
import { openJournal } from '../../src/assembly/state/open-journal.ts'
import { stateDirectoryOf } from '../../src/assembly/state/state-place.ts'
import { type OpenedJournal } from '../../src/journal/journal.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { systemTimers } from '../../src/lib/timers.ts'
import { postgresMissing, postgresServer } from '../support/postgres-server.ts'
import { type Ending, IntentdProcess } from './intentd-process.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const WATCH = new URL('../crash/watch-points.ts', import.meta.url).href
const FILE = 'config/paper.yaml'
/** Below the checkpoint of an end in good order, and behind it. */
const RECORDS = 3

type Side = 'postgres' | 'file'

/** A state directory, its place on a server, and both configurations that it can be started with. */
class CopyScene {
  readonly #home = mkdtempSync(join(tmpdir(), 'intentd-killed-copy-'))
  readonly #overrides: Readonly<Record<Side, readonly string[]>>

  constructor(url: string, schema: string) {
    const file = [`state.directory=${join(this.#home, 'state')}`]
    this.#overrides = {
      file,
      postgres: [...file, `journal.url=${url}`, `journal.schema=${schema}`],
    }
  }

  /** `intentd journal copy`, to its end or until it is killed at a point of `watch-points.ts`. */
  copy(to: Side, point?: string): Promise<Ending> {
    const set = this.#overrides.postgres.flatMap((one) => ['--set', one])
    const env = {
      XDG_STATE_HOME: this.#home,
      ...(point === undefined ? {} : { INTENTD_CRASH_AT: `${point}:1` }),
    }
    const args = ['journal', 'copy', '--to', to, '-c', FILE, ...set]
    return new IntentdProcess(args, { cwd: ROOT, env, preload: WATCH }).ended
  }

  async write(side: Side): Promise<void> {
    mkdirSync(this.#directory, { recursive: true })
    const journal = await this.#open(side)
    for (let at = 1; at <= RECORDS; at += 1)
      journal.append({ kind: 'foreign', at, symbol: 'A', orderIds: [] })
    await journal.close()
  }

  /** What a start finds there: its number of records, or the code of its refusal. */
  async find(side: Side): Promise<number | string> {
    try {
      const journal = await this.#open(side)
      const { length } = journal.load().records
      await journal.close()
      return length
    } catch (error) {
      return String((error as { readonly code?: unknown }).code)
    }
  }

  remove(): void {
    rmSync(this.#home, { recursive: true, force: true })
  }

  get #directory(): string {
    return stateDirectoryOf(this.#configOf('file'), { files: [], speed: undefined })
  }

  #configOf(side: Side): DaemonConfig {
    return loadConfig({ file: FILE, cwd: ROOT, overrides: this.#overrides[side] }).config
  }

  #open(side: Side): Promise<OpenedJournal> {
    return openJournal({
      config: this.#configOf(side),
      directory: this.#directory,
      password: undefined,
      configOption: '',
      clock: systemClock,
      timers: systemTimers,
      logger: { log: () => undefined },
      keepSince: () => 0,
    })
  }
}

const MARK = 'journal.sqlite.mark.new'

describe.skipIf(postgresMissing !== undefined)('[ORD5] a copy of a journal that is killed', () => {
  test.concurrent.each<[to: Side, point: string, file: number | string, server: number | string]>([
    ['postgres', `file.open.${MARK}.before`, RECORDS, 'JOURNAL_NOT_COPIED'],
    ['postgres', `file.rename.${MARK}.after`, 'JOURNAL_MOVED', 'JOURNAL_NOT_COPIED'],
    ['postgres', 'file.rename.journal-replica.sqlite.copied.before', 'JOURNAL_MOVED', RECORDS],
    ['file', `file.open.${MARK}.before`, 'JOURNAL_NOT_COPIED', RECORDS],
    ['file', 'file.rename.journal.sqlite.copied.before', 'JOURNAL_COPY_UNFINISHED', RECORDS],
    ['file', 'file.rename.journal.sqlite.copied.after', 'JOURNAL_COPY_UNFINISHED', RECORDS],
  ])(
    'to %s at %s is opened on one side at most, and copied when it is begun again',
    async (...row) => {
      const [to, point, file, server] = row
      const { url, schema } = (await postgresServer()).newPlace()
      const scene = new CopyScene(url, schema)
      try {
        await scene.write(to === 'postgres' ? 'file' : 'postgres')
        expect(await scene.copy(to, point)).toEqual({ code: null, signal: 'SIGKILL' })
        expect([await scene.find('file'), await scene.find('postgres')]).toEqual([file, server])

        expect(await scene.copy(to)).toEqual({ code: 0, signal: null })
        const found = [await scene.find('file'), await scene.find('postgres')]
        expect(found).toEqual(
          to === 'file' ? [RECORDS, 'JOURNAL_MOVED'] : ['JOURNAL_MOVED', RECORDS],
        )
      } finally {
        scene.remove()
      }
    },
  )
})
