import { closeSync, openSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { makeDirectory, syncDirectory, writeDurably } from '../../lib/durable-file.ts'
import { messageOf } from '../../lib/failure.ts'
import { describeCaller, describeFile } from '../../control/access/verified-caller.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'

/** While this file is there nothing that creates an order is written. Anybody may make it, with `touch` too. */
const KILL_FILE = 'KILL'
/** How far the daemon is with it, for whoever threw the switch. */
const STATE_FILE = 'KILL.state'
/** The file says nothing. */
const UNSAID = 'unknown'

/** What the kill file says of who made it and why; a file that says nothing kills as well. */
export interface KillNote {
  readonly reason: string
  readonly by: string
  /** Unix ms, clock of the machine. */
  readonly at?: number
  /** Of an order to all accounts of a server: its number. */
  readonly order?: number
}

/** `seen`: nothing is created any more · `clean`: proved that nothing of ours rests. */
export interface KillState {
  readonly state: 'seen' | 'clean'
  readonly pid: number
  /** Unix ms, clock of the machine. */
  readonly at: number
}

/** Where the kill switch of a state directory is. */
export function killFileOf(directory: string): string {
  return join(directory, KILL_FILE)
}

/**
 * Throws the switch, durably: a daemon that runs sees it before its next write, one that starts before its first.
 * On a full disk the file says nothing, which kills as well.
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

/** Takes a switch away that an order threw which was released elsewhere: what was thrown by hand stays. */
export function dropReleasedOrder(directory: string, number: number): void {
  const file = killFileOf(directory)
  const { order } = readNote(file)
  if (order === undefined || order > number) return
  rmSync(file, { force: true })
  rmSync(join(directory, STATE_FILE), { force: true })
}

/** What the daemon that holds the directory says of the kill; undefined when none that lives has seen it. */
export function readKillState(directory: string): KillState | undefined {
  try {
    const state = parseBoundedJson(readFileSync(join(directory, STATE_FILE), 'utf8')) as KillState
    return isAlive(state.pid) ? state : undefined
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // Somebody else's process lives too.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

export interface KillSwitchOptions {
  /** The environment's: the switch is thrown there. */
  readonly directory: string
  /** Of the state, which the log names: a file that a hand makes there kills as well. */
  readonly stateDirectory?: string
  readonly clock: Clock
  /** The file was seen, or could not be looked for; called once for each time that it is thrown. */
  readonly onThrown: (note: KillNote) => void
  /** The switch works, but its state could not be written down. */
  readonly onTrouble: (reason: string) => void
  /** The account is so far, or has released it. */
  readonly onNoted?: ((state: KillState['state'] | 'released') => void) | undefined
}

/**
 * The kill file as the daemon sees it. It is looked at before every write that creates an order, so a kill
 * works while the daemon is busy, and without a word between the two processes.
 */
export class KillSwitch {
  readonly #options: KillSwitchOptions
  readonly #files: readonly string[]
  /** The file that was reported, and when it was written; undefined while the switch is lifted. */
  #reported: string | undefined

  constructor(options: KillSwitchOptions) {
    this.#options = options
    const { directory, stateDirectory = directory } = options
    this.#files = [...new Set([directory, stateDirectory])].map(killFileOf)
  }

  /** Where the switch may be thrown. A release takes all of them away. */
  get files(): readonly string[] {
    return this.#files
  }

  /** When it was thrown last, Unix ms, clock of the machine; undefined where no file is there, or none can be looked at. */
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

  /** Looks at the disk. What cannot be looked at forbids, as what is there does. */
  isThrown(): boolean {
    const seen = this.#look()
    if (seen === undefined) return false
    if (seen.stamp !== this.#reported) {
      this.#reported = seen.stamp
      this.#options.onThrown(seen.read())
    }
    return true
  }

  /** Writes down how far the daemon is; `released` takes the switch away. A full disk stops no kill. */
  note(state: KillState['state'] | 'released'): void {
    try {
      this.#write(state)
    } catch (error) {
      this.#options.onTrouble(messageOf(error))
    }
    this.#options.onNoted?.(state)
  }

  #write(state: KillState['state'] | 'released'): void {
    const { directory, clock } = this.#options
    const stateFile = join(directory, STATE_FILE)
    if (state === 'released') {
      for (const file of this.#files) rmSync(file, { force: true })
      rmSync(stateFile, { force: true })
      this.#reported = undefined
      return
    }
    // However the kill was ordered, the file says so too: the journal may be lost, and it is what writes look at.
    if (this.#look() === undefined)
      throwKillSwitch(directory, { reason: 'ordered by the daemon', by: 'daemon' })
    this.#reported ??= this.#look()?.stamp
    writeDurably(
      stateFile,
      JSON.stringify({ state, pid: process.pid, at: clock.now() } satisfies KillState),
    )
  }

  /** A switch that is thrown once more is another: its file was written anew. */
  #look(): { readonly stamp: string; readonly read: () => KillNote } | undefined {
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

/** An order of the server was written there by the daemon itself. */
function verified(file: string, stats: { readonly uid: number }): KillNote {
  const note = readNote(file)
  const from = note.order === undefined ? describeFile(stats) : 'server'
  return { ...note, by: note.by === UNSAID ? from : describeCaller(from, note.by) }
}

function readNote(file: string): KillNote {
  try {
    const { reason, by, order } = parseBoundedJson(readFileSync(file, 'utf8')) as Partial<KillNote>
    if (typeof reason === 'string' && typeof by === 'string')
      return { reason, by, ...(typeof order === 'number' && { order }) }
  } catch {
    // Made by hand: that it is there is all it has to say.
  }
  return { reason: 'the kill file was made', by: UNSAID }
}
