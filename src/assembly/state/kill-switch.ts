import { cleanLine } from '../../lib/text/clean-text.ts'
import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { makeDirectory, syncDirectory, writeDurably } from '../../lib/durable-file.ts'
import { messageOf } from '../../lib/failure.ts'
import { describeCaller, describeFile } from '../../control/access/verified-caller.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'

/** While this file exists, nothing that creates an order is sent. */
const KILL_FILE = 'KILL'
const STATE_FILE = 'KILL.state'
const UNSAID = 'unknown'

/** An empty file kills as well. */
export interface KillNote {
  readonly reason: string
  readonly by: string
  /** Unix ms, machine's clock. */
  readonly at?: number
  readonly order?: number
}

/** `seen`: no order is created any more. `clean`: it is proved that no order of ours rests. */
export interface StoredKill {
  readonly state: 'seen' | 'clean'
  readonly pid: number
  /** Machine's clock. */
  readonly at: number
}

export function killFileOf(directory: string): string {
  return join(directory, KILL_FILE)
}

/**
 * A daemon sees the file before its next write. On a full disk the file is empty, and still kills.
 */
export function throwKillSwitch(directory: string, note: KillNote): void {
  makeDirectory(directory, 0o700)
  const file = killFileOf(directory)
  try {
    writeDurably(file, JSON.stringify(note))
  } catch {
    closeSync(openSync(file, 'a', 0o600))
    syncDirectory(directory)
  }
}

/** Removes a kill that was ordered and released elsewhere; a switch thrown by hand stays. */
export function dropReleasedRequest(directory: string, number: number): void {
  const file = killFileOf(directory)
  const { order } = readNote(file)
  if (order === undefined || order > number) return
  rmSync(file, { force: true })
  rmSync(join(directory, STATE_FILE), { force: true })
}

export function readKillState(directory: string): StoredKill | undefined {
  try {
    const state = parseBoundedJson(readFileSync(join(directory, STATE_FILE), 'utf8')) as StoredKill
    return isAlive(state.pid) ? state : undefined
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // A process of another user cannot be signalled, but is alive.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

export interface KillSwitchOptions {
  readonly directory: string
  readonly stateDirectory?: string
  readonly clock: Clock
  /** Called once for each throw of the switch, also if its file could not be checked. */
  readonly onThrown: (note: KillNote) => void
  /** Called if the state could not be written; the switch itself still works. */
  readonly onTrouble: (reason: string) => void
  readonly onNoted?: ((state: StoredKill['state'] | 'released') => void) | undefined
}

/**
 * Checked before every write that creates an order, so that a kill works while the daemon is busy.
 */
export class KillSwitch {
  readonly #options: KillSwitchOptions
  readonly #files: readonly string[]
  #reported: string | undefined

  constructor(options: KillSwitchOptions) {
    this.#options = options
    const { directory, stateDirectory = directory } = options
    this.#files = [...new Set([directory, stateDirectory])].map(killFileOf)
  }

  get files(): readonly string[] {
    return this.#files
  }

  /** Machine's clock; undefined without a readable file. */
  thrownAt(): number | undefined {
    try {
      const times = this.#files.flatMap(
        (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? [],
      )
      return times.length === 0 ? undefined : Math.max(...times)
    } catch {
      return undefined
    }
  }

  get standingFile(): string | undefined {
    return this.#files.find((file) => existsSync(file))
  }

  /** A file that cannot be checked counts as thrown. */
  get isThrown(): boolean {
    return this.#findFile() !== undefined
  }

  /** @returns the file that stands now; undefined if it could not be written */
  throw(note: KillNote): string | undefined {
    try {
      const standing = this.standingFile
      if (standing !== undefined) return standing
      throwKillSwitch(this.#options.directory, note)
      return killFileOf(this.#options.directory)
    } catch (error) {
      this.#options.onTrouble(messageOf(error))
      return undefined
    }
  }

  /** Reports each throw once. @returns whether the switch is thrown */
  check(): boolean {
    const seen = this.#findFile()
    if (seen === undefined) return false
    if (seen.stamp !== this.#reported) {
      this.#reported = seen.stamp
      this.#options.onThrown(seen.read())
    }
    return true
  }

  /** `released` removes the switch. A kill works on a full disk too. */
  note(state: StoredKill['state'] | 'released'): void {
    try {
      this.#write(state)
    } catch (error) {
      this.#options.onTrouble(messageOf(error))
    }
    this.#options.onNoted?.(state)
  }

  #write(state: StoredKill['state'] | 'released'): void {
    const { directory, clock } = this.#options
    // The state is written beside each file, because commands look in the directory by which they
    // address the daemon.
    const stateFiles = this.#files.map((file) => join(dirname(file), STATE_FILE))
    if (state === 'released') {
      for (const file of this.#files) rmSync(file, { force: true })
      for (const file of stateFiles) rmSync(file, { force: true })
      this.#reported = undefined
      return
    }
    // Writes check the file, so it must exist, however the kill was ordered.
    if (this.#findFile() === undefined)
      throwKillSwitch(directory, { reason: 'ordered by the daemon', by: 'daemon' })
    this.#reported ??= this.#findFile()?.stamp
    const written: StoredKill = { state, pid: process.pid, at: clock.now() }
    for (const file of stateFiles) writeDurably(file, JSON.stringify(written))
  }

  /** A new time of the file means a new throw. */
  #findFile(): { readonly stamp: string; readonly read: () => KillNote } | undefined {
    try {
      for (const file of this.#files) {
        const found = statSync(file, { throwIfNoEntry: false })
        if (found !== undefined)
          return { stamp: `${file} ${found.mtimeMs}`, read: () => verified(file, found) }
      }
      return undefined
    } catch (error) {
      const reason = `the kill file cannot be looked for: ${messageOf(error)}`
      return { stamp: 'unknown', read: () => ({ reason, by: 'daemon' }) }
    }
  }
}

/** The daemon itself wrote the file of an order that came by the server. */
function verified(file: string, stats: { readonly uid: number }): KillNote {
  const note = readNote(file)
  const from = note.order === undefined ? describeFile(stats) : 'server'
  return { ...note, by: note.by === UNSAID ? from : describeCaller(from, note.by) }
}

function readNote(file: string): KillNote {
  try {
    const { reason, by, order } = parseBoundedJson(readFileSync(file, 'utf8')) as Partial<KillNote>
    if (typeof reason === 'string' && typeof by === 'string')
      return {
        reason: cleanLine(reason),
        by: cleanLine(by),
        ...(typeof order === 'number' && { order }),
      }
  } catch {
    // A file that was created by hand may be empty.
  }
  return { reason: 'the kill file was made', by: UNSAID }
}
