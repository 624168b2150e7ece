/**
 * `intentd/strategy` is this program's contract, `intentd/testing` its test kit, wherever a
 * strategy file lies. One contract per process recognises results of defineStrategy.
 *
 * Hooks are not inherited: a worker that loads strategies installs them too.
 */
import { registerHooks } from 'node:module'

/** Sources have .ts, compiled files .js. */
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

/**
 * Older strategy files say `#strategy` and `#testing`. Packages have private names with # too, so
 * these are ours only outside of packages.
 */
function urlOf(specifier: string, importer: string | undefined): string | undefined {
  const isOurs = importer?.includes('/node_modules/') !== true
  if (specifier === 'intentd/strategy' || (specifier === '#strategy' && isOurs)) return CONTRACT_URL
  return specifier === 'intentd/testing' || (specifier === '#testing' && isOurs)
    ? TESTING_URL
    : undefined
}
