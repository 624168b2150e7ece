import { builtinModules, registerHooks } from 'node:module'
import { runAsStrategy } from '../strategy-context.ts'
import { strategyFailure } from '../strategy-failure.ts'

const OURS = new URL('../../../', import.meta.url).href

/**
 * Takes away what a pure function has no use for: the process, and the modules of Node. It keeps honest code honest; a
 * thread is no prison, and code that nobody has read should not run beside keys.
 */
export function guardThread(): void {
  // What needs the process for itself takes it now.
  runAsStrategy('guard', () => undefined)
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (isBuiltin(specifier) && !isOurs(context.parentURL)) throw impure(specifier)
      return nextResolve(specifier, context)
    },
  })
  Reflect.deleteProperty(globalThis, 'process')
}

function isBuiltin(specifier: string): boolean {
  return specifier.startsWith('node:') || builtinModules.includes(specifier)
}

/** This program and the packages that it brings. */
function isOurs(importer: string | undefined): boolean {
  return (
    importer === undefined ||
    (/\/(?:src|dist|node_modules)\//.test(importer.slice(OURS.length)) && importer.startsWith(OURS))
  )
}

function impure(specifier: string): Error {
  return strategyFailure('STRATEGY_IMPURE', {
    facts: { imports: specifier },
    hint: 'a strategy sees its snapshot, its params and its state, and nothing else; data come as feeds. Or write isolation: inline',
  })
}
