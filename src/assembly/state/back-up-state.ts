import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { DaemonConfig } from '../../config/load-config.ts'
import { backUpFile, type JournalBackup } from '../../journal/copy/backup-file.ts'
import { makeDirectory, syncDirectory, syncFile } from '../../lib/durable-file.ts'
import { Failure, messageOf } from '../../lib/failure.ts'
import { isEmbedded, JOURNAL_FILE, journalPlaceOf } from './state-place.ts'

export interface StateToBackUp {
  readonly config: DaemonConfig
  readonly directory: string
  readonly to: string
}

export interface StateBackup extends JournalBackup {
  readonly files: readonly string[]
}

/**
 * The journal is copied separately. The other files here belong to one process, can be made anew,
 * or are secret.
 */
const LEFT = /^(journal\.sqlite.*|.*\.(lock|sock|new|token)|ballast)$/

/**
 * Copies all but recordings and waiting commands. The copy gets its name when it is complete.
 * @throws Failure
 * BACKUP_ON_SERVER, BACKUP_EMBEDDED, BACKUP_EXISTS, BACKUP_INSIDE, BACKUP_UNWRITABLE, and those of
 * `backUpFile`
 */
export function backUpState({ config, directory, to }: StateToBackUp): StateBackup {
  if (config.journal !== undefined) throw onServer(config)
  if (isEmbedded(config)) throw embedded(directory)
  const { file, identity } = journalPlaceOf(config, directory)
  const part = `${resolve(to)}.part`
  for (const place of [to, part]) if (existsSync(place)) throw exists(place)
  if (!relative(resolve(directory), resolve(to)).startsWith('..')) throw inside(directory, to)
  try {
    makeDirectory(dirname(part))
    mkdirSync(part, { mode: 0o700 })
  } catch (error) {
    throw unwritable(to, error)
  }
  const journal = backUpFile({ file, identity, to: join(part, JOURNAL_FILE) })
  try {
    const files = copyFiles(directory, part)
    renameSync(part, to)
    syncDirectory(dirname(resolve(to)))
    return { ...journal, files }
  } catch (error) {
    throw unwritable(to, error)
  }
}

/** Files are copied after the journal, so that they are not older. */
function copyFiles(directory: string, part: string): readonly string[] {
  const entries = readdirSync(directory, { withFileTypes: true })
  const names = entries
    .filter((entry) => entry.isFile() && !LEFT.test(entry.name))
    .map(({ name }) => name)
  const copied = names.filter((name) => copyIfThere(join(directory, name), join(part, name)))
  syncDirectory(part)
  return copied.toSorted()
}

function copyIfThere(from: string, to: string): boolean {
  try {
    copyFileSync(from, to)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw error
  }
  syncFile(to)
  return true
}

function onServer({ file, journal }: DaemonConfig): Failure {
  const schema = journal?.schema ?? 'SCHEMA'
  return new Failure({
    code: 'BACKUP_ON_SERVER',
    sentence: 'the journal is on a server, and is backed up there',
    facts: { file, schema },
    hint: `pg_dump --format=custom --schema=${schema} DATABASE > FILE, as often as you like and while it trades; docs/servers.md says what becomes of one that is put back`,
  })
}

function embedded(directory: string): Failure {
  return new Failure({
    code: 'BACKUP_EMBEDDED',
    sentence:
      'the exchange of this configuration is the simulator inside the daemon, and both are one state',
    facts: { directory },
    hint: 'stop the daemon, and copy the whole state directory',
  })
}

function exists(place: string): Failure {
  return new Failure({
    code: 'BACKUP_EXISTS',
    sentence: 'there is already something where the copy is to go',
    facts: { place },
    hint: 'name another directory; one that ends with .part was not finished, and can be removed',
  })
}

function inside(directory: string, to: string): Failure {
  return new Failure({
    code: 'BACKUP_INSIDE',
    sentence: 'the copy would lie in the state directory that it is a copy of',
    facts: { directory, to },
    hint: 'name a directory elsewhere, best on another disk',
  })
}

function unwritable(to: string, error: unknown): Failure {
  return new Failure({
    code: 'BACKUP_UNWRITABLE',
    sentence: 'the copy cannot be written there',
    facts: { to, found: messageOf(error) },
    hint: 'fix its rights, free disk space, or name another directory',
    cause: error,
  })
}
