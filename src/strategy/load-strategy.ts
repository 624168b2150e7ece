import { readFileSync, statSync } from 'node:fs'
import { basename, extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Instrument } from '../domain/instrument.ts'
import { didYouMean } from '../lib/did-you-mean.ts'
import { sha256Hex } from '../lib/digest.ts'
import { messageOf } from '../lib/failure.ts'
import { systemTimers, type Timers } from '../lib/timers.ts'
import { installContractResolution, queryOf } from './resolve-contract.ts'
import * as contract from './contract.ts'
import { isStrategy, type Strategy } from './define-strategy.ts'
import { InstrumentView } from './instrument-view.ts'
import {
  describeThrown,
  isStrategyFailure,
  runAsStrategy,
  strategyFailure,
  type StrategyFailure,
} from './strategy-failure.ts'

/**
 * The limit is counted in steps, so that time in which the process was suspended does not count.
 */
const LOAD_STEPS_MAX = 20
const STEP_MS = 1000

const HANGING_HINT = 'look for an `await` at the top of the file that never ends'

const EXTENSIONS: ReadonlySet<string> = new Set(['.ts', '.mts', '.js', '.mjs'])

/**
 * A changed file is read again, its imports once a process.
 * @throws Failure with a `STRATEGY_…` code and, if known, the place in the file
 */
export async function loadStrategy(file: string, timers: Timers = systemTimers): Promise<Strategy> {
  const path = resolve(file)
  if (!EXTENSIONS.has(extname(path)))
    throw strategyFailure('STRATEGY_FILE_KIND', { facts: { file: path } })
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) {
    throw strategyFailure('STRATEGY_FILE_MISSING', { facts: { file: path } })
  }
  const version = versionOf(path)
  const exported = await importFile(path, version, timers)
  if (exported.default === undefined) {
    throw strategyFailure('STRATEGY_DEFAULT_MISSING', {
      facts: { file: path },
      hint: 'write: export default defineStrategy({ … })',
    })
  }
  if (isStrategy(exported.default)) {
    codeNames.set(exported.default, `${path}${version}`)
    return exported.default
  }
  throw strategyFailure('STRATEGY_NOT_DEFINED', {
    facts: { file: path },
    hint: "write: import { defineStrategy } from 'intentd/strategy' and export default defineStrategy({ … })",
  })
}

export interface BindingToCheck {
  readonly strategy: Strategy
  readonly params: unknown
  readonly instruments: readonly Instrument[]
}

export function checkBinding({ strategy, params, instruments }: BindingToCheck): readonly string[] {
  try {
    const views = instruments.map((instrument) => new InstrumentView(instrument))
    const objections = runAsStrategy(strategy.name, () => strategy.check?.(params, views))
    if (objections === undefined) return []
    if (Array.isArray(objections)) return objections.map(String)
    return ['check of the strategy did not return a list of texts']
  } catch (error) {
    return [messageOf(error)]
  }
}

const firstRead = new Map<string, string>()

const codeNames = new WeakMap<Strategy, string>()

/**
 * If the file changed since it was first read, `?` and a digest follow its name, to tell running
 * code from code that was only checked.
 */
export function codeNameOf(strategy: Strategy): string | undefined {
  return codeNames.get(strategy)
}

export function fileOfCode(name: string): string {
  return name.replace(/\?[0-9a-f]{16}$/, '')
}

/** Node reads an address once, so a changed file gets another address. Its imports stay. */
function versionOf(path: string): string {
  const digest = sha256Hex([readFileSync(path, 'utf8')]).slice(0, 16)
  const first = firstRead.get(path) ?? digest
  firstRead.set(path, first)
  return queryOf(digest === first ? '' : digest)
}

async function importFile(
  path: string,
  version: string,
  timers: Timers,
): Promise<{ readonly default?: unknown }> {
  installContractResolution()
  const hanging = Promise.withResolvers<never>()
  const cancel = afterSteps(timers, () =>
    hanging.reject(
      strategyFailure('STRATEGY_IMPORT_HANGS', { facts: { file: path }, hint: HANGING_HINT }),
    ),
  )
  try {
    return await Promise.race([
      runAsStrategy(
        `${path}${version}`,
        () =>
          import(`${pathToFileURL(path).href}${version}`) as Promise<{
            readonly default?: unknown
          }>,
      ),
      hanging.promise,
    ])
  } catch (error) {
    throw isStrategyFailure(error) ? error : toLoadFailure(path, error)
  } finally {
    cancel()
  }
}

