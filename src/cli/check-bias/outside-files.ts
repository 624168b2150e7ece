import fs from 'node:fs'
import { hash } from 'node:crypto'
import { readFileSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { PreparedBacktest } from '../../backtest/opening/prepare-backtest.ts'
import { syncBuiltinESMExports } from 'node:module'
import { strategyAtFault } from '../../strategy/strategy-context.ts'

export interface BiasCheck {
  readonly isBiased: boolean
  readonly lines: readonly string[]
}

export interface OpenedFile {
  readonly strategy: string
  readonly file: string
}

interface OutsideFiles {
  readonly opened: readonly OpenedFile[]
  readonly played: readonly string[]
}

type CheckedRun = Pick<PreparedBacktest, 'code' | 'config' | 'coverage' | 'feeds'>

/** Node opens these to print the stack of an error. */
const PROGRAM = fileURLToPath(new URL('../../', import.meta.url))

/**
 * Files may hold later prices in spite of the cut. One that holds what is played is a bias; others
 * are listed for a person to judge.
 */
export function judgeOutsideFiles(run: CheckedRun, { opened, played }: OutsideFiles): BiasCheck {
  const own = new Set(Object.keys(run.code).flatMap((id) => codePaths(run, id)))
  const places = new Set(played.map((spec) => realPath(spec.replace(/^[\w.-]+=/, ''))))
  const contents = new Set([...run.coverage, ...run.feeds].flatMap(({ sha256 }) => sha256 || []))
  const others = opened.filter(
    ({ file }) => !own.has(realPath(file)) && !realPath(file).startsWith(PROGRAM),
  )
  const reads = others.map(({ strategy, file }) => ({
    isPlayed: places.has(realPath(file)) || contents.has(digestOf(file)),
    text: `${strategy} ${file}`,
  }))
  const imports = Object.entries(run.code).flatMap(([id, { files }]) =>
    files.slice(1).map(({ name, text }) => ({
      isPlayed: contents.has(hash('sha256', text)),
      text: `${id} ${name}`,
    })),
  )
  return {
    isBiased: [...reads, ...imports].some(({ isPlayed }) => isPlayed),
    lines: [
      ...reads.map((one) => describe(one, 'reads')),
      ...imports.map((one) => describe(one, 'imports')),
      ...describePackages(run),
    ],
  }
}

function describe({ isPlayed, text }: { isPlayed: boolean; text: string }, verb: string): string {
  return isPlayed
    ? `biased: a strategy ${verb} the prices of the future from their file: ${text}`
    : `note: a strategy ${verb} a file; look whether anything of the future stands in it: ${text}`
}

function describePackages({ code }: CheckedRun): readonly string[] {
  return Object.entries(code).flatMap(([id, { packages }]) =>
    Object.entries(packages).map(
      ([name, version]) =>
        `note: a strategy imports a package; look whether it holds prices or loads any: ${id} ${name} ${version}`,
    ),
  )
}

function codePaths({ code, config }: CheckedRun, id: string): readonly string[] {
  const main = config.strategies.find((strategy) => strategy.id === id)?.moduleFile
  if (main === undefined) return []
  const folder = dirname(realPath(main))
  const imported = (code[id]?.files ?? []).slice(1).map(({ name }) => join(folder, name))
  return [main, ...imported].map(realPath)
}

function digestOf(file: string): string {
  try {
    return hash('sha256', readFileSync(file))
  } catch {
    return ''
  }
}

function realPath(file: string): string {
  try {
    return realpathSync(resolve(file))
  } catch {
    return resolve(file)
  }
}

const OPENERS = ['openSync', 'readFileSync', 'open', 'readFile', 'createReadStream'] as const
const PROMISED = ['open', 'readFile'] as const

/** A package is listed as a whole. */
const PACKAGES = /[\\/]node_modules[\\/]|\.node$|[\\/]package\.json$/

/** @returns a function that stops reporting */
export function watchReads(onRead: (strategy: string, file: string) => void): () => void {
  const restores = [
    ...OPENERS.map((name) => watch(fs, name, onRead)),
    ...PROMISED.map((name) => watch(fs.promises, name, onRead)),
  ]
  syncBuiltinESMExports()
  return () => {
    for (const restore of restores) restore()
    syncBuiltinESMExports()
  }
}

function watch(
  holder: object,
  name: string,
  onRead: (strategy: string, file: string) => void,
): () => void {
  const original: unknown = Reflect.get(holder, name)
  if (typeof original !== 'function') return () => undefined
  Reflect.set(holder, name, function watched(this: unknown, ...args: readonly unknown[]): unknown {
    const strategy = strategyAtFault()
    const file = strategy === undefined ? undefined : pathOf(args[0])
    if (strategy !== undefined && file !== undefined && !PACKAGES.test(file)) onRead(strategy, file)
    return Reflect.apply(original, this, args) as unknown
  })
  return () => Reflect.set(holder, name, original)
}

function pathOf(argument: unknown): string | undefined {
  if (argument instanceof URL) return fileURLToPath(argument)
  return typeof argument === 'string' ? resolve(argument) : undefined
}
