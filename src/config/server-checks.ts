/** Impossible combinations among the settings of the servers that a daemon leans on. */
import type { Readable } from './cross-checks.ts'
import type { DaemonFile } from './schema/daemon-schema.ts'
import type { Problem } from './yaml/problem.ts'

/** A journal on PostgreSQL, and limits shared through Redis. */
export function checkServers(daemon: Readable<DaemonFile>): Problem[] {
  return [...checkJournal(daemon), ...checkSchema(daemon), ...checkSharedLimits(daemon)]
}

/** The driver takes others for one of these, or checks no certificate. */
const SSL_MODES: ReadonlySet<string> = new Set(['verify-full', 'disable'])

/** What is wrong with the address of a database; undefined where nothing is. Never with the address in it (SEC1). */
export function objectToDatabase(address: string): string | undefined {
  const url = URL.parse(address)
  if (url === null || !/^postgres(?:ql)?:$/.test(url.protocol) || url.pathname.length < 2)
    return 'write a server and a database, such as postgresql://intentd@db.example/intentd'
  if (!isDecodable(url.username + url.password + url.pathname))
    return 'a % in the address does not stand before two hexadecimal digits: write %25 for a % itself'
  const sslmode = url.searchParams.get('sslmode')
  if (sslmode === null || SSL_MODES.has(sslmode)) return undefined
  return `sslmode=${sslmode} does not say what is checked: write sslmode=verify-full, which checks the certificate, or sslmode=disable`
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** Schemas of a database that are somebody else's: PostgreSQL's own, those of the fleet and of the queue of sweeps. */
const TAKEN_SCHEMA = /^(public|information_schema|pg_.*|intentd_fleet|intentd_sweeps)$/

function checkSchema({ source, settings: { name, journal } }: Readable<DaemonFile>): Problem[] {
  const schema = journal?.schema ?? `intentd_${name?.replaceAll('-', '_')}`
  if (journal === undefined || !TAKEN_SCHEMA.test(schema)) return []
  const message = `the schema ${schema} is not for a journal: set another journal.schema`
  return [source.problem(['journal', ...(journal.schema === undefined ? [] : ['schema'])], message)]
}

/** A password in a file that is copied and shown is none (SEC1). */
function checkJournal({ source, settings: { journal } }: Readable<DaemonFile>): Problem[] {
  const { url } = journal ?? {}
  if (url === undefined) return []
  const at = ['journal', 'url']
  const objection = objectToDatabase(url)
  if (objection !== undefined) return [source.problem(at, objection)]
  const { password, searchParams } = new URL(url)
  if (password === '' && !searchParams.has('password')) return []
  return [
    source.problem(at, 'a password does not belong here: put it into the variable INTENTD_JOURNAL_PASSWORD'),
  ]
}

/** The simulator inside the daemon has no address to share. A password in a file is none (SEC1). */
function checkSharedLimits({ source, settings: { exchange } }: Readable<DaemonFile>): Problem[] {
  const { shared, baseUrl } = exchange ?? {}
  if (shared === undefined) return []
  const problems: Problem[] = []
  if (baseUrl === undefined) {
    const message = 'limits are shared on the address of an exchange: set exchange.baseUrl, or remove this'
    problems.push(source.problem(['exchange', 'shared'], message))
  }
  const parsed = URL.parse(shared.redis ?? '')
  if (parsed !== null && parsed.password === '') return problems
  const message =
    parsed === null
      ? 'expected a server, as in redis://cache.example:6379'
      : 'a password does not belong here: put it into the variable INTENTD_LIMITS_PASSWORD'
  return [...problems, source.problem(['exchange', 'shared', 'redis'], message)]
}