/** @returns cancels the call */
function afterSteps(timers: Timers, callback: () => void): () => void {
  let left = LOAD_STEPS_MAX
  let cancel = (): void => {}
  const step = (): void => {
    if (left === 0) return callback()
    left -= 1
    cancel = timers.after(STEP_MS, step)
  }
  step()
  return () => cancel()
}

function toLoadFailure(file: string, error: unknown): StrategyFailure {
  const at = syntaxErrorPlace(error)
  const place = at === undefined ? { file } : { file, at }
  switch (errorCode(error)) {
    case 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX':
      return strategyFailure('STRATEGY_SYNTAX_NOT_ERASABLE', {
        facts: { ...place, found: messageOf(error) },
        hint: 'types are erased, not compiled: use a union of strings instead of an enum, a module instead of a namespace',
        cause: error,
      })
    case 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING':
      return strategyFailure('STRATEGY_IN_NODE_MODULES', {
        facts: { file, found: messageOf(error) },
        hint: 'copy the file out of node_modules, or publish it as JavaScript',
        cause: error,
      })
    case 'ERR_MODULE_NOT_FOUND':
      return strategyFailure('STRATEGY_IMPORT_MISSING', {
        facts: { ...importPlace(file, messageOf(error)), found: messageOf(error) },
        hint: 'check the spelling and the ending (./sizes.ts); install packages beside the strategy',
        cause: error,
      })
    case 'ERR_PACKAGE_IMPORT_NOT_DEFINED':
    case 'ERR_PACKAGE_PATH_NOT_EXPORTED':
      return strategyFailure('STRATEGY_IMPORT_MISSING', {
        facts: { file, found: messageOf(error) },
        cause: error,
      })
    case undefined:
    default:
      if (isParseError(error)) return toSyntaxFailure(place, error)
      return strategyFailure('STRATEGY_IMPORT_THREW', {
        facts: { file, thrown: describeThrown(error) },
        hint: 'fix that line: code outside of functions runs each time the file is loaded',
        cause: error,
      })
  }
}

function importPlace(file: string, found: string): { readonly file: string; readonly at?: string } {
  const [, missing = '', from = file] =
    /^Cannot find (?:module|package) '([^']+)' imported from (.+)$/.exec(found) ?? []
  const name = basename(missing)
  try {
    const index = readFileSync(from, 'utf8')
      .split('\n')
      .findIndex((line) => name !== '' && /\b(?:from|import)\b/.test(line) && line.includes(name))
    return index < 0 ? { file } : { file, at: `${from}:${index + 1}` }
  } catch {
    return { file }
  }
}

function toSyntaxFailure(
  place: { readonly file: string; readonly at?: string },
  error: unknown,
): StrategyFailure {
  const details = { facts: { ...place, found: messageOf(error) }, cause: error }
  if (details.facts.found.includes('does not provide an export named')) {
    return strategyFailure('STRATEGY_IMPORT_MISSING', {
      ...details,
      hint: missingExportHint(details.facts.found),
    })
  }
  if (details.facts.found.includes('outside a module')) {
    return strategyFailure('STRATEGY_SYNTAX', {
      ...details,
      hint: 'write "type": "module" into the package.json of that folder, or call the file .mts',
    })
  }
  // Node does not report the place in a JavaScript module.
  const hint = place.at === undefined ? { hint: `node --check ${place.file} shows the line` } : {}
  return strategyFailure('STRATEGY_SYNTAX', { ...details, ...hint })
}

/** Node erases types when it looks for a name. */
function missingExportHint(found: string): string {
  const [, file, name = ''] =
    /module '([^']+)' does not provide an export named '([^']+)'/.exec(found) ?? []
  const isContract = file === 'intentd/strategy' || file === '#strategy'
  const guess = isContract ? didYouMean(name, Object.keys(contract)) : undefined
  const type = 'a type is imported with the word type: import { type Intent } from …'
  return guess === undefined ? type : `did you mean ${guess}? Otherwise: ${type}`
}

function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

function isParseError(error: unknown): boolean {
  if (!(error instanceof SyntaxError)) return false
  return (
    syntaxErrorPlace(error) !== undefined ||
    /\n\s+at compileSourceTextModule /.test(error.stack ?? '')
  )
}

/** Node writes file and line above the stack only for parse errors. */
function syntaxErrorPlace(error: unknown): string | undefined {
  if (!(error instanceof SyntaxError)) return undefined
  const firstLine = error.stack?.split('\n', 1)[0] ?? ''
  return /^(?:file:\/\/)?(.+:\d+)$/.exec(firstLine)?.[1]
}
