/**
 * Makes `#strategy` and `intentd/strategy` mean this program's own contract, wherever a strategy file lies:
 * outside the project Node would find neither. One contract a process, so that what defineStrategy made is
 * known again.
 *
 * Hooks are not inherited: a worker that loads strategies installs them too.
 */
import { registerHooks } from 'node:module'

/** With the extension that this file has itself: .ts as it is written, .js when it was compiled. */
const CONTRACT_URL = new URL(
  `./contract${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`,
  import.meta.url,
).href

let isInstalled = false

/** Installs the hook, once a thread. */
export function installContractResolution(): void {
  if (isInstalled) return
  isInstalled = true
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (!isContract(specifier, context.parentURL)) return nextResolve(specifier, context)
      return { url: CONTRACT_URL, shortCircuit: true }
    },
  })
}

/** A package has private names of its own, which begin with #: `#strategy` is ours outside of packages only. */
function isContract(specifier: string, importer: string | undefined): boolean {
  if (specifier === '#strategy') return importer?.includes('/node_modules/') !== true
  return specifier === 'intentd/strategy'
}
