import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import type { DaemonConfig } from '../../config/load-config.ts'
import { REPLICA_FILE } from '../../journal/journal-failures.ts'
import { migrateFile } from '../../journal/migrate/migrate-file.ts'
import type { CopyOptions, CopyReport } from '../../journal/copy/copy-options.ts'
import type { Clock } from '../../lib/clock.ts'
import { Failure } from '../../lib/failure.ts'
import type { Secret } from '../../lib/secret.ts'
import type { Timers } from '../../lib/timers.ts'
import { leaseTermsOf, takerOf } from './open-journal.ts'
import { JOURNAL_FILE, journalPlaceOf, serverPlaceOf } from './state-place.ts'
import { hasRetreated, retreatNote } from './retreat-note.ts'
import { describeHolder, holdDirectory } from './state-directory.ts'

export interface StateToCopy extends Pick<CopyOptions, 'onProgress'> {
  readonly config: DaemonConfig
  readonly directory: string
  readonly to: 'postgres' | 'file'
  readonly password: Secret | undefined
  readonly clock: Clock
  readonly timers: Timers
}

/**
 * Also moves the retreat note. @throws Failure STATE_HELD, JOURNAL_COPY_NO_SERVER, and those of
 * `copyToServer` and `copyToFile`
 */
export async function copyState(state: StateToCopy): Promise<CopyReport> {
  const { config, directory, to, password, clock } = state
  if (config.journal === undefined) throw noServer(config.file)
  const lock = holdDirectory(directory, describeHolder(config.name, clock.now()))
  try {
    const file = join(directory, JOURNAL_FILE)
    const options: CopyOptions = {
      ...state,
      place: serverPlaceOf(config, password),
      file,
      fileName: `${hostname()} ${resolve(file)}`,
      replicaFile: join(directory, REPLICA_FILE),
      identity: journalPlaceOf(config, directory).identity,
      taker: takerOf(config, directory, clock.now()),
      terms: leaseTermsOf(config.journal, config),
    }
    if (to === 'postgres') {
      // A moved journal is copied again if its copy was interrupted.
      migrateFile({ file, identity: options.identity, evenMoved: true })
      const { copyToServer } = await import('../../journal/copy/copy-to-server.ts')
      return await copyToServer({ ...options, isRetreated: hasRetreated(directory) })
    }
    const { copyToFile } = await import('../../journal/copy/copy-to-file.ts')
    return await copyToFile({ ...options, noteRetreat: () => noteRetreat(directory) })
  } finally {
    lock.release()
  }
}

function noteRetreat(directory: string): void {
  const isLeft = retreatNote(directory, { log: () => undefined }).leave()
  if (isLeft) return
  throw new Failure({
    code: 'STATE_UNWRITABLE',
    sentence: 'the state directory cannot be written',
    facts: { directory },
    hint: 'fix its rights, or free disk space',
  })
}

function noServer(file: string): Failure {
  return new Failure({
    code: 'JOURNAL_COPY_NO_SERVER',
    sentence: 'the configuration names no server to copy the journal to, or from',
    facts: { file },
    hint: 'set journal.url (in the file, or with --set), and leave it there until the copy is done',
  })
}
