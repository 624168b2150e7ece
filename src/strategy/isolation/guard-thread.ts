import Module, { createRequire, registerHooks, stripTypeScriptTypes } from 'node:module'
import { pathToFileURL } from 'node:url'
import { CONTRACT_URL, installContractResolution } from '../resolve-contract.ts'
import { runAsStrategy } from '../strategy-context.ts'
import { strategyFailure } from '../strategy-failure.ts'
import { endsWith, hrefOf, indexOf, slice, startsWith } from './kept-methods.ts'

/** All that a strategy may import of the program. */
const OURS = ['src', 'dist'].map((folder) => new URL(`../../../${folder}/`, import.meta.url).href)

/** Other files may be native code, or an error's text could show them. */
const CODE_OR_DATA = ['.js', '.ts', '.cjs', '.mjs', '.cts', '.mts', '.json']

/**
 * The language's, except WebAssembly, whose memory no thread limit counts, and pure functions.
 * Packages may set timers while loading. `Buffer` exposes memory that other code has released.
 */
export const GLOBALS: ReadonlySet<string> = new Set([
  'undefined',
  'NaN',
  'Infinity',
  'globalThis',
  'global',
  'eval',
  'parseFloat',
  'parseInt',
  'isFinite',
  'isNaN',
  'decodeURI',
  'decodeURIComponent',
  'encodeURI',
  'encodeURIComponent',
  'escape',
  'unescape',
  'Object',
  'Function',
  'Array',
  'Number',
  'Boolean',
  'String',
  'Symbol',
  'BigInt',
  'Date',
  'RegExp',
  'Promise',
  'Proxy',
  'Reflect',
  'JSON',
  'Math',
  'Intl',
  'Temporal',
  'Iterator',
  'AsyncIterator',
  'Error',
  'AggregateError',
  'EvalError',
  'RangeError',
  'ReferenceError',
  'SyntaxError',
  'TypeError',
  'URIError',
  'SuppressedError',
  'DisposableStack',
  'AsyncDisposableStack',
  'Map',
  'Set',
  'WeakMap',
  'WeakSet',
  'WeakRef',
  'FinalizationRegistry',
  'ArrayBuffer',
  'SharedArrayBuffer',
  'Atomics',
  'DataView',
  'Int8Array',
  'Uint8Array',
  'Uint8ClampedArray',
  'Int16Array',
  'Uint16Array',
  'Int32Array',
  'Uint32Array',
  'Float16Array',
  'Float32Array',
  'Float64Array',
  'BigInt64Array',
  'BigUint64Array',
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'setImmediate',
  'clearImmediate',
  'queueMicrotask',
  'structuredClone',
  'atob',
  'btoa',
  'URL',
  'URLSearchParams',
  'TextEncoder',
  'TextDecoder',
  'DOMException',
  'console',
  'performance',
  'crypto',
])

/**
 * Removes the process, Node's modules, this program's code, and all globals outside {@link
 * GLOBALS}; code that needs them must take them before. All known escapes are closed, but threads
 * share memory: unreviewed code should not run beside keys.
 */
export function guardThread(): void {
  runAsStrategy('guard', () => undefined)
  loadCompilers()
  // The hook below then judges the resolved address.
  installContractResolution()
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context)
      assertAllowed(resolved.url, specifier)
      return resolved
    },
    load(url, context, nextLoad) {
      assertAllowed(url, url)
      return nextLoad(url, context)
    },
  })
  closeLoader()
  silenceConsole()
  removeGlobals()
}

/**
 * Ignores the importer, since a file can pretend to be another, and calls no method that a strategy
 * may have replaced.
 */
function assertAllowed(url: string, specifier: string): void {
  const path = withoutQuery(url)
  if (path === CONTRACT_URL) return
  if (startsWith(path, 'file:') && isCodeOrData(path) && !isOurs(path)) return
  throw strategyFailure('STRATEGY_IMPURE', {
    facts: { imports: specifier },
    hint: 'a strategy sees its snapshot, its params and its state, and nothing else; data come as feeds. Or write isolation: inline',
  })
}

function withoutQuery(url: string): string {
  const query = indexOf(url, '?')
  const path = query < 0 ? url : slice(url, 0, query)
  const fragment = indexOf(path, '#')
  return fragment < 0 ? path : slice(path, 0, fragment)
}

function isOurs(path: string): boolean {
  for (let index = 0; index < OURS.length; index++)
    if (startsWith(path, OURS[index] ?? '')) return true
  return false
}

export function isCodeOrData(path: string): boolean {
  for (let index = 0; index < CODE_OR_DATA.length; index++)
    if (endsWith(path, CODE_OR_DATA[index] ?? '.js')) return true
  return false
}

/** Node's type stripping is itself WebAssembly, looked for on first use. */
function loadCompilers(): void {
  const emitWarning = process.emitWarning.bind(process)
  // A direct call prints a warning that it is experimental.
  process.emitWarning = () => undefined
  stripTypeScriptTypes('')
  process.emitWarning = emitWarning
}

/**
 * `module.constructor` could hook the loader, start a thread and write compiled code anywhere;
 * `require.extensions` loads past the hooks. Node itself needs the names beginning with `_`.
 */
function closeLoader(): void {
  for (const name of Object.getOwnPropertyNames(Module)) {
    if (!name.startsWith('_') && !LOADER_PARTS.has(name)) Reflect.deleteProperty(Module, name)
  }
  // Node's own list of what loads a file of this ending.
  // oxlint-disable-next-line typescript/no-deprecated
  const loaders = createRequire(import.meta.url).extensions as Record<
    string,
    (module: NodeJS.Module, file: string) => unknown
  >
  for (const [ending, load] of Object.entries(loaders)) {
    loaders[ending] = (module, file) => {
      assertAllowed(hrefOf(pathToFileURL(file)), file)
      return load(module, file)
    }
  }
}

const LOADER_PARTS: ReadonlySet<string> = new Set([
  'length',
  'name',
  'prototype',
  'wrap',
  'wrapper',
  'globalPaths',
])

/** Node's console reaches the main thread's channel through its streams. */
function silenceConsole(): void {
  const silent = Object.keys(console).map((name) => [name, () => undefined] as const)
  Reflect.set(globalThis, 'console', Object.fromEntries(silent))
}

/** A strategy's code has made a global of its own since. */
export function hasOwnGlobals(): boolean {
  return Object.getOwnPropertyNames(globalThis).some(
    (name) => !GLOBALS.has(name) && Reflect.get(globalThis, name) !== undefined,
  )
}

function removeGlobals(): void {
  const names = Object.getOwnPropertyNames(globalThis).filter((name) => !GLOBALS.has(name))
  for (const name of names)
    if (!Reflect.deleteProperty(globalThis, name)) Reflect.set(globalThis, name, undefined)
  for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
    if (symbol !== Symbol.toStringTag) Reflect.deleteProperty(globalThis, symbol)
  }
}
