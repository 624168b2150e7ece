import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { strategyAtFault } from '../../strategy/strategy-context.ts'

/** Every way to open a file that a strategy has. */
const OPENERS = ['openSync', 'readFileSync', 'open', 'readFile', 'createReadStream'] as const
const PROMISED = ['open', 'readFile'] as const

/** Node opens these to import a package, which is named as a whole. */
const PACKAGES = /[\\/]node_modules[\\/]|\.node$|[\\/]package\.json$/

/**
 * Hears of every file that code of a strategy opens: no cut of the prices hides from it what it reads by itself.
 * @returns how to stop listening.
 */
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
