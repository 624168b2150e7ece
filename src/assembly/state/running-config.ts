import { readFileSync, realpathSync, statSync } from 'node:fs'
import { createRequire, isBuiltin } from 'node:module'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import type { DaemonConfig } from '../../config/load-config.ts'
import { sha256Hex } from '../../lib/digest.ts'
import { makeDirectory, writeDurably } from '../../lib/durable-file.ts'
import { RUNNING_CONFIG_FILE } from './state-directory.ts'
import { isContract } from '../../strategy/resolve-contract.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'

const FILES_MAX = 1000
/** Imports in comments match too. At worst, equal code then looks different. */
const IMPORT = /\b(?:from|import|require)\s*\(?\s*['"]([^'"\n]+)['"]/g
const PACKAGE_NAME = /^(?:@[^/]+\/)?[^/]+/

/** `code` has a digest of each strategy's code, from which a reload knows what has changed. */
export interface RunningConfig extends DaemonConfig {
  readonly code: Readonly<Record<string, string>>
}

export interface CodeFile {
  /** Relative to the strategy's folder, so that names are equal on all machines. */
  readonly name: string
  readonly text: string
}

export interface StrategyCode {
  /** The strategy's own file comes first. */
  readonly files: readonly CodeFile[]
  /** Versions by name, sorted. */
  readonly packages: Readonly<Record<string, string>>
}

export interface RunStart {
  readonly mainFile: string
  /** Change only the main file and its strategies. */
  readonly set: readonly string[]
  readonly params: readonly string[]
  /** Absolute paths; they concern only the main file. */
  readonly market: readonly string[]
  readonly speed?: number | undefined
}

interface StatePlace {
  readonly state: { readonly directory: string }
}

interface KeptConfig extends RunningConfig, Partial<RunStart> {}

export function withCode(config: DaemonConfig): RunningConfig {
  const code = config.strategies.map(({ id, moduleFile }) => [
    id,
    sha256Hex(readStrategyCode(moduleFile).files.map(({ text }) => text)).slice(0, 16),
  ])
  return { ...config, code: Object.fromEntries(code) as Record<string, string> }
}

/** On a full disk nothing is kept, and `intentd plan` uses an earlier configuration. */
export function keepRunningConfig(config: DaemonConfig, start: RunStart): void {
  try {
    // An account that is off may lack it.
    makeDirectory(config.state.directory, 0o700)
    const kept: KeptConfig = { ...withCode(config), ...start }
    writeDurably(join(config.state.directory, RUNNING_CONFIG_FILE), JSON.stringify(kept))
  } catch {}
}

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

export function readRunStart(config: StatePlace): RunStart | undefined {
  const { mainFile, set = [], params = [], market = [], speed } = readKept(config) ?? {}
  return mainFile === undefined ? undefined : { mainFile, set, params, market, speed }
}

export function readMainFile(config: DaemonConfig): string | undefined {
  return readKept(config)?.mainFile
}

function readKept({ state: { directory } }: StatePlace): KeptConfig | undefined {
  try {
    return parseBoundedJson(
      readFileSync(join(directory, RUNNING_CONFIG_FILE), 'utf8'),
    ) as KeptConfig
  } catch {
    return undefined
  }
}

/** Resolves links as Node does. Files that the code opens are not included. */
export function readStrategyCode(moduleFile: string): StrategyCode {
  const { paths: _paths, ...code } = followImports(moduleFile)
  return code
}

export function listCodeFiles(moduleFile: string): readonly string[] {
  return followImports(moduleFile).paths
}

function followImports(moduleFile: string): StrategyCode & { readonly paths: readonly string[] } {
  const main = realOf(moduleFile)
  const files: CodeFile[] = []
  const packages = new Map<string, string>()
  const found = new Set([main])
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

function fileOf(specifier: string, importer: string): string | undefined {
  const isPath = /^\.{0,2}\//.test(specifier)
  const path = resolve(dirname(importer), specifier)
  if (isPath && isFile(path)) return realOf(path)
  // `require` omits extensions, and a project may have private names (`#sizes`).
  if (!isPath && !specifier.startsWith('#')) return undefined
  try {
    return realOf(createRequire(importer).resolve(specifier))
  } catch {
    return isPath ? path : undefined
  }
}

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
