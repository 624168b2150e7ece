import { existsSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { DaemonConfig } from '../../config/load-config.ts'
import { sha256Hex } from '../../lib/digest.ts'
import { makeDirectory, writeDurably } from '../../lib/durable-file.ts'
import { listHeldDirectories, listHolders } from './state-directory.ts'
import { userStates } from './user-state.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'

/**
 * Finds the state of a daemon by its main file, even if that file is now unreadable, or names
 * another directory.
 */
export interface RunningFile {
  /** The path is absolute, with links resolved. */
  readonly file: string
  readonly directory: string
  readonly set: readonly string[]
}

/** Writes to the user's first writable place. Without one, commands need a valid main file. */
export function noteRunning({ file, state }: DaemonConfig, set: readonly string[]): void {
  const note: RunningFile = { file: realOf(file), directory: state.directory, set }
  for (const place of places()) {
    try {
      makeDirectory(place, 0o700)
      for (const { path, note: old } of listNotes(place)) {
        if (existsSync(old.file) && existsSync(old.directory)) continue
        if (listHeldDirectories(old.directory).length === 0) rmSync(path, { force: true })
      }
      writeDurably(
        join(place, `${sha256Hex([state.directory]).slice(0, 32)}.json`),
        JSON.stringify(note),
      )
      return
    } catch {}
  }
}

export function findRunning(file: string): readonly RunningFile[] {
  const real = realOf(file)
  return listRunning().filter((note) => note.file === real)
}

export function listRunning(): readonly RunningFile[] {
  const found = listAllNotes().filter((note) => listHeldDirectories(note.directory).length > 0)
  return [...new Map(found.map((note) => [note.directory, note])).values()]
}

export function findDaemon(
  pid: number,
): { readonly name: string; readonly directory: string } | undefined {
  for (const { directory } of listAllNotes()) {
    const holder = listHolders(directory).find((one) => one.pid === pid)
    if (holder !== undefined) return { name: holder.name, directory }
  }
  return undefined
}

const places = (): readonly string[] => userStates().map((place) => join(place, 'running'))

function listAllNotes(): readonly RunningFile[] {
  return places().flatMap((place) => listNotes(place).map(({ note }) => note))
}

function listNotes(
  place: string,
): readonly { readonly path: string; readonly note: RunningFile }[] {
  try {
    const names = readdirSync(place).filter((name) => name.endsWith('.json'))
    return names.flatMap((name) => {
      const note = readNote(join(place, name))
      return note ? [{ path: join(place, name), note }] : []
    })
  } catch {
    return []
  }
}

function readNote(path: string): RunningFile | undefined {
  try {
    return parseBoundedJson(readFileSync(path, 'utf8')) as RunningFile
  } catch {
    return undefined
  }
}

function realOf(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return resolve(file)
  }
}
