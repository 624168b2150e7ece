import { dirname, join, relative } from 'node:path'
import { readdirSync } from 'node:fs'
import process from 'node:process'
import { type ConfigOptions, type DaemonConfig, toConfigRequest } from '../../config/load-config.ts'
import { readRunStart } from '../../assembly/state/running-config.ts'
import { listRunning } from '../../assembly/state/running-files.ts'
import { listHolders } from '../../assembly/state/state-directory.ts'
import { toShellWord } from '../../lib/text/shell-word.ts'

export interface OtherDaemon {
  readonly name: string
  readonly pid: number
  readonly words: string
  /** Addresses it in a command: ` -c config/my-live.yaml`. */
  readonly options: string
  readonly directory: string
}

export function isUnnamed({ config, state, set }: ConfigOptions): boolean {
  return config === undefined && state === undefined && set.length === 0
}

export function listOtherDaemons({
  file,
  state: { directory },
}: Pick<DaemonConfig, 'file' | 'state'>): readonly OtherDaemon[] {
  const own = new Set(listHolders(directory).map(({ pid }) => pid))
  const noted = listRunning().filter((one) => dirname(one.file) === dirname(file))
  const places = [...foldersBeside(directory), ...noted.map((one) => one.directory)]
  const others = new Map<number, OtherDaemon>()
  for (const place of new Set(places)) {
    if (place === directory) continue
    for (const { pid, name, command } of listHolders(place)) {
      if (own.has(pid) || others.has(pid)) continue
      const words = `${name} (pid ${pid}, intentd ${command})`
      others.set(pid, { name, pid, words, options: optionsFor(place), directory: place })
    }
  }
  return [...others.values()]
}

function optionsFor(directory: string): string {
  const start = readRunStart({ state: { directory } })
  if (start === undefined) return ` --state ${toShellWord(directory)}`
  const set = start.set.map((text) => ` --set ${toShellWord(text)}`).join('')
  return ` -c ${toShellWord(relative(process.cwd(), start.mainFile))}${set}`
}

function foldersBeside(directory: string): readonly string[] {
  const above = dirname(directory)
  try {
    const entries = readdirSync(above, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(above, name))
  } catch {
    return []
  }
}

export function shownDefault(): string {
  const { file, cwd } = toConfigRequest({ set: [] })
  return relative(cwd, file) || file
}
