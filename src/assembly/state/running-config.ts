import { readFileSync, realpathSync, statSync } from 'node:fs'
import { createRequire, isBuiltin } from 'node:module'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import type { DaemonConfig } from '../../config/load-config.ts'
import { sha256Hex } from '../../lib/digest.ts'
import { makeDirectory, writeDurably } from '../../lib/durable-file.ts'
import { isContract } from '../../strategy/resolve-contract.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'

/** In the environment's directory: the configuration of the run that began last, as it was understood. No secret is in it. */
const CONFIG_FILE = 'running-config.json'

/** What is imported beyond this is not looked at. */
const FILES_MAX = 1000
/** What a file imports or hands on. In a comment too: that makes two codes differ which do the same, and hides nothing. */
const IMPORT = /\b(?:from|import|require)\s*\(?\s*['"]([^'"\n]+)['"]/g
/** `@scope/name` or `name`, whatever of it is imported. */
const PACKAGE_NAME = /^(?:@[^/]+\/)?[^/]+/

/** A configuration, and a digest of the code of each strategy: what differs between two is what a reload does. */
export interface RunningConfig extends DaemonConfig {
  readonly code: Readonly<Record<string, string>>
}

export interface CodeFile {
  /** As seen from the folder of the strategy's file: the same on another machine. */
  readonly name: string
  readonly text: string
}

export interface StrategyCode {
  /** The strategy's own file first. */
  readonly files: readonly CodeFile[]
  /** Version by name, in the order of the names. */
  readonly packages: Readonly<Record<string, string>>
}

/** What the daemon was started with, and reads again at a reload. */
export interface RunStart {
  /** Absolute. */
  readonly mainFile: string
  /** `--set` and `--param` texts: they change the main file and its strategies, and no further account. */
  readonly set: readonly string[]
  readonly params: readonly string[]
  /** `--market`, with absolute paths, and `--speed`: of the main file alone. */
  readonly market: readonly string[]
  readonly speed?: number | undefined
}

/** Any configuration says where its state is; for one whose file cannot be read that alone is known. */
interface StatePlace {
  readonly state: { readonly directory: string }
}

/** What an earlier version wrote lacks all or part of how it was started. */
interface KeptConfig extends RunningConfig, Partial<RunStart> {}

export function withCode(config: DaemonConfig): RunningConfig {
  const code = config.strategies.map(({ id, moduleFile }) => [
    id,
    sha256Hex(readStrategyCode(moduleFile).files.map(({ text }) => text)).slice(0, 16),
  ])
  return { ...config, code: Object.fromEntries(code) as Record<string, string> }
}

/** On a full disk `intentd plan` knows of an earlier one. */
export function keepRunningConfig(config: DaemonConfig, start: RunStart): void {
  try {
    // Of an account that is off it may not be there.
    makeDirectory(config.state.directory, 0o700)
    const kept: KeptConfig = { ...withCode(config), ...start }
    writeDurably(join(config.state.directory, CONFIG_FILE), JSON.stringify(kept))
  } catch {}
}

/** Undefined where nothing ever ran. */
export function readRunningConfig(config: StatePlace): RunningConfig | undefined {
  const kept = readKept(config)
  if (kept === undefined) return undefined
  const {
    mainFile: _mainFile,
    set: _set,
    params: _params,
    market: _market,
    speed: _speed,
    ...running
  } = kept
  return running
}

/** How the daemon was started that ran this account last; undefined where nothing ever ran. */
export function readRunStart(config: StatePlace): RunStart | undefined {
  const { mainFile, set = [], params = [], market = [], speed } = readKept(config) ?? {}
  return mainFile === undefined ? undefined : { mainFile, set, params, market, speed }
}

/** The main file of the daemon that ran this account last. */
export function readMainFile(config: DaemonConfig): string | undefined {
  return readKept(config)?.mainFile
}

function readKept({ state: { directory } }: StatePlace): KeptConfig | undefined {
  try {
    return parseBoundedJson(readFileSync(join(directory, CONFIG_FILE), 'utf8')) as KeptConfig
  } catch {
    return undefined
  }
}

/** Of a file from where it really lies, as Node does. What a file reads by itself is not known of. */
export function readStrategyCode(moduleFile: string): StrategyCode {
  const { paths: _paths, ...code } = followImports(moduleFile)
  return code
}

/** Where the file of a strategy really lies, and each file that it imports. */
export function listCodeFiles(moduleFile: string): readonly string[] {
  return followImports(moduleFile).paths
}

function followImports(moduleFile: string): StrategyCode & { readonly paths: readonly string[] } {
  const main = realOf(moduleFile)
  const files: CodeFile[] = []
  const packages = new Map<string, string>()
  const found = new Set([main])
  // What is found meanwhile is gone through as well.
  for (const file of found) {
    const text = readText(file)
    const place =
      file === main ? basename(moduleFile) : relative(dirname(main), file).replaceAll(sep, '/')
    files.push({ name: place, text })
    for (const specifier of importsOf(text)) {
      const imported = fileOf(specifier, file)
      if (imported !== undefined && found.size < FILES_MAX) found.add(imported)
      const [name, version] = imported === undefined ? packageOf(specifier, file) : []
      if (name !== undefined && version !== undefined) packages.set(name, version)
    }
  }
  const sorted = [...packages].toSorted(([one], [other]) => (one < other ? -1 : 1))
  return { files, paths: [...found], packages: Object.fromEntries(sorted) }
}

function importsOf(text: string): readonly string[] {
  const specifiers = [...text.matchAll(IMPORT)].map(([, specifier = '']) => specifier)
  return specifiers.filter((specifier) => !isContract(specifier) && !isBuiltin(specifier))
}

/** Undefined for one of a package. */
function fileOf(specifier: string, importer: string): string | undefined {
  const isPath = /^\.{0,2}\//.test(specifier)
  const path = resolve(dirname(importer), specifier)
  if (isPath && isFile(path)) return realOf(path)
  // `require` leaves endings out, and a project gives names of its own (`#sizes`) to its files.
  if (!isPath && !specifier.startsWith('#')) return undefined
  try {
    return realOf(createRequire(importer).resolve(specifier))
  } catch {
    return isPath ? path : undefined
  }
}

/** The one that Node would find from there; without a version where it would find none. */
function packageOf(specifier: string, importer: string): readonly [name: string, version?: string] {
  const name = PACKAGE_NAME.exec(specifier)?.[0] ?? specifier
  for (let folder = dirname(importer); ; folder = dirname(folder)) {
    const version = versionIn(join(folder, 'node_modules', name, 'package.json'))
    if (version !== undefined) return [name, version]
    if (folder === dirname(folder)) return [name]
  }
}

function versionIn(file: string): string | undefined {
  try {
    const { version } = parseBoundedJson(readFileSync(file, 'utf8')) as {
      readonly version?: unknown
    }
    return typeof version === 'string' ? version : 'without a version'
  } catch {
    return undefined
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return 'unreadable'
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

function realOf(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return file
  }
}
