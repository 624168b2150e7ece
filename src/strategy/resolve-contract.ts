/**
 * All strategy files of a process get the same contract, wherever they lie, so that results of
 * defineStrategy are recognised. A worker does not inherit the hooks, and installs them itself.
 */
import { registerHooks } from 'node:module'
import { sha256Hex } from '../lib/digest.ts'

/** Sources end with .ts, compiled files with .js. */
const EXTENSION = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
const [CONTRACT, TESTING_URL] = ['contract', 'testing/testing'].map(
  (file) => new URL(`./${file}${EXTENSION}`, import.meta.url).href,
) as [string, string]
export const CONTRACT_URL = CONTRACT

let isInstalled = false

export function installContractResolution(): void {
  if (isInstalled) return
  isInstalled = true
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const url = urlOf(specifier, context.parentURL)
      return url === undefined ? nextResolve(specifier, context) : { url, shortCircuit: true }
    },
  })
}

export function isContract(specifier: string): boolean {
  return urlOf(specifier, undefined) !== undefined
}

/** Older strategy files say `#strategy` and `#testing`. Packages have private names with # too. */
function urlOf(specifier: string, importer: string | undefined): string | undefined {
  const isOurs = importer?.includes('/node_modules/') !== true
  if (specifier === 'intentd/strategy' || (specifier === '#strategy' && isOurs)) return CONTRACT_URL
  return specifier === 'intentd/testing' || (specifier === '#testing' && isOurs)
    ? TESTING_URL
    : undefined
}

/**
 * A strategy's modules may keep state, so each run evaluates them anew: Node reads an address again
 * if its query differs.
 */
let generation = 0
let isCounted = false
let isKept = false

const QUERY = /\?[0-9a-f]{16}$/

/** Must run before the thread is guarded, which takes the loader away. */
export function countGenerations(): void {
  if (isCounted) return
  isCounted = true
  installContractResolution()
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context)
      const isOfRun = generation > 0 && QUERY.test(context.parentURL ?? '')
      if (!isOfRun || resolved.url === CONTRACT_URL || !resolved.url.startsWith('file:'))
        return resolved
      return { ...resolved, url: `${resolved.url}${queryOf('')}` }
    },
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      // Node caches such modules by file name, whatever the query says.
      if (loaded.format?.startsWith('commonjs') === true) isKept = true
      return loaded
    },
  })
}

export function beginGeneration(): void {
  generation += 1
}

export function isCodeKept(): boolean {
  return isKept
}

/** @param digest of a file that changed since it was first read; else empty */
export function queryOf(digest: string): string {
  if (generation === 0) return digest === '' ? '' : `?${digest}`
  return `?${sha256Hex([digest, String(generation)]).slice(0, 16)}`
}
