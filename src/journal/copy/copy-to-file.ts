import { renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncDirectory, syncFile } from '../../lib/durable-file.ts'
import { type Failure, messageOf } from '../../lib/failure.ts'
import { unreachable } from '../../lib/unreachable.ts'
import { makeProvedFile } from './make-proved-file.ts'
import { type ExpectedCopy, countServer } from './prove-copy.ts'
import {
  createCopyMark,
  createMark,
  type MarkReading,
  readMark,
  markFileOf,
} from '../durable-mark.ts'
import {
  type Flaw,
  journalForeign,
  isDamage,
  markDamaged,
  repairUnfinished,
} from '../journal-failures.ts'
import { removeDatabase } from '../journal-layout.ts'
import { isJournalFile, verifyJournal } from '../verify-journal.ts'
import { PostgresConnection, serverName } from '../postgres/connection.ts'
import {
  copyBehind,
  copyFailed,
  copyKilled,
  copyTaken,
  copyUnknown,
  nothingToCopy,
} from './copy-failures.ts'
import {
  COPY_ANSWER_MS_MAX,
  type CopyOptions,
  type CopyReport,
  countProgress,
} from './copy-options.ts'
import { lockServerJournal, type ServerState } from './server-state.ts'
import { fetchTables } from '../postgres/replica.ts'
import { readKillRequest } from '../postgres/kill-request.ts'
import { HeldLease, takeLease } from '../postgres/lease.ts'
import { corruptOnServer, leaseHeld, leaseLost, movedAway } from '../postgres/postgres-failures.ts'
import type { ServerMeta } from '../postgres/server-tables.ts'
import { quoteName } from '../postgres/server-schema.ts'

/**
 * The last step of the copy names the lease's token, and the lease is not renewed meanwhile. The
 * proof takes a minute for a million records.
 */
const LEASE_MS = 600_000

export interface CopyToFileOptions extends CopyOptions {
  /** Records durably that resting orders may be outdated. */
  readonly noteRetreat: () => void
}

/**
 * Moves a journal from PostgreSQL to a file, under the lease:
 *
 *     server ──fetched beside, proved──► in its place, marked as a copy ──server says that it moved──► file
 *       └── any failure before: server
 *
 * No program opens a file that is marked as a copy. Repeating the copy begins anew.
 * @throws Failure JOURNAL_COPY_*, JOURNAL_FOREIGN, JOURNAL_LEASE_HELD, JOURNAL_MOVED,
 * JOURNAL_CORRUPT
 */
export async function copyToFile(options: CopyToFileOptions): Promise<CopyReport> {
  const { place, taker, file } = options
  const connection = new PostgresConnection(place, COPY_ANSWER_MS_MAX)
  try {
    const state = await connection.within('BEGIN', () =>
      lockServerJournal(connection, place, taker),
    )
    const mark = readMark(markFileOf(file))
    if (isNeverCopied(options, mark, state)) {
      createMark(markFileOf(file), mark.mark)
      return { kind: 'kept', counted: undefined, last: mark.mark }
    }
    if (state === undefined || state.isBlank) throw nothingToCopy(serverName(place))
    const judged = judgeFile(options, mark, state)
    if (judged === 'done') return { kind: 'done', counted: undefined, last: state.last }
    await refuseKilled(connection, options)
    return await moveToFile(connection, options, { state, isMoved: state.movedTo !== undefined })
  } catch (error) {
    if (!isDamage(error)) throw copyFailed(error)
    throw corruptOnServer(
      serverName(place),
      { sequence: undefined, found: messageOf(error) },
      error,
    )
  } finally {
    removeFile(madeFileOf(options))
    await connection.close()
  }
}

function madeFileOf({ file }: CopyOptions): string {
  return `${file}.copied`
}

function removeFile(file: string): void {
  removeDatabase(file)
  rmSync(markFileOf(file), { force: true })
}

/** Tells whether a copy to the server got no further than the mark of the file. */
function isNeverCopied(
  { file, identity, place, fileName }: CopyOptions,
  mark: MarkReading,
  state: ServerState | undefined,
): mark is Extract<MarkReading, { kind: 'moved' }> {
  if (mark.kind !== 'moved' || mark.to !== serverName(place)) return false
  if (state === undefined || (state.isBlank && state.movedTo === undefined)) return true
  const found = verifyJournal({ file, identity }, { evenMoved: true })
  return found?.meta.firstLink === state.meta.firstLink && state.movedTo === fileName
}

