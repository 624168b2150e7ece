import { chmodSync, existsSync, readdirSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { Failure, messageOf } from '../../lib/failure.ts'
import {
  type LockHolder,
  type ProcessLock,
  readLockHolder,
  takeProcessLock,
} from '../../lib/process-lock.ts'
import { makeDirectory } from '../../lib/durable-file.ts'

/** Orders and positions are private. */
const OWNER_ONLY = 0o700

const LOCK_FILE = 'daemon.lock'

/** The configuration of the last run, parsed and without secrets. */
export const RUNNING_CONFIG_FILE = 'running-config.json'

function prepareDirectory(directory: string): void {
  try {
    makeDirectory(directory, OWNER_ONLY)
    chmodSync(directory, OWNER_ONLY)
  } catch (error) {
    throw unwritable(directory, error)
  }
}

export function describeHolder(name: string, now: number): LockHolder {
  return {
    pid: process.pid,
    since: now,
    host: hostname(),
    name,
    command: process.argv.slice(2).join(' '),
  }
}

/**
 * Locks the directory for the life of this process, because two daemons on one state would both send
 * the recorded orders.
 * @throws Failure STATE_HELD, which names the holder; STATE_UNWRITABLE; LOCK_DAMAGED
 */
export function holdDirectory(directory: string, holder: LockHolder): ProcessLock {
  prepareDirectory(directory)
  const attempt = attemptLock(directory, holder)
  if (attempt.kind === 'held') return attempt.lock
  throw new Failure({
    code: 'STATE_HELD',
    sentence: 'another daemon holds this state directory',
    facts: { directory, ...describeTo(attempt.by) },
    hint: 'stop the other one, or give this configuration its own state.directory',
  })
}

function attemptLock(directory: string, holder: LockHolder): ReturnType<typeof takeProcessLock> {
  try {
    return takeProcessLock(join(directory, LOCK_FILE), holder)
  } catch (error) {
    throw error instanceof Failure ? error : unwritable(directory, error)
  }
}

export function listHolders(directory: string): readonly LockHolder[] {
  return listPlaces(directory).flatMap((place) => readLockHolder(join(place, LOCK_FILE)) ?? [])
}

export function listHeldDirectories(directory: string): readonly string[] {
  return listPlaces(directory).filter(
    (place) => readLockHolder(join(place, LOCK_FILE)) !== undefined,
  )
}

/** A folder with a running configuration is the state of another account. */
function listPlaces(directory: string): readonly string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true })
    const folders = entries.filter((entry) => entry.isDirectory())
    const paths = folders.map(({ name }) => join(directory, name))
    return [directory, ...paths.filter((path) => !existsSync(join(path, RUNNING_CONFIG_FILE)))]
  } catch {
    return [directory]
  }
}

export function describeTo(
  holder: LockHolder | undefined,
): Readonly<Record<string, string | number>> {
  if (holder === undefined) return { holder: 'it has not said yet who it is' }
  const { pid, host, name, command, since } = holder
  return { pid, host, since: new Date(since).toISOString(), name, command }
}

function unwritable(directory: string, error: unknown): Failure {
  return new Failure({
    code: 'STATE_UNWRITABLE',
    sentence: 'the state directory cannot be written',
    facts: { directory, found: messageOf(error) },
    hint: 'fix its rights, free disk space, or name another one in state.directory',
    cause: error,
  })
}
