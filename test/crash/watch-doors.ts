// Loaded into a daemon by `node --import`: kills it, as `kill -9` would, at a named point.
//
// The points are the doors through which the program touches the world: statements of its SQLite files,
// requests and answers on its sockets, changes of files, lines of its log. Between two of them nothing
// happens that anybody could find after a crash, so a kill there is a kill at the next door: the points are
// complete without a line in the program that knows of them.
//
// INTENTD_CRASH_AT is `name:n`: the n-th time that the named point is reached; with INTENTD_CRASH_AFTER, once
// that point has been reached. INTENTD_CRASH_TRACE names a file that every point is written to, one a line.
import { channel } from 'node:diagnostics_channel'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename } from 'node:path'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { isMainThread } from 'node:worker_threads'
import { nameOfStatement, StatementNames } from './statement-names.ts'

const wanted = process.env['INTENTD_CRASH_AT']
const after = process.env['INTENTD_CRASH_AFTER']
const traceFile = process.env['INTENTD_CRASH_TRACE']
const [wantedName, wantedTimes] = splitPoint(wanted ?? ':')
const trace = traceFile === undefined ? undefined : fs.openSync(traceFile, 'a')
const { writeSync } = fs
let times = 0
let isArmed = after === undefined

if (isMainThread) {
  watchStatements()
  watchFiles()
  watchWire()
}

function splitPoint(text: string): readonly [string, number] {
  const colon = text.lastIndexOf(':')
  return [text.slice(0, colon), Number(text.slice(colon + 1))]
}

function reached(name: string): void {
  if (trace !== undefined) writeSync(trace, `${name}\n`)
  isArmed ||= name === after
  if (!isArmed || name !== wantedName) return
  times += 1
  if (times === wantedTimes) process.kill(process.pid, 'SIGKILL')
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

/** The journal: each statement, and each commit under the kind of the last record that it makes durable. */
function watchStatements(): void {
  const names = new StatementNames()
  watch(DatabaseSync.prototype, 'exec', ([sql]) => names.next(nameOfStatement(String(sql))))
  watch(DatabaseSync.prototype, 'close', () => 'journal.close')
  for (const method of ['run', 'all', 'get']) {
    watch(StatementSync.prototype, method, (values, self) =>
      self instanceof StatementSync ? names.next(nameOfStatement(self.sourceSQL, values)) : undefined,
    )
  }
}

/** Changes of files and directories, by the name of the file; and log lines, by their event. */
function watchFiles(): void {
  for (const verb of ['writeFile', 'rm', 'rename', 'mkdir', 'chmod', 'open']) {
    watch(fs, `${verb}Sync`, ([path, flags]) => {
      const changes = verb !== 'open' || (typeof flags === 'string' && flags !== 'r')
      return changes ? `file.${verb}.${basename(String(path))}` : undefined
    })
  }
  watch(fs, 'writeSync', ([, text]) => {
    const event = /"event":"([\w.]+)"/.exec(String(text))?.[1]
    return event === undefined ? undefined : `log.${event}`
  })
  syncBuiltinESMExports()
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
