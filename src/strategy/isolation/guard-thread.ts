import Module, { createRequire, registerHooks, stripTypeScriptTypes } from 'node:module'
import { pathToFileURL } from 'node:url'
import { CONTRACT_URL, installContractResolution } from '../resolve-contract.ts'
import { runAsStrategy } from '../strategy-context.ts'
import { strategyFailure } from '../strategy-failure.ts'
import { endsWith, hrefOf, indexOf, slice, startsWith } from './kept-methods.ts'

/** The program's own code, of which a strategy may import the contract. */
const OURS = ['src', 'dist'].map((folder) => new URL(`../../../${folder}/`, import.meta.url).href)

/** Anything else may be a program for the machine itself, or a file that only an error's text would show. */
const CODE_OR_DATA = ['.js', '.ts', '.cjs', '.mjs', '.cts', '.mts', '.json']

/**
 * All globals that are left: the language's own, but for WebAssembly, whose memory no limit of a thread counts, and
 * functions of their arguments. Timers are there for packages that set one while they are loaded. `Buffer` is not: it
 * shows memory that others have given back.
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
 * Takes away what a pure function has no use for: the process, the modules of Node, the code of this program, and
 * every global that is not in {@link GLOBALS}. What needs any of it for itself takes it before. All known ways out are
 * closed, but threads of one process share its memory: code that nobody has read should not run beside keys.
 */
export function guardThread(): void {
  runAsStrategy('guard', () => undefined)
  loadCompilers()
  // Before the hook below, so that it judges what that makes of a name.
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
 * Nothing counts on who imports it: a file can pretend to be another. And nothing is asked of methods that a strategy
 * may have replaced by its own.
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

/** Whether code or JSON: what a strategy may import. */
export function isCodeOrData(path: string): boolean {
  for (let index = 0; index < CODE_OR_DATA.length; index++)
    if (endsWith(path, CODE_OR_DATA[index] ?? '.js')) return true
  return false
}

/** What makes JavaScript of TypeScript is itself WebAssembly, and looks for that when it is first needed. */
function loadCompilers(): void {
  const emitWarning = process.emitWarning.bind(process)
  // That it is called by hand is called experimental.
  process.emitWarning = () => undefined
  stripTypeScriptTypes('')
  process.emitWarning = emitWarning
}

/**
 * A CommonJS file has a `module`, whose class can hook the loader too, start a thread for that and write compiled code
 * anywhere; and `require.extensions`, which loads past the hooks. Node itself uses what begins with `_`.
 */
function closeLoader(): void {
  for (const name of Object.getOwnPropertyNames(Module)) {
    if (!name.startsWith('_') && !LOADER_PARTS.has(name)) Reflect.deleteProperty(Module, name)
  }
  // The list of Node itself: what loads a file of this ending.
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

/** Node's own reaches the channel to the main thread through its streams; nobody reads what is printed here. */
function silenceConsole(): void {
  const silent = Object.keys(console).map((name) => [name, () => undefined] as const)
  Reflect.set(globalThis, 'console', Object.fromEntries(silent))
}

function removeGlobals(): void {
  const names = Object.getOwnPropertyNames(globalThis).filter((name) => !GLOBALS.has(name))
  // One that cannot be deleted is emptied.
  for (const name of names)
    if (!Reflect.deleteProperty(globalThis, name)) Reflect.set(globalThis, name, undefined)
  for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
    if (symbol !== Symbol.toStringTag) Reflect.deleteProperty(globalThis, symbol)
  }
}
