import fs from 'node:fs'
import Module, {
  createRequire,
  registerHooks,
  stripTypeScriptTypes,
  syncBuiltinESMExports,
} from 'node:module'
import { resolve, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { CONTRACT_URL, installContractResolution } from '../resolve-contract.ts'
import { runAsStrategy, strategyFailure } from '../strategy-failure.ts'

const OURS = ['src', 'dist'].map((folder) => new URL(`../../../${folder}/`, import.meta.url).href)

/** Other files may be native code, or their contents could appear in an error. */
const CODE_OR_DATA = ['.js', '.ts', '.cjs', '.mjs', '.cts', '.mts', '.json']

/**
 * docs/isolation.md ("What the thread has") describes what is left. `Buffer` is not, because it
 * exposes memory that other code has released.
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

let isWhole = false

export function isThreadGuarded(): boolean {
  return isWhole
}

/**
 * Closes all known escapes from the thread (docs/isolation.md). Code that needs the removed globals
 * must take them before.
 */
export function guardThread(): void {
  isWhole = true
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

function isCodeOrData(path: string): boolean {
  for (let index = 0; index < CODE_OR_DATA.length; index++)
    if (endsWith(path, CODE_OR_DATA[index] ?? '.js')) return true
  return false
}

/** Node's type stripping is WebAssembly that Node loads on first use, so it is used once before. */
function loadCompilers(): void {
  const emitWarning = process.emitWarning.bind(process)
  // A direct call prints a warning that it is experimental.
  process.emitWarning = () => undefined
  stripTypeScriptTypes('')
  process.emitWarning = emitWarning
}

/**
 * `module.constructor` could hook the loader, start a thread and write compiled code anywhere;
 * `require.extensions` loads past the hooks. Node itself needs the names that begin with `_`.
 */
function closeLoader(): void {
  for (const name of Object.getOwnPropertyNames(Module)) {
    if (!name.startsWith('_') && !LOADER_PARTS.has(name)) Reflect.deleteProperty(Module, name)
  }
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

/**
 * A strategy may replace methods of prototypes. So the checks call methods that were kept before,
 * and use neither `for … of` nor spreads, which call replaceable methods too.
 */
function keep<Self, Args extends readonly unknown[], Result>(
  prototype: object,
  name: string,
): (self: Self, ...args: Args) => Result {
  const property = Object.getOwnPropertyDescriptor(prototype, name) ?? {}
  const method = (Reflect.get(property, 'value') ?? Reflect.get(property, 'get')) as (
    ...args: Args
  ) => Result
  return Function.prototype.call.bind(method)
}

const startsWith = keep<string, [string], boolean>(String.prototype, 'startsWith')
const endsWith = keep<string, [string], boolean>(String.prototype, 'endsWith')
const indexOf = keep<string, [string], number>(String.prototype, 'indexOf')
const slice = keep<string, [number, number?], string>(String.prototype, 'slice')
const isIn = keep<ReadonlySet<string>, [string], boolean>(Set.prototype, 'has')
const hrefOf = keep<URL, [], string>(URL.prototype, 'href')
const { apply } = Reflect

// A strategy could replace methods that our code calls, and so redirect it to other files. The
// functions of `node:fs` are therefore wrapped when the thread begins, and accept only our own
// files from the first strategy on.

type Judge = (path: string, flags: unknown) => void

/**
 * These functions take opened files, or tell only whether a file exists and of which kind it is, as
 * an import does too.
 */
const HARMLESS = both([
  'exists',
  'stat',
  'lstat',
  'access',
  'realpath',
  'readdir',
  'close',
  'read',
  'write',
  'fsync',
  'fstat',
  'ftruncate',
])
const READING = both(['readFile', 'createReadStream'])
const OPENING = both(['open'])
const WRITING = both(['writeFile', 'mkdir', 'rm', 'unlink', 'rmdir', 'rename'])

const readable = new Set<string>()
const writable: string[] = []
let isGuarded = false
let isClosed = false

export function guardFiles(): void {
  isGuarded = true
  for (const functions of [fs, fs.promises]) {
    for (const name of Object.keys(functions)) {
      const original: unknown = Reflect.get(functions, name)
      if (typeof original !== 'function' || !/^[a-z]/.test(name) || HARMLESS.has(name)) continue
      if (READING.has(name)) judge(functions, name, assertReadable)
      else if (OPENING.has(name)) judge(functions, name, assertOpenable)
      else if (WRITING.has(name)) judge(functions, name, assertWritable)
      else Reflect.set(functions, name, refuseWhenClosed(original as () => unknown, name))
    }
  }
  syncBuiltinESMExports()
}

export function areFilesGuarded(): boolean {
  return isGuarded
}

export function areFilesClosed(): boolean {
  return isClosed
}

/** A path that ends in a separator stands for everything below it. Call this before closing. */
export function keepWritable(path: string): void {
  if (!isClosed) writable.push(path)
}

export function keepReadable(path: string): void {
  if (!isClosed) readable.add(resolve(path))
}

/** From now on only code, JSON and files that were read before can be read. */
export function closeFiles(): void {
  isClosed = true
}

function both(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.flatMap((name) => [name, `${name}Sync`]))
}

/** An object could name another file at each access, so the judged string is passed on. */
function judge(functions: object, name: string, assertPath: Judge): void {
  const original = Reflect.get(functions, name) as (...args: readonly unknown[]) => unknown
  const takesTwo = name === 'rename' || name === 'renameSync'
  Reflect.set(functions, name, function judged(this: unknown, ...args: unknown[]): unknown {
    const path = toPath(args[0])
    assertPath(path ?? '', args[1])
    if (isClosed) args[0] = path
    if (isClosed && takesTwo) {
      args[1] = toPath(args[1])
      assertWritable((args[1] as string | undefined) ?? '')
    }
    return apply(original, this, args)
  })
}

function refuseWhenClosed(original: (...args: readonly unknown[]) => unknown, name: string) {
  return function judged(this: unknown, ...args: readonly unknown[]): unknown {
    if (isClosed) refuse(name)
    return apply(original, this, args)
  }
}

function toPath(given: unknown): string | undefined {
  if (typeof given === 'string') return resolve(given)
  return given instanceof URL ? fileURLToPath(given) : undefined
}

function assertReadable(path: string): void {
  if (!isClosed) readable.add(path)
  else if (!isCodeOrData(path) && !isIn(readable, path) && !isWritable(path)) refuse(path)
}

function assertOpenable(path: string, flags: unknown): void {
  if (flags === undefined || flags === 'r') assertReadable(path)
  else assertWritable(path)
}

function assertWritable(path: string): void {
  if (isClosed && !isWritable(path)) refuse(path)
}

function isWritable(path: string): boolean {
  for (let index = 0; index < writable.length; index++) {
    const place = writable[index] ?? ''
    if (endsWith(place, sep) ? startsWith(`${path}${sep}`, place) : path === place) return true
  }
  return false
}

function refuse(file: string): never {
  throw strategyFailure('STRATEGY_IMPURE', {
    facts: { file },
    hint: 'this thread reads and writes what belongs to its run, and nothing else; a strategy that replaces built-in functions can cause this',
  })
}
