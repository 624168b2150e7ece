// Strategies run beside code that reads prices and writes a report. They cannot import `node:fs`,
// but could replace methods which that code calls, and redirect it. So the functions of `node:fs`
// are wrapped at the thread's begin, and accept only its own files from the first strategy on.

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { strategyFailure } from '../strategy-failure.ts'
import { isCodeOrData } from './guard-thread.ts'
import { apply, endsWith, isIn, startsWith } from './kept-methods.ts'

type Judge = (path: string, flags: unknown) => void

/** Test only existence and kind of a file, which an import reveals too, or take opened files. */
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

/** Must run before other code replaces these functions. */
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

/** A file, or everything below a directory whose path ends in a separator. Call before closing. */
export function keepWritable(path: string): void {
  if (!isClosed) writable.push(path)
}

export function keepReadable(path: string): void {
  if (!isClosed) readable.add(resolve(path))
}

/** From now on only files read before, code and JSON are readable, and only kept paths writable. */
export function closeFiles(): void {
  isClosed = true
}

function both(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.flatMap((name) => [name, `${name}Sync`]))
}

/** The judged string is passed on: an object could name another file at each access. */
function judge(functions: object, name: string, assertAllowed: Judge): void {
  const original = Reflect.get(functions, name) as (...args: readonly unknown[]) => unknown
  const takesTwo = name === 'rename' || name === 'renameSync'
  Reflect.set(functions, name, function judged(this: unknown, ...args: unknown[]): unknown {
    const path = toPath(args[0])
    assertAllowed(path ?? '', args[1])
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
