/**
 * Makes `#strategy` and `intentd/strategy` mean this program's own contract, and `intentd/testing` its test kit, wherever a strategy file lies:
 * outside the project Node would find neither. One contract a process, so that what defineStrategy made is
 * known again.
 *
 * Hooks are not inherited: a worker that loads strategies installs them too.
 */
import { registerHooks } from 'node:module'

/** With the extension that this file has itself: .ts as it is written, .js when it was compiled. */
const EXTENSION = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
const [CONTRACT, TESTING_URL] = ['contract', 'testing/testing'].map(
  (file) => new URL(`./${file}${EXTENSION}`, import.meta.url).href,
) as [string, string]
/** Where the contract lies. */
export const CONTRACT_URL = CONTRACT

let isInstalled = false

/** Installs the hook, once a thread. */
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

/** Whether it means a part of this program, wherever it is imported. */
export function isContract(specifier: string): boolean {
  return urlOf(specifier, undefined) !== undefined
}

/** A package has private names of its own, which begin with #: `#strategy` is ours outside of packages only. */
function urlOf(specifier: string, importer: string | undefined): string | undefined {
  const isOurs = importer?.includes('/node_modules/') !== true
  if (specifier === 'intentd/strategy' || (specifier === '#strategy' && isOurs)) return CONTRACT_URL
  return specifier === 'intentd/testing' || (specifier === '#testing' && isOurs)
    ? TESTING_URL
    : undefined
}
