import { Failure, messageOf } from '../../lib/failure.ts'
import { adviseCertificate } from '../../lib/net/certificate.ts'
import { type Flaw, layoutOlder, MOVED_TO_FILE } from '../journal-failures.ts'
import { LAYOUT } from '../journal-layout.ts'
import { serverName, sqlStateOf, type PostgresPlace } from './connection.ts'
import { JOURNAL_MOVED, LAYOUT_OTHER, toLayout } from './server-schema.ts'

type FailureFacts = Readonly<Record<string, string | number>>

function placeFacts({ url, schema }: PostgresPlace): FailureFacts {
  return schema === '' ? { url } : { url, schema }
}

export function translatePostgresError(error: unknown, place: PostgresPlace): Failure {
  if (error instanceof Failure) return error
  const state = sqlStateOf(error)
  if (state === JOURNAL_MOVED) return movedAway(place, messageOf(error))
  if (state === LAYOUT_OTHER) return layoutOther(place, messageOf(error))
  return new Failure({
    code: 'JOURNAL_UNREACHABLE',
    sentence: 'the journal on PostgreSQL cannot be opened',
    facts: {
      ...placeFacts(place),
      found: isPasswordMissing(error) ? NO_PASSWORD : foundOf(error),
    },
    hint: adviseOpening(error, place),
    ...(isPasswordMissing(error) ? {} : { cause: error }),
  })
}

const NO_PASSWORD = 'no password was given'
const PASSWORD = 'INTENTD_JOURNAL_PASSWORD, or the file that INTENTD_JOURNAL_PASSWORD_FILE names'
const PASSWORD_OF_QUEUE = 'where neither is set, --url takes INTENTD_SWEEP_PASSWORD'

/** Keyed by SQLSTATE (PostgreSQL's manual, "PostgreSQL Error Codes"). */
const ADVICE: Readonly<Record<string, string>> = {
  '28000':
    'create the user (`createuser`), and let it in from this machine (pg_hba.conf); journal.url names it',
  '3D000': 'create the database (`createdb`), or name another one in journal.url',
  '42501':
    'let the user make its schema (`GRANT CREATE ON DATABASE … TO …`), or use what another user has made (docs/servers.md)',
}

const READING_ADVICE =
  'let the user read it: `GRANT USAGE ON SCHEMA … TO …` and `GRANT SELECT ON ALL TABLES IN SCHEMA … TO …`, for each journal and for intentd_fleet (docs/servers.md)'

/** The driver takes the path of a certificate from the address. */
const COPY_IN_ADDRESS = 'the address (sslrootcert=FILE)'

/** A server writes messages in its own language, by default in English. */
const UNENCRYPTED = /no encryption|SSL off/

function adviseOpening(error: unknown, { schema }: PostgresPlace): string {
  const advice = adviseCertificate(error, COPY_IN_ADDRESS)
  if (advice !== undefined) return advice
  const password = schema === '' ? `${PASSWORD}; ${PASSWORD_OF_QUEUE}` : PASSWORD
  if (isPasswordMissing(error)) return `the server asks for a password: it is ${password}`
  const state = sqlStateOf(error) ?? ''
  if (state === '28000' && UNENCRYPTED.test(messageOf(error)))
    return 'this server takes only connections with TLS: add ?sslmode=verify-full to the address'
  if (state === '42501' && schema === '') return READING_ADVICE
  if (state === '28P01') return `look at the password: it is ${password}`
  return (
    ADVICE[state] ??
    `look whether the server runs and lets this machine in; the password is ${password}`
  )
}

/** The driver says this when the server requests a password. */
function isPasswordMissing(error: unknown): boolean {
  return messageOf(error).includes('client password must be a string')
}

/**
 * SQLSTATEs of a server that starts, stops, ended the connection, lacks room, memory or
 * connections, has trouble with its disk, or is a standby that is not promoted yet.
 */
const PASSING = ['57P', '08', '53', '58', '25006']

export function isPassing(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state === undefined || PASSING.some((start) => state.startsWith(start))
}

/** SQLSTATEs of a refused login, a missing database or a missing right. Other trouble may pass. */
const LASTING = ['28', '3D', '42501']

export function isRefusal(error: unknown): boolean {
  if (!(error instanceof Failure)) return false
  const { facts, cause } = error
  const state = sqlStateOf(cause) ?? ''
  if (LASTING.some((start) => state.startsWith(start))) return true
  return facts['found'] === NO_PASSWORD || adviseCertificate(cause, COPY_IN_ADDRESS) !== undefined
}

