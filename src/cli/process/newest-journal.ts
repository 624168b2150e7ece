import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { JOURNAL_FILE } from '../../assembly/state/state-place.ts'
import { REPLICA_FILE } from '../../journal/journal-failures.ts'
import { Failure } from '../../lib/failure.ts'

/** Takes the replica of a journal on PostgreSQL. @throws Failure JOURNAL_NOT_FOUND */
export function newestJournal(directory: string): string {
  const newest = findNewestJournal(directory)
  if (newest !== undefined) return newest
  throw new Failure({
    code: 'JOURNAL_NOT_FOUND',
    sentence: 'there is no journal yet',
    facts: { directory },
    hint: 'start the daemon with this configuration first, or name another with --config',
  })
}

export function findNewestJournal(directory: string): string | undefined {
  const places = [directory, ...foldersIn(directory).map((folder) => join(directory, folder))]
  const files = places.flatMap((place) => [join(place, JOURNAL_FILE), join(place, REPLICA_FILE)])
  const dated = files.flatMap((file) => {
    const stats = statSync(file, { throwIfNoEntry: false })
    const log = statSync(`${file}-wal`, { throwIfNoEntry: false })
    return stats === undefined ? [] : [{ file, at: Math.max(stats.mtimeMs, log?.mtimeMs ?? 0) }]
  })
  return dated.toSorted((left, right) => right.at - left.at)[0]?.file
}

function foldersIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}
