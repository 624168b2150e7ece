import { Buffer } from 'node:buffer'
import { registerHooks, stripTypeScriptTypes, syncBuiltinESMExports } from 'node:module'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import workerThreads, { threadId, type WorkerOptions } from 'node:worker_threads'
import { markFunctions } from './mark-functions.ts'

/**
 * Loaded before the program (`node --import`): notes each function of `src` that is entered or left, in order, and
 * writes the lists, one a thread, when it ends. WALK_OUT: the beginning of their paths; `walk-log.ts` reads them.
 */

/** Entries and exits of a thread: what a daemon does in half a minute. What comes later is not noted. */
const MARKS_MAX = 8_000_000
/** A thread writes its list when it has so many, and at each doubling. */
const KEPT_FROM = 65_536

const sourceRoot = new URL('../../src/', import.meta.url).href
const names: string[] = []
const marks = new Int32Array(MARKS_MAX)
let count = 0

function note(mark: number): void {
  if (count === MARKS_MAX) return
  marks[count++] = mark
  // A thread may be ended at any time, and hears nothing of it.
  if (threadId > 0 && count >= KEPT_FROM && Number.isInteger(Math.log2(count))) writeList()
}

export function __entered(id: number): void {
  note(id + 1)
}

export function __left<Value>(id: number, value: Value): Value {
  note(-id - 1)
  return value
}

/** By name and not as globals: threads in which strategies run take away what they do not know. */
const IMPORT = `import { __entered, __left } from ${JSON.stringify(import.meta.url)};`

registerHooks({
  load(url, context, nextLoad) {
    const [plain = url] = url.split('?')
    if (!plain.startsWith(sourceRoot) || !plain.endsWith('.ts')) return nextLoad(url, context)
    const file = plain.slice(sourceRoot.length)
    const source = markFunctions(file, readFileSync(fileURLToPath(plain), 'utf8'), names)
    return { format: 'module', source: IMPORT + stripTypeScriptTypes(source), shortCircuit: true }
  },
})

const out = process.env['WALK_OUT'] ?? ''

/** The threads of the program start with no flag and an empty environment: they are noted too. */
workerThreads.Worker = class extends workerThreads.Worker {
  constructor(file: string | URL, options: WorkerOptions = {}) {
    const env = Object.assign({}, options.env, { WALK_OUT: out })
    super(file, Object.assign({}, options, { env, execArgv: ['--import', import.meta.url] }))
  }
}
syncBuiltinESMExports()

/** As they are before a guard takes them away. */
const write = writeFileSync

function writeList(): void {
  const path = `${out}-${threadId}`
  write(`${path}.json`, JSON.stringify(names))
  write(`${path}.bin`, Buffer.from(marks.buffer, 0, count * Int32Array.BYTES_PER_ELEMENT))
}

if (out !== '' && threadId === 0) process.on('exit', writeList)