/** True if the server refuses nothing for good, and nothing on our side is wrong. */
export function isAway(error: unknown): boolean {
  return !(error instanceof Failure) && !isPasswordMissing(error) && isPassing(error)
}

/** A server whose disk is full ends with no other error. */
const CUT: ReadonlySet<unknown> = new Set(['EPIPE', 'ECONNRESET'])

export function foundOf(error: unknown): string {
  const state = sqlStateOf(error)
  if (state !== undefined) return `${messageOf(error)} (${state})`
  const isCut = error instanceof Error && 'code' in error && CUT.has(error.code)
  return isCut
    ? `the connection was lost, and the server's log may say why (${error.message})`
    : messageOf(error)
}

export function notWritten(error: unknown): Failure {
  return new Failure({
    code: 'JOURNAL_POISONED',
    sentence: 'the journal on PostgreSQL could not be written, so nothing more may be sent',
    facts: { found: foundOf(error) },
    hint: 'check the server: once it is back, recovery finds out what is at the exchange',
    cause: error,
  })
}

export function leaseHeld(place: PostgresPlace, holder: string, freeInMs: number): Failure {
  return new Failure({
    code: 'JOURNAL_LEASE_HELD',
    sentence:
      'another process writes this journal, or may still have requests on the way to the exchange',
    facts: { ...placeFacts(place), holder, freeInSeconds: Math.ceil(freeInMs / 1000) },
    hint: '`intentd standby` waits for it and takes over by itself, `intentd handover` moves it here on purpose',
  })
}

export function leaseLost(why: string): Failure {
  return new Failure({
    code: 'JOURNAL_LEASE_LOST',
    sentence: 'the lease of the journal is lost, so nothing more may be signed or written',
    facts: { why },
    hint: 'another process may trade the account now; this one ends, and can be started again as `intentd standby`',
  })
}

export function movedAway(place: PostgresPlace, to: string): Failure {
  return new Failure({
    code: 'JOURNAL_MOVED',
    sentence: 'the journal on PostgreSQL was moved elsewhere, and is no longer written',
    facts: { ...placeFacts(place), to },
    hint: MOVED_TO_FILE,
  })
}

export function corruptOnServer(
  where: string,
  { sequence, found }: Flaw,
  cause?: unknown,
): Failure {
  return new Failure({
    code: 'JOURNAL_CORRUPT',
    sentence: 'the journal on PostgreSQL is not what was written to it',
    facts: { where, ...(sequence === undefined ? {} : { sequence }), found },
    hint: 'start the daemon on the machine that wrote or followed the journal last: it continues from its own copy; otherwise promote a standby server, restore a backup of the database, or continue from a copy by hand (docs/servers.md, Damaged rows)',
    cause,
  })
}

export function tailLostOnServer(where: string, found: number, durable: number): Failure {
  return new Failure({
    code: 'JOURNAL_TAIL_LOST',
    sentence: 'the server came back without records that it had reported as durable',
    facts: { where, found, durable },
    hint: 'promote a server that has them, or restore a backup that has them; if there is none, docs/servers.md (Lost records) says how to accept the loss',
  })
}

export function notAllowed(place: PostgresPlace, found: string): Failure {
  return new Failure({
    code: 'JOURNAL_UNREACHABLE',
    sentence: 'the journal on PostgreSQL cannot be opened',
    facts: { ...placeFacts(place), found },
    hint: ADVICE['42501'] ?? '',
  })
}

export function serverOld(place: PostgresPlace, version: string): Failure {
  return new Failure({
    code: 'JOURNAL_SERVER_OLD',
    sentence: 'the PostgreSQL server is older than 15, the oldest that intentd is tested with',
    facts: { ...placeFacts(place), found: `PostgreSQL ${version}` },
    hint: 'upgrade the server, or name another one (journal.url, --url, --queue)',
  })
}

export function layoutOther(place: PostgresPlace, text: string): Failure {
  const layout = toLayout(text)
  if (layout < LAYOUT)
    return layoutOlder(
      serverName(place),
      layout,
      'end every daemon and standby of this account, put the same version on every machine, then run `intentd journal migrate` on one of them (docs/journal.md)',
    )
  return new Failure({
    code: 'JOURNAL_LAYOUT_UNKNOWN',
    sentence: 'the journal on PostgreSQL was written by a later version',
    facts: { ...placeFacts(place), layout: text, known: LAYOUT },
    hint: 'use that version on this machine too, or name another journal.schema',
  })
}
