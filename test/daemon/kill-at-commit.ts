// Loaded before a daemon whose journal is on PostgreSQL: kills it right before a commit leaves, or right after the
// server has said that it is done. KILL_AT=before:send:2 is the second commit with a record of that kind. With
// KILL_STOPS it is stopped there instead, and may be continued.

import pg from 'pg'

const [when = '', kind = '', times = '1'] = (process.env['KILL_AT'] ?? '').split(':')
const original = Reflect.get(pg.Client.prototype, 'query') as (...args: unknown[]) => unknown
let met = 0

const kill = <T>(result: T): T => {
  if (process.env['KILL_STOPS'] !== undefined) {
    process.kill(process.pid, 'SIGSTOP')
    return result
  }
  process.kill(process.pid, 'SIGKILL')
  for (;;);
}

pg.Client.prototype.query = function query(this: pg.Client, ...args: unknown[]): unknown {
  const [sql, values] = args as [unknown, unknown]
  const isMet =
    String(sql).includes('write_changes') &&
    JSON.stringify(values).includes(`\\"kind\\":\\"${kind}\\"`)
  if (!isMet || ++met !== Number(times)) return original.apply(this, args)
  if (when === 'before') return original.apply(this, kill(args))
  return (original.apply(this, args) as Promise<unknown>).then(kill)
} as typeof pg.Client.prototype.query
