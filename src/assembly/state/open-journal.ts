import { markFileOf } from '../../journal/durable-mark.ts'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DaemonConfig } from '../../config/load-config.ts'
import { signedWithinMs } from '../../engine/orders/schedule.ts'
import { REPLICA_FILE } from '../../journal/journal-failures.ts'
import type { OpenedJournal } from '../../journal/journal.ts'
import type { JournalWriter } from '../../journal/journal-writer.ts'
import type { TableSettings } from '../../journal/journal-tables.ts'
import {
  type FileToMigrate,
  migrateFile,
  type MigrationPlan,
} from '../../journal/migrate/migrate-file.ts'
import { openSqliteJournal } from '../../journal/sqlite-journal.ts'
import { isJournalFile } from '../../journal/verify-journal.ts'
import type { FollowSettings } from '../../journal/postgres/follow.ts'
import type { LeaseTerms } from '../../journal/postgres/lease.ts'
import type { Clock } from '../../lib/clock.ts'
import { writeDurably } from '../../lib/durable-file.ts'
import { randomHex } from '../../lib/entropy.ts'
import { Failure } from '../../lib/failure.ts'
import type { LockHolder } from '../../lib/process-lock.ts'
import type { Secret } from '../../lib/secret.ts'
import type { Timers } from '../../lib/timers.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import { describeHolder } from './state-directory.ts'
import { JOURNAL_FILE, journalPlaceOf, serverPlaceOf } from './state-place.ts'

/**
 * Holds an id that no other state directory has, on any machine. The directory's lock proves that
 * an earlier holder is dead.
 */
const PLACE_FILE = 'place'

export interface JournalToOpen extends TableSettings {
  readonly config: DaemonConfig
  readonly directory: string
  readonly password: Secret | undefined
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Pick<DaemonLogger, 'log'>
  readonly following?: FollowSettings | undefined
  readonly configOption: string
  readonly own?: JournalWriter | undefined
}

/**
 * Code for PostgreSQL is only loaded if configured. @throws Failure of opening either;
 * JOURNAL_NOT_COPIED
 */
export async function openJournal(options: JournalToOpen): Promise<OpenedJournal> {
  const { config, directory, logger, password } = options
  const place = journalPlaceOf(config, directory)
  const file = join(directory, JOURNAL_FILE)
  if (config.journal === undefined) {
    const replica = join(directory, REPLICA_FILE)
    const isNew = !isJournalFile(file) && !existsSync(markFileOf(file))
    if (isNew && isJournalFile(replica)) throw notCopiedBack(file, replica, options.configOption)
    const onUnpacked = (reason: string): void =>
      logger.log('warn', 'journal.notPacked', { file: place.file, reason })
    migrateOwnJournal(place, logger)
    return openSqliteJournal({ ...options, ...place, onUnpacked })
  }
  const { openPostgresJournal } = await import('../../journal/postgres/postgres-journal.ts')
  const server = serverPlaceOf(config, password)
  const opened = await openPostgresJournal({
    ...options,
    ...place,
    place: server,
    taker: takerOf(config, directory, options.clock.now()),
    terms: leaseTermsOf(config.journal, config),
    refusesDifference: config.journal.onDifference === 'refuse',
    onAway: (away) => {
      if ('reason' in away) logger.log('warn', 'journal.away', { ...away })
      else logger.log('info', 'journal.back', { ...away })
    },
  })
  const { journal, isEmpty, isReplicated, isSynchronised } = opened
  const commitMs = Math.round(opened.commitMs)
  if (isEmpty && isJournalFile(file)) {
    await journal.close()
    throw notCopied(file, server.schema, options.configOption)
  }
  const { url, schema } = server
  const abandoned = journal.lease?.isAbandoned === true
  logger.log('info', 'journal.opened', { url, schema, abandoned, commitMs })
  if (isNearlyLate(commitMs, config))
    logger.log('warn', 'journal.nearlyLate', { url, commitMs, mostMs: commitMsMaxOf(config) })
  if (!isReplicated) logger.log('warn', 'journal.notReplicated', { url })
  if (!isSynchronised) logger.log('warn', 'journal.notSynchronised', { url })
  return journal
}

/**
 * Migrates only a file: a journal on a server may have followers, so an operator decides about it.
 */
function migrateOwnJournal(
  file: FileToMigrate,
  logger: Pick<DaemonLogger, 'log'>,
): MigrationPlan | undefined {
  const migrated = migrateFile(file)
  if (migrated) {
    const { from, to, copy, counted } = migrated
    logger.log('info', 'journal.migrated', {
      file: file.file,
      from,
      to,
      copy,
      records: counted.records,
    })
  }
  return migrated
}

/** After a longer commit, the prices of a batch are too old, or its signature is. */
export function commitMsMaxOf({
  execution,
  risk,
}: Pick<DaemonConfig, 'execution' | 'risk'>): number {
  return Math.min(signedWithinMs(execution), risk.dataAgeMaxMs)
}

/** A batch may wait for the commit before its own. */
export function isNearlyLate(
  commitMs: number,
  config: Pick<DaemonConfig, 'execution' | 'risk'>,
): boolean {
  return 2 * commitMs > commitMsMaxOf(config)
}

export function leaseTermsOf(
  { leaseMs }: NonNullable<DaemonConfig['journal']>,
  { execution }: Pick<DaemonConfig, 'execution'>,
): LeaseTerms {
  // The exchange may execute the last signed request until the end of `validityMs`.
  return { lastingMs: leaseMs, validityMs: execution.acceptanceWindowMs }
}

export function takerOf({ name }: Pick<DaemonConfig, 'name'>, directory: string, now: number) {
  const process = describeHolder(name, now)
  return {
    place: `${process.host} ${readPlace(directory)}`,
    name: `${nameProcess(process)}, ${directory}`,
  }
}

export function isHolder(holder: string, process: LockHolder): boolean {
  return holder.startsWith(`${nameProcess(process)}, `)
}

export function nameProcess({ name, host, pid }: LockHolder): string {
  return `${name} on ${host}, pid ${pid}`
}

function readPlace(directory: string): string {
  const file = join(directory, PLACE_FILE)
  if (existsSync(file)) return readFileSync(file, 'utf8').trim()
  const place = randomHex(16)
  writeDurably(file, `${place}\n`)
  return place
}

export function notCopied(file: string, schema: string, configOption: string): Failure {
  return new Failure({
    code: 'JOURNAL_NOT_COPIED',
    sentence: 'this state directory has a journal in a file, but the one on PostgreSQL is empty',
    facts: { file, schema },
    hint: `\`intentd journal copy --to postgres${configOption}\` moves it there; to begin anew with nothing open at the exchange, set another state.directory`,
  })
}

function notCopiedBack(file: string, replica: string, configOption: string): Failure {
  return new Failure({
    code: 'JOURNAL_NOT_COPIED',
    sentence:
      'the journal of this state directory was on PostgreSQL, and there is no journal in a file',
    facts: { file, replica },
    hint: `set journal.url again; \`intentd journal copy --to file${configOption}\` moves it here; to begin anew with nothing open at the exchange, set another state.directory`,
  })
}
