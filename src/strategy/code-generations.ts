import { registerHooks } from 'node:module'
import { sha256Hex } from '../lib/digest.ts'
import { CONTRACT_URL, installContractResolution } from './resolve-contract.ts'

/**
 * Code of strategies keeps what it likes in its modules. A thread that plays one run after another
 * evaluates it anew for each, with everything that it imports: an address that Node has not read
 * yet differs by a query. Only code in a thread that has called {@link countGenerations} has
 * generations; elsewhere all code is of the first one, whose addresses have no query.
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
      // Node keeps modules of this kind by their file, whatever the query says.
      if (loaded.format?.startsWith('commonjs') === true) isKept = true
      return loaded
    },
  })
}

export function beginGeneration(): void {
  generation += 1
}

/** Whether code was loaded that no later generation evaluates anew. */
export function isCodeKept(): boolean {
  return isKept
}

/** @param digest of a file that has changed since it was first read; empty: it has not. */
export function queryOf(digest: string): string {
  if (generation === 0) return digest === '' ? '' : `?${digest}`
  return `?${sha256Hex([digest, String(generation)]).slice(0, 16)}`
}
