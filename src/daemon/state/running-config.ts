import { mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type DaemonConfig } from '../../config/load-config.ts'
import { sha256Hex } from '../../lib/digest.ts'
import { writeDurably } from '../../lib/durable-file.ts'

/** In the environment's directory: the configuration of the run that began last, as it was understood. No secret is in it. */
const CONFIG_FILE = 'running-config.json'

/** Code of a strategy beyond this is not looked at. */
const FILES_MAX = 200
/** What a file imports or hands on of files beside it. */
const RELATIVE_IMPORT = /\b(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g

/** A configuration, and a digest of the code of each strategy: what differs between two is what a reload does. */
export interface RunningConfig extends DaemonConfig {
  readonly code: Readonly<Record<string, string>>
}

/** What the daemon was started with, and reads again at a reload. */
export interface RunStart {
  /** Absolute. */
  readonly mainFile: string
  /** `--set` and `--param` texts: they change the main file and its strategies, and no further account. */
  readonly set: readonly string[]
  readonly params: readonly string[]
}

/** Any configuration says where its state is; for one whose file cannot be read that alone is known. */
interface StatePlace {
  readonly state: { readonly directory: string }
}

/** What an earlier version wrote lacks all or part of how it was started. */
interface KeptConfig extends RunningConfig, Partial<RunStart> {}

export function withCode(config: DaemonConfig): RunningConfig {
  const code = config.strategies.map(({ id, moduleFile }) => [id, digestOf(moduleFile)])
  return { ...config, code: Object.fromEntries(code) as Record<string, string> }
}

/** Of the file, and of all that it imports by a path: from where it really lies, as Node does. */
function digestOf(moduleFile: string): string {
  const texts: string[] = []
  const files = new Set([realOf(moduleFile)])
  // What is found meanwhile is gone through as well.
  for (const file of files) {
    const text = readText(file)
    texts.push(text)
    const imported = [...text.matchAll(RELATIVE_IMPORT)].map(([, path = '']) =>
      realOf(resolve(dirname(file), path)),
    )
    for (const other of imported) if (files.size < FILES_MAX) files.add(other)
  }
  return sha256Hex(texts).slice(0, 16)
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return 'unreadable'
  }
}

function realOf(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return file
  }
}

/** On a full disk `intentd plan` knows of an earlier one. */
export function keepRunningConfig(config: DaemonConfig, { mainFile, set, params }: RunStart): void {
  try {
    // Of an account that is off it may not be there.
    mkdirSync(config.state.directory, { recursive: true, mode: 0o700 })
    const kept: KeptConfig = { ...withCode(config), mainFile, set, params }
    writeDurably(join(config.state.directory, CONFIG_FILE), JSON.stringify(kept))
  } catch {}
}

/** Undefined where nothing ever ran. */
export function readRunningConfig(config: StatePlace): RunningConfig | undefined {
  const kept = readKept(config)
  if (kept === undefined) return undefined
  const { mainFile: _mainFile, set: _set, params: _params, ...running } = kept
  return running
}

/** How the daemon was started that ran this account last; undefined where nothing ever ran. */
export function readRunStart(config: StatePlace): RunStart | undefined {
  const { mainFile, set = [], params = [] } = readKept(config) ?? {}
  return mainFile === undefined ? undefined : { mainFile, set, params }
}

/** The main file of the daemon that ran this account last. */
export function readMainFile(config: DaemonConfig): string | undefined {
  return readKept(config)?.mainFile
}

function readKept({ state: { directory } }: StatePlace): KeptConfig | undefined {
  try {
    return JSON.parse(readFileSync(join(directory, CONFIG_FILE), 'utf8')) as KeptConfig
  } catch {
    return undefined
  }
}
