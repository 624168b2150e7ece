import { join } from 'node:path'
import type { DaemonConfig } from '../../config/load-config.ts'
import {
  loadJournalPassword,
  loadLimitsPassword,
  type SecretsRequest,
} from '../../config/secrets.ts'
import { commitMsMaxOf, isNearlyLate, notCopied } from '../../assembly/state/open-journal.ts'
import { JOURNAL_FILE, journalPlaceOf, serverPlaceOf } from '../../assembly/state/state-place.ts'
import { LOG_EVENTS } from '../../domain/log-events.ts'
import type { ProbedRedis } from '../../exchange/limiter/shared/probe-redis.ts'
import { systemClock } from '../../lib/clock.ts'
import { isJournalFile } from '../../journal/verify-journal.ts'
import { differencesOf, type JournalWriter } from '../../journal/journal-writer.ts'
import { Failure, messageOf } from '../../lib/failure.ts'
import { adviseCertificate, COPY_IN_VARIABLE } from '../../lib/net/certificate.ts'
import type { Secret } from '../../lib/secret.ts'
import { type CheckFinding, finding, ok } from '../process/finding.ts'

/** The oldest version with which shared limits are tested. */
const REDIS_MIN = 7

export async function examineServers(
  config: DaemonConfig,
  request: SecretsRequest,
  { configOption, own }: { readonly configOption: string; readonly own: JournalWriter },
): Promise<readonly CheckFinding[]> {
  return [
    ...(await examineJournalServer(config, request, { configOption, own })),
    ...(await examineRedis(config, request)),
  ]
}

async function examineJournalServer(
  config: DaemonConfig,
  request: SecretsRequest,
  { configOption, own }: { readonly configOption: string; readonly own: JournalWriter },
): Promise<readonly CheckFinding[]> {
  const { journal } = config
  if (journal === undefined) return []
  try {
    const place = serverPlaceOf(config, loadJournalPassword(config, request))
    const { identity } = journalPlaceOf(config, config.state.directory)
    const { probeServer } = await import('../../journal/postgres/server-tables.ts')
    const server = await probeServer(place, { identity, own }, systemClock)
    const file = join(config.state.directory, JOURNAL_FILE)
    if (server.journal !== 'written' && isJournalFile(file))
      throw notCopied(file, place.schema, configOption)
    const there = {
      none: 'has no journal of this account yet',
      empty: `has the journal ${place.schema}, which is empty`,
      written: `has the journal ${place.schema}`,
    }[server.journal]
    return [
      ok('journal', `PostgreSQL ${server.version} at ${place.url} answers, and ${there}`),
      ...(server.maySayInFleet ? [] : [NOT_IN_FLEET]),
      ...judgeSetup(differencesOf(own, server.writer), server.writer?.by ?? ''),
      judgeDurability(server),
      judgeCommit(Math.round(server.commitMs), config),
    ]
  } catch (error) {
    return [finding('fail', 'journal', describe(error), hintOf(error, 'look at journal.url'))]
  }
}

function judgeSetup(differs: readonly string[], by: string): readonly CheckFinding[] {
  if (differs.length === 0) return []
  return [
    finding(
      'warn',
      'journal, setup',
      `this machine would trade otherwise than ${by}: ${differs.join(', ')}`,
      'install the same configuration and strategies on both machines, or reload the daemon if it runs here',
    ),
  ]
}

const NOT_IN_FLEET = finding(
  'warn',
  'journal, fleet',
  'this user may not write to the schema intentd_fleet, so `fleet status` and `fleet alerts` do not show the account',
  '`GRANT USAGE ON SCHEMA intentd_fleet TO …` and `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA intentd_fleet TO …`',
)

function judgeDurability(server: {
  readonly isReplicated: boolean
  readonly isSynchronised: boolean
}): CheckFinding {
  if (!server.isSynchronised)
    return finding(
      'fail',
      'journal, durable',
      'a commit does not wait for the disk (fsync is off)',
      'set fsync to on there: after a power cut the journal could be any',
    )
  return server.isReplicated
    ? ok(
        'journal, durable',
        'a commit waits for the disk, and for another server (synchronous_standby_names)',
      )
    : finding(
        'warn',
        'journal, durable',
        'a commit waits for the disk of one server alone',
        LOG_EVENTS['journal.notReplicated'],
      )
}

function judgeCommit(commitMs: number, config: DaemonConfig): CheckFinding {
  const found = `a commit took ${commitMs} ms; beyond ${commitMsMaxOf(config)} ms orders are dropped`
  return isNearlyLate(commitMs, config)
    ? finding(
        'warn',
        'journal, commit',
        found,
        'bring the server nearer, or raise execution.acceptanceWindowMs or risk.dataAgeMaxMs',
      )
    : ok('journal, commit', found)
}

async function examineRedis(
  config: DaemonConfig,
  request: SecretsRequest,
): Promise<readonly CheckFinding[]> {
  const { shared } = config.exchange
  if (shared === undefined) return []
  const { redis } = shared
  let password: Secret | undefined
  try {
    password = loadLimitsPassword(config, request)
    const { probeRedis } = await import('../../exchange/limiter/shared/probe-redis.ts')
    return [judgeRedis(redis, await probeRedis(redis, password))]
  } catch (error) {
    return [failedAt('shared limits', redis, error)]
  }
}

function judgeRedis(url: string, { version, isReplica }: ProbedRedis): CheckFinding {
  const what = 'shared limits'
  const found = `${url} answers (version ${version})`
  if (isReplica)
    return finding(
      'fail',
      what,
      `${found}, and is a replica`,
      'name its primary in exchange.shared.redis',
    )
  if (Number(version.split('.')[0]) < REDIS_MIN)
    return finding(
      'warn',
      what,
      found,
      `shared limits are tested with Redis ${REDIS_MIN} and with Valkey`,
    )
  return ok(what, `${found}, and takes the script that shares`)
}

function failedAt(what: string, url: string, error: unknown): CheckFinding {
  return finding(
    'fail',
    what,
    `${url}: ${describe(error)}`,
    adviseCertificate(error, COPY_IN_VARIABLE) ??
      'look whether the server runs and lets this machine in; its password is INTENTD_LIMITS_PASSWORD, or the file that INTENTD_LIMITS_PASSWORD_FILE names',
  )
}

function describe(error: unknown): string {
  const [first = ''] = messageOf(error).split('\n')
  if (!(error instanceof Failure)) return first
  const facts = Object.entries(error.facts).map(([name, value]) =>
    name === 'found' ? String(value) : `${name} ${value}`,
  )
  return facts.length === 0 ? first : `${first}: ${facts.join('; ')}`
}

function hintOf(error: unknown, otherwise: string): string {
  return (error instanceof Failure ? error.hint : undefined) ?? otherwise
}
