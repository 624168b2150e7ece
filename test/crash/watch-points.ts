// Loaded into a daemon by `node --import`: kills it, as `kill -9` would, at a named point.
//
// The points are the entry points through which the program touches the world: statements of its SQLite files,
// requests and answers on its sockets, changes of files, lines of its log. Between two of them nothing
// happens that anybody could find after a crash, so a kill there is a kill at the next of these operations: the points are
// complete without a line in the program that knows of them.
//
// INTENTD_CRASH_AT is `name:n`: the n-th time that the named point is reached; with INTENTD_CRASH_AFTER, once
// that point has been reached. INTENTD_CRASH_ELSE is the one that kills instead once the daemon is about to say
// that it runs: its recovery had nothing to do at the first. INTENTD_CRASH_TRACE names a file that every point is written to, one a line.
// With INTENTD_CRASH_STOPS the process is stopped there instead, as one that hangs, and may be continued.
import { channel } from 'node:diagnostics_channel'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename } from 'node:path'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { isMainThread } from 'node:worker_threads'
import { StatementNames } from './statement-names.ts'

const after = process.env['INTENTD_CRASH_AFTER']
const traceFile = process.env['INTENTD_CRASH_TRACE']
const otherwise = process.env['INTENTD_CRASH_ELSE']
const signal = process.env['INTENTD_CRASH_STOPS'] === undefined ? 'SIGKILL' : 'SIGSTOP'
const RECOVERED = 'log.daemon.running.before'
const trace = traceFile === undefined ? undefined : fs.openSync(traceFile, 'a')
const { writeSync } = fs
const names = new StatementNames()
let wanted = parsePoint(process.env['INTENTD_CRASH_AT'] ?? ':')
let times = 0
let isArmed = after === undefined

if (isMainThread) {
  watchStatements()
  watchFiles()
  watchWire()
}

function parsePoint(text: string): { readonly name: string; readonly times: number } {
  const colon = text.lastIndexOf(':')
  return { name: text.slice(0, colon), times: Number(text.slice(colon + 1)) }
}

function reached(name: string): void {
  if (trace !== undefined) writeSync(trace, `${name}\n`)
  isArmed ||= name === after
  if (isArmed && name === wanted.name) {
    times += 1
    if (times === wanted.times) process.kill(process.pid, signal)
  }
  if (otherwise === undefined || name !== RECOVERED) return
  wanted = parsePoint(otherwise)
  times = 0
}

/** The points `<name>.before` and `<name>.after` around a method, where what it is called with has a name. */
function watch(
  owner: object,
  method: string,
  nameOf: (values: readonly unknown[], self: unknown) => string | undefined,
): void {
  const original: unknown = Reflect.get(owner, method)
  if (typeof original !== 'function') throw new Error(`there is no ${method} to watch`)
  Reflect.set(owner, method, function (this: unknown, ...values: unknown[]): unknown {
    const name = nameOf(values, this)
    if (name === undefined) return Reflect.apply(original, this, values)
    reached(`${name}.before`)
    const result: unknown = Reflect.apply(original, this, values)
    reached(`${name}.after`)
    return result
  })
}

/** The journal and the locks: each statement that changes something, and what it is made durable by. */
function watchStatements(): void {
  const { prototype } = DatabaseSync
  const prepare: unknown = Reflect.get(prototype, 'prepare')
  Reflect.set(prototype, 'prepare', function (this: DatabaseSync, ...values: unknown[]): unknown {
    const statement: unknown = Reflect.apply(prepare as DatabaseSync['prepare'], this, values)
    names.own(this, statement)
    return statement
  })
  watch(prototype, 'exec', ([sql], self) => names.ofText(self as DatabaseSync, String(sql)))
  watch(prototype, 'close', (_, self) => names.ofClosing(self as DatabaseSync))
  for (const method of ['run', 'all', 'get', 'iterate']) {
    watch(StatementSync.prototype, method, (values, self) =>
      names.ofStatement(self as StatementSync, values),
    )
  }
}

/** Changes of files and directories, by the name of the file; the journal's mark; log lines, by their event. */
function watchFiles(): void {
  for (const verb of ['writeFile', 'rm', 'rename', 'mkdir', 'chmod', 'open']) {
    watch(fs, `${verb}Sync`, ([path, flags]) => {
      const changes = verb !== 'open' || (typeof flags === 'string' && flags !== 'r')
      return changes ? `file.${verb}.${basename(String(path))}` : undefined
    })
  }
  watch(fs, 'fsyncSync', () => 'file.sync')
  watch(fs, 'writeSync', ([, text]) => nameOfLine(String(text)))
  // The log of a terminal or a pipe: the daemon writes it through the streams, so that nothing waits for a reader.
  for (const stream of [process.stdout, process.stderr])
    watch(stream, 'write', ([text]) => nameOfLine(String(text)))
  syncBuiltinESMExports()
}

function nameOfLine(text: string): string | undefined {
  if (text.startsWith('intentd-mark')) return names.ofMark
  const event = /"event":"([\w.]+)"/.exec(text)?.[1]
  return event === undefined ? undefined : `log.${event}`
}

/** A request: its first byte, its last one, the head of its answer, and the answer's last byte. */
function watchWire(): void {
  const stages = {
    'undici:client:sendHeaders': 'first',
    'undici:request:bodySent': 'sent',
    'undici:request:headers': 'answer',
    'undici:request:trailers': 'answered',
    'undici:request:error': 'lost',
  }
  for (const [name, stage] of Object.entries(stages)) {
    channel(name).subscribe((message) => {
      const { request } = message as { readonly request: { readonly path: string } }
      reached(`wire.${nameOfRequest(request.path)}.${stage}`)
    })
  }
  channel('undici:client:connected').subscribe(() => reached('wire.connected'))
}

/** `batch-place-order`; the later pages of a reading are `fills-page`. */
function nameOfRequest(target: string): string {
  const [path = '', query = ''] = target.split('?')
  const name = path.slice(path.lastIndexOf('/') + 1)
  return query.includes('idLessThan') ? `${name}-page` : name
}
