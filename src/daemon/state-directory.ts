import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure, messageOf } from '../lib/failure.ts'

/** Orders and positions are nobody else's business. */
const OWNER_ONLY = 0o700

const PID_FILE = 'daemon.pid'

/** Makes the directory, readable by its owner alone. @throws Failure STATE_UNWRITABLE */
export function prepareDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: OWNER_ONLY })
    chmodSync(directory, OWNER_ONLY)
  } catch (error) {
    throw new Failure({
      code: 'STATE_UNWRITABLE',
      sentence: 'the state directory cannot be made',
      facts: { directory, found: messageOf(error) },
      hint: 'mend its rights, or name another one in state.directory',
      cause: error,
    })
  }
}

/** Says who holds the directory. The lock is the journal's; this is for people, and for {@link explainHeld}. */
export function writePid(directory: string): void {
  writeFileSync(join(directory, PID_FILE), `${process.pid}\n`)
}

export function removePid(directory: string): void {
  rmSync(join(directory, PID_FILE), { force: true })
}

/** Names the process that holds the directory, in the failure that says that one does. */
export function explainHeld(error: unknown, directory: string): unknown {
  if (!(error instanceof Failure) || error.code !== 'JOURNAL_HELD') return error
  return new Failure({
    code: error.code,
    sentence: 'another daemon holds this state directory',
    facts: { directory, ...readHolder(directory) },
    hint: 'stop the other one, or give this configuration a state.directory of its own',
    cause: error,
  })
}

function readHolder(directory: string): { readonly pid?: number } {
  try {
    const pid = Number(readFileSync(join(directory, PID_FILE), 'utf8'))
    return Number.isInteger(pid) && pid > 0 ? { pid } : {}
  } catch {
    return {} // The other one has not come to write it yet: the directory says enough.
  }
}
