import { dirname, join, relative, sep } from 'node:path'
import { existsSync, readdirSync } from 'node:fs'
import process from 'node:process'
import {
  type ConfigOptions,
  type DaemonConfig,
  PAPER_CONFIG,
  toConfigRequest,
} from '../../config/load-config.ts'
import { killFileOf } from '../../assembly/state/kill-switch.ts'
import { readRunStart } from '../../assembly/state/running-config.ts'
import { listRunning } from '../../assembly/state/running-files.ts'
import { listHolders } from '../../assembly/state/state-directory.ts'
import type { LockHolder } from '../../lib/process-lock.ts'
import { toShellWord } from '../../lib/text/shell-word.ts'

export interface OtherDaemon {
  readonly words: string
  /** Addresses it in a command: ` -c config/my-live.yaml`. */
  readonly options: string
  /** One for each account. */
  readonly directories: readonly string[]
  /** It lies below the current folder, or beside the configuration that is asked for. */
  readonly isOfFolder: boolean
  readonly isKilled: boolean
}

type OwnConfig = Pick<DaemonConfig, 'file' | 'state'>

export function isUnnamed({ config, state, set }: ConfigOptions): boolean {
  return config === undefined && state === undefined && set.length === 0
}

/** Those of the folder, where a command names none and the usual daemon does not run. */
export function listPerhapsMeant(
  config: OwnConfig,
  options: ConfigOptions,
): readonly OtherDaemon[] {
  if (!isUnnamed(options) || listHolders(config.state.directory).length > 0) return []
  return listOtherDaemons([config]).filter(({ isOfFolder }) => isOfFolder)
}

/** Lists those of this user; those of other users only if their state is of this folder. */
export function listOtherDaemons(own: readonly OwnConfig[]): readonly OtherDaemon[] {
  const ownPids = new Set(own.flatMap(({ state }) => listHolders(state.directory)).map(toPid))
  const ownDirectories = new Set(own.map(({ state }) => state.directory))
  const daemons = new Map<number, { holders: LockHolder[]; places: DaemonPlace[] }>()
  for (const place of listDaemonPlaces(own)) {
    if (ownDirectories.has(place.directory)) continue
    for (const holder of listHolders(place.directory)) {
      if (ownPids.has(holder.pid)) continue
      const daemon = daemons.get(holder.pid) ?? { holders: [], places: [] }
      daemon.holders.push(holder)
      daemon.places.push(place)
      daemons.set(holder.pid, daemon)
    }
  }
  return [...daemons.values()].map(({ holders, places }) => describeDaemon(holders, places))
}

function describeDaemon(
  holders: readonly LockHolder[],
  places: readonly DaemonPlace[],
): OtherDaemon {
  const names = holders.map(({ name }) => name).join(', ')
  const [holder] = holders
  const directories = places.map(({ directory }) => directory)
  return {
    words: `${names} (pid ${holder?.pid}, intentd ${holder?.command})`,
    options: optionsFor(directories[0] ?? ''),
    directories,
    isOfFolder: places.some(({ isOfFolder }) => isOfFolder),
    isKilled: directories.every((directory) => existsSync(killFileOf(directory))),
  }
}

const toPid = ({ pid }: LockHolder): number => pid

function optionsFor(directory: string): string {
  const start = readRunStart({ state: { directory } })
  if (start === undefined) return ` --state ${toShellWord(directory)}`
  const set = start.set.map((text) => ` --set ${toShellWord(text)}`).join('')
  const path = relative(process.cwd(), start.mainFile)
  return ` -c ${toShellWord(path.startsWith('..') ? start.mainFile : path)}${set}`
}

interface DaemonPlace {
  readonly directory: string
  readonly isOfFolder: boolean
}

function listDaemonPlaces(own: readonly OwnConfig[]): readonly DaemonPlace[] {
  const here = process.cwd()
  const near = own.flatMap(({ state }) => foldersIn(dirname(state.directory)))
  const below = [here, ...foldersIn(here)].flatMap((folder) => foldersIn(join(folder, '.intentd')))
  const places = new Map(
    [...near, ...below].map((directory) => [directory, { directory, isOfFolder: true }]),
  )
  const folders = new Set(own.map(({ file }) => dirname(file)))
  for (const { directory, file } of listRunning()) {
    if (places.has(directory)) continue
    const isBelow = [directory, file].some((path) => path.startsWith(here + sep))
    places.set(directory, { directory, isOfFolder: isBelow || folders.has(dirname(file)) })
  }
  return [...places.values()]
}

function foldersIn(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name))
  } catch {
    return []
  }
}

export function shownDefault(): string {
  try {
    const { file, cwd } = toConfigRequest({ set: [] })
    return relative(cwd, file) || file
  } catch {
    return PAPER_CONFIG
  }
}
