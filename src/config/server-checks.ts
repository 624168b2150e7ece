import type { ReadableFile } from './cross-checks.ts'
import { isLoopback } from './loopback.ts'
import type { DaemonFile } from './schema/daemon-schema.ts'
import type { Problem } from './yaml/problem.ts'

/**
 * Passwords, leases and kills go to these servers, so other machines need TLS unless this is set.
 */
const OVERRIDE = 'withoutTls: true'

export function checkServers(daemon: ReadableFile<DaemonFile>): Problem[] {
  return [
    ...checkJournal(daemon),
    ...checkSchema(daemon),
    ...checkSharedLimits(daemon),
    ...checkAgents(daemon),
  ]
}

/** The driver checks no certificate in other modes, or treats them as one of these. */
const SSL_MODES: ReadonlySet<string> = new Set(['verify-full', 'disable'])

/** Never contains the address (SEC1). */
export function objectToDatabase(address: string): string | undefined {
  const url = URL.parse(address)
  if (url === null || !/^postgres(?:ql)?:$/.test(url.protocol) || url.pathname.length < 2)
    return 'write a server and a database, such as postgresql://intentd@db.example/intentd'
  if (!isDecodable(url.username + url.password + url.pathname))
    return 'a % in the address does not stand before two hexadecimal digits: write %25 for a % itself'
  const { searchParams } = url
  if (searchParams.size !== new Set(searchParams.keys()).size)
    return 'a parameter of the address stands there twice'
  // These change the driver's meaning of sslmode.
  if (searchParams.has('ssl') || searchParams.has('uselibpqcompat'))
    return 'write sslmode=verify-full in place of ssl and uselibpqcompat'
  if (hostOf(url) === '')
    return 'name the server: without one the driver takes what a variable says. 127.0.0.1 is this machine'
  const sslmode = searchParams.get('sslmode')
  if (sslmode === null || SSL_MODES.has(sslmode)) return undefined
  return `sslmode=${sslmode} does not say what is checked: write sslmode=verify-full, which checks the certificate, or sslmode=disable`
}

/** As the driver reads it: the parameter first, and either may be a socket's path. */
function hostOf({ hostname, searchParams }: URL): string {
  return searchParams.get('host') || decodeURIComponent(hostname)
}

/** @param address without objections */
export function isDatabaseInClear(address: string): boolean {
  const url = new URL(address)
  const host = hostOf(url)
  return (
    !host.startsWith('/') && !isLoopback(host) && url.searchParams.get('sslmode') !== 'verify-full'
  )
}

export function isRedisInClear(address: string): boolean {
  const { protocol, hostname } = new URL(address)
  return protocol !== 'rediss:' && !isLoopback(hostname)
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** Schemas of other owners: PostgreSQL, the fleet and the queue of sweeps. */
const TAKEN_SCHEMA = /^(public|information_schema|pg_.*|intentd_fleet|intentd_sweeps)$/

function checkSchema({ source, settings: { name, journal } }: ReadableFile<DaemonFile>): Problem[] {
  const schema = journal?.schema ?? `intentd_${name?.replaceAll('-', '_')}`
  if (journal === undefined || !TAKEN_SCHEMA.test(schema)) return []
  const message = `the schema ${schema} is not for a journal: set another journal.schema`
  return [source.problem(['journal', ...(journal.schema === undefined ? [] : ['schema'])], message)]
}

/** Files are copied and shown, so a password must not be in one (SEC1). */
function checkJournal({ source, settings: { journal } }: ReadableFile<DaemonFile>): Problem[] {
  const { url } = journal ?? {}
  if (url === undefined) return []
  const at = ['journal', 'url']
  const objection = objectToDatabase(url)
  if (objection !== undefined) return [source.problem(at, objection)]
  const { password, searchParams } = new URL(url)
  if (password !== '' || searchParams.has('password')) {
    const message =
      'a password does not belong here: put it into the variable INTENTD_JOURNAL_PASSWORD'
    return [source.problem(at, message)]
  }
  if (!isDatabaseInClear(url) || journal?.withoutTls === true) return []
  const message = `this is another machine, and nothing is encrypted: add sslmode=verify-full to the address, which checks the certificate, or say ${OVERRIDE} beside it`
  return [source.problem(at, message)]
}

/** An embedded simulator has no address to share. A password must not be in a file (SEC1). */
function checkSharedLimits({
  source,
  settings: { exchange },
}: ReadableFile<DaemonFile>): Problem[] {
  const { shared, baseUrl } = exchange ?? {}
  if (shared === undefined) return []
  const problems: Problem[] = []
  if (baseUrl === undefined) {
    const message =
      'limits are shared on the address of an exchange: set exchange.baseUrl, or remove this'
    problems.push(source.problem(['exchange', 'shared'], message))
  }
  const parsed = URL.parse(shared.redis ?? '')
  const message = objectToRedis(parsed, shared.withoutTls === true)
  return message === undefined
    ? problems
    : [...problems, source.problem(['exchange', 'shared', 'redis'], message)]
}

function objectToRedis(url: URL | null, mayBeInClear: boolean): string | undefined {
  if (url === null) return 'expected a server, as in rediss://cache.example:6379'
  if (url.password !== '')
    return 'a password does not belong here: put it into the variable INTENTD_LIMITS_PASSWORD'
  // The client would read further settings from the query.
  if (url.search !== '') return 'nothing belongs behind the server and the number of its database'
  if (mayBeInClear || !isRedisInClear(url.href)) return undefined
  return `this is another machine, and nothing is encrypted: write rediss:, which checks the certificate, or say ${OVERRIDE} beside it`
}

function checkAgents({ source, settings: { control } }: ReadableFile<DaemonFile>): Problem[] {
  if (control?.agents?.http !== true || control.port !== undefined) return []
  const path = ['control', 'agents', 'http']
  return [source.problem(path, 'assistants are served at control.port: give it one, such as 8790')]
}