function judgeFile(options: CopyOptions, mark: MarkReading, state: ServerState): 'copy' | 'done' {
  const { file, identity, place, fileName } = options
  if (state.meta.identity !== identity)
    throw journalForeign(serverName(place), state.meta.identity, identity)
  if (state.movedTo !== undefined) {
    if (state.movedTo === fileName && mark.kind === 'copying') return 'copy'
    if (state.movedTo === fileName && mark.kind === 'read') return 'done'
    throw movedAway(place, state.movedTo)
  }
  switch (mark.kind) {
    case 'copying':
      return 'copy'
    case 'absent':
      if (isJournalFile(file)) throw copyTaken(file, 'a file without a mark')
      return 'copy'
    case 'repairing':
      throw repairUnfinished(file, mark.aside)
    case 'damaged':
      throw markDamaged(file, `${markFileOf(file)} is damaged`)
    case 'read':
      throw copyTaken(file, 'a journal that may be the current one')
    case 'moved': {
      const found = verifyJournal({ file, identity }, { evenMoved: true })
      if (found?.meta.firstLink !== state.meta.firstLink)
        throw copyTaken(file, 'a journal of another beginning')
      if (mark.mark.sequence > state.last.sequence) throw copyBehind(file, mark.mark, state.last)
      return 'copy'
    }
    default:
      return unreachable(mark)
  }
}

async function moveToFile(
  connection: PostgresConnection,
  options: CopyToFileOptions,
  { state, isMoved }: { readonly state: ServerState; readonly isMoved: boolean },
): Promise<CopyReport> {
  const lease = isMoved ? undefined : await holdLease(connection, options)
  try {
    const copied = await fetchFile(connection, options, state)
    await refuseKilled(connection, options)
    putInPlace(options)
    if (lease) await leaveServer(connection, options, lease.token)
    createMark(markFileOf(options.file), copied.last)
    removeDatabase(options.replicaFile)
    return { kind: 'copied', ...copied }
  } finally {
    await lease?.giveBack().catch(() => undefined)
    await lease?.close()
  }
}

/** Called before and after the copy, which may take minutes. */
async function refuseKilled(connection: PostgresConnection, { place }: CopyOptions): Promise<void> {
  const kill = await readKillRequest(connection, place.schema)
  if (kill && kill.state !== 'released') throw copyKilled(serverName(place), kill)
}

async function holdLease(
  connection: PostgresConnection,
  options: CopyToFileOptions,
): Promise<HeldLease> {
  const { place, taker, terms, clock, timers } = options
  const lastingMs = Math.max(LEASE_MS, terms.lastingMs)
  const lasting = { ...terms, lastingMs }
  const attempt = await takeLease({ connection, schema: place.schema, clock }, taker, lasting)
  if (attempt.kind === 'held') throw leaseHeld(place, attempt.holder, attempt.freeInMs)
  if (attempt.isAbandoned) options.noteRetreat()
  const renewals = new PostgresConnection(place, terms.lastingMs)
  return new HeldLease({
    connection: renewals,
    schema: place.schema,
    clock,
    timers,
    lastingMs,
    taken: attempt,
    holder: taker.name,
  })
}

async function fetchFile(
  connection: PostgresConnection,
  options: CopyOptions,
  { meta }: ServerState,
): Promise<ExpectedCopy> {
  const { place } = options
  const { schema } = place
  const file = madeFileOf(options)
  removeFile(file)
  const refuse = (flaw: Flaw): Failure => corruptOnServer(serverName(place), flaw)
  const { database, last, counted } = await makeProvedFile({ file, meta, refuse }, (empty) =>
    connection.within('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', async () => {
      const expected = await readExpected(connection, schema, meta)
      const { packUpTo } = expected
      const onRows = countProgress(options, 'copying', expected.counted)
      await fetchTables({ connection, schema, database: empty, packUpTo, onRows })
      return expected
    }),
  )
  database.close()
  return { last, counted }
}

async function readExpected(
  connection: PostgresConnection,
  name: string,
  { firstLink, layout }: ServerMeta,
): Promise<ExpectedCopy & { readonly packUpTo: number }> {
  const schema = quoteName(name)
  const [row = {}] = await connection.query(
    `SELECT last_sequence, last_link, (SELECT max(sequence) FROM ${schema}.checkpoints) AS checkpointed
      FROM ${schema}.lease`,
  )
  return {
    last: { sequence: Number(row['last_sequence']), link: String(row['last_link']) || firstLink },
    counted: await countServer(connection, name, layout),
    packUpTo: Number(row['checkpointed'] ?? 0),
  }
}

/** No start opens the file once it is marked. */
function putInPlace(options: CopyOptions): void {
  const { file } = options
  const made = madeFileOf(options)
  syncFile(made)
  createCopyMark(markFileOf(file))
  removeDatabase(file)
  renameSync(made, file)
  syncDirectory(dirname(file))
}

async function leaveServer(
  connection: PostgresConnection,
  { place, fileName }: CopyOptions,
  token: number,
): Promise<void> {
  const schema = quoteName(place.schema)
  let rows
  try {
    rows = await connection.query(
      `UPDATE ${schema}.lease SET moved_to = $2, released = true, expires_at = clock_timestamp(), handover_at = NULL
        WHERE token = $1 AND NOT released AND moved_to IS NULL RETURNING token`,
      [token, fileName],
    )
  } catch (error) {
    throw copyUnknown(error)
  }
  if (rows.length === 0) throw leaseLost('another has taken it')
}
