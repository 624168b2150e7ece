import { dirname, join, resolve } from 'node:path'
import { loadAccounts } from '../../config/load-accounts.ts'
import { type ConfigOptions, type DaemonConfig, toConfigRequest } from '../../config/load-config.ts'
import { ControlClient, type ControlReply } from '../../control/control-client.ts'
import { loadJournalPassword, type SecretsRequest } from '../../config/secrets.ts'
import type { StatusView } from '../../control/views.ts'
import { describeOff, type ShownAccount } from '../../views/shown-account.ts'
import { CONTROL_SOCKET, JOURNAL_FILE, serverPlaceOf } from '../../assembly/state/state-place.ts'
import { readMainFile } from '../../assembly/state/running-config.ts'
import { listHeldDirectories, listHolders } from '../../assembly/state/state-directory.ts'
import { type LastRun, readLastRun } from '../../assembly/state/last-run.ts'
import { readMark, markFileOf } from '../../journal/durable-mark.ts'
import type { LockHolder } from '../../lib/process-lock.ts'
import { showUtc } from '../../lib/text/show-utc.ts'
import { systemClock } from '../../lib/clock.ts'
import { objectToPath } from '../../lib/net/socket-path.ts'
import { findNewestJournal, newestJournal } from '../process/newest-journal.ts'
import { loadOperated } from './operated-config.ts'
import { explainSilence, print, printOnce } from '../process/operator.ts'

export const EXIT_SILENT = 75
const EXIT_REFUSED = 1
const ASKED_MS_MAX = 2000

export interface ShowOptions extends ConfigOptions {
  readonly json?: boolean
}

export type AccountOff = StatusView['off'][number]

export type Found<View> = FoundView<View> | { readonly kind: 'nothing'; readonly exitCode: number }

export interface FoundView<View> {
  readonly kind: 'found'
  /** Has all fields, those too that an older daemon does not tell. */
  readonly view: View
  /** As it was answered, for `--json`. */
  readonly answer: View
  readonly isLive: boolean
}

/** @param stored makes the view from the journal, if no daemon runs */
export async function readDaemon<View>(
  options: ShowOptions,
  path: string,
  stored: (account: ShownAccount, off: AccountOff | undefined) => View | Promise<View>,
): Promise<Found<View>> {
  const config = loadOperated(options)
  const socket = findSocket(config)
  if (socket === undefined) {
    const view = await readBroken<View>(config, path)
    return (
      view ??
      readStored(config, stored, { off: await findOff(config), secrets: toConfigRequest(options) })
    )
  }
  const [holder] = listHolders(config.state.directory)
  const reply = await silence.ask(holder?.pid, () =>
    withClient(socket, (client) => client.read(path)),
  )
  if (reply.kind === 'answered' && reply.status === 200) return toFound(path, reply.body, socket)
  return { kind: 'nothing', exitCode: explainReply(config, reply) }
}

async function toFound<View>(
  path: string,
  answer: unknown,
  socket: string,
): Promise<FoundView<View>> {
  const { value, older } = await readOlder(path, answer, socket)
  if (older !== undefined) printOnce(`! ${older}`)
  return { kind: 'found', view: value as View, answer: answer as View, isLive: true }
}

/** Loaded only where a daemon answered. */
export async function readOlder(
  path: string,
  answer: unknown,
  socket: string,
): Promise<{ readonly value: unknown; readonly older: string | undefined }> {
  const { completeAnswer, describeOlder } = await import('./older-answer.ts')
  const { value, absent } = completeAnswer(path, answer)
  if (absent.length === 0) return { value, older: undefined }
  const reply = await withClient(socket, (client) => client.read('/v1/status'))
  const { version } = (reply.kind === 'answered' ? reply.body : {}) as { version?: string }
  return { value, older: describeOlder(absent, version) }
}

/** Waits once for a silent process, not for each of its accounts. */
export class Silence {
  readonly #replies = new Map<number, ControlReply>()

  async ask(pid: number | undefined, ask: () => Promise<ControlReply>): Promise<ControlReply> {
    const known = pid === undefined ? undefined : this.#replies.get(pid)
    if (known) return known
    const reply = await ask()
    if (pid !== undefined && reply.kind === 'silent' && isTimeout(reply.reason))
      this.#replies.set(pid, reply)
    return reply
  }
}

const silence = new Silence()

function isTimeout(reason: string): boolean {
  return /timeout/i.test(reason)
}

export function findSocket({ state: { directory } }: DaemonConfig): string | undefined {
  const [held] = listHeldDirectories(directory)
  return held === undefined ? undefined : join(held, CONTROL_SOCKET)
}

export async function withClient<Result>(
  socket: string,
  use: (client: ControlClient) => Promise<Result>,
): Promise<Result> {
  const client = new ControlClient(socket)
  try {
    return await use(client)
  } finally {
    await client.close()
  }
}

export function explainReply(config: DaemonConfig, reply: ControlReply): number {
  if (reply.kind === 'answered') {
    const { error = JSON.stringify(reply.body) } = reply.body as { error?: string }
    print(`refused (${reply.status}): ${error}`)
    if (isOfOther(error))
      print(
        '  the daemon that runs is of another version, and does not know this command: start it anew',
      )
    return EXIT_REFUSED
  }
  const socket = findSocket(config)
  const tooLong = socket && objectToPath(socket)
  if (tooLong !== undefined) {
    print(`it has no socket, and trades all the same: ${tooLong}`)
    print('  choose a shorter state.directory for its next start, or look by control.port')
    return EXIT_SILENT
  }
  if (reply.reason.includes('ENOENT')) {
    const { directory } = config.state
    const [holder] = listHolders(directory)
    for (const line of explainNoSocket(holder, readLastRun(directory))) print(line)
    return EXIT_SILENT
  }
  print(
    `no answer: ${isTimeout(reply.reason) ? 'it took the request and says nothing' : reply.reason}`,
  )
  explainSilence(config.state.directory)
  print(
    '  `intentd kill` works without it; `intentd fills`, `profit` and `explain` read the journal beside it',
  )
  return EXIT_SILENT
}

/** A path, or a kind of command, that this version has and the daemon does not. */
function isOfOther(error: string): boolean {
  return (
    error.startsWith('there is no such path') || /^✖.*discriminator[^]*at order\.kind/.test(error)
  )
}

/** The note of the last run tells a start from a socket that is gone. */
export function explainNoSocket(
  holder: Pick<LockHolder, 'pid' | 'since'> | undefined,
  last: LastRun | undefined,
): readonly string[] {
  if (holder === undefined) return ['it has ended meanwhile: ask again']
  const { pid, since } = holder
  const isOfHolder = last?.pid === pid && last.beganAt >= since
  if (isOfHolder && last.endedAt !== undefined)
    return [`process ${pid} has ended its run, and goes: ask again in some seconds`]
  if (!isOfHolder)
    return [
      `it starts: process ${pid} has no control.sock yet; ask again in some seconds`,
      '  if it stays so, look at its log',
    ]
  return [
    `its control.sock is gone: process ${pid} began at ${showUtc(last.beganAt)}, and may trade all the same`,
    '  it is made anew within two seconds, unless its log has control.notListening; a reload takes it',
    '  away until it goes on: ask again in some seconds',
  ]
}

/** An account that is off holds no state; its daemon says why. */
async function readBroken<View>(
  config: DaemonConfig,
  path: string,
): Promise<Found<View> | undefined> {
  const file = findNewestJournal(config.state.directory)
  if (file === undefined) return undefined
  const socket = join(dirname(file), CONTROL_SOCKET)
  const reply = await withClient(socket, (client) => client.read(path))
  if (reply.kind !== 'answered' || reply.status !== 200) return undefined
  return toFound(path, reply.body, socket)
}

export async function findOff(config: DaemonConfig): Promise<AccountOff | undefined> {
  const mainFile = readMainFile(config)
  if (mainFile === undefined) return undefined
  for (const other of listAccounts(mainFile)) {
    const socket = findSocket(other)
    if (socket === undefined) continue
    const reply = await withClient(socket, (client) => client.read('/v1/status'))
    if (reply.kind !== 'answered' || reply.status !== 200) continue
    return (reply.body as StatusView).off.find(({ file }) => file === resolve(config.file))
  }
  return undefined
}

function listAccounts(mainFile: string): readonly DaemonConfig[] {
  try {
    const { main, others } = loadAccounts({ file: mainFile, cwd: process.cwd() })
    return [main, ...others].map(({ config }) => config)
  } catch {
    return []
  }
}

async function readStored<View>(
  config: DaemonConfig,
  stored: (account: ShownAccount, off: AccountOff | undefined) => View | Promise<View>,
  { off, secrets }: { readonly off: AccountOff | undefined; readonly secrets: SecretsRequest },
): Promise<Found<View>> {
  if (off !== undefined)
    print(`the daemon runs, and this account trades nothing: ${describeOff(off.reason)}`)
  if (off !== undefined && findNewestJournal(config.state.directory) === undefined) {
    print('it has not run yet: there is no journal of it')
    return { kind: 'nothing', exitCode: EXIT_SILENT }
  }
  const file = newestJournal(config.state.directory)
  const move = describeMove(config, dirname(file)) ?? (await askForMove(config, secrets))
  if (move !== undefined) {
    printOnce(`! ${move}`)
    return { kind: 'nothing', exitCode: EXIT_SILENT }
  }
  // Loading this takes most of the time of a command.
  const { readStoredAccount } = await import('../../views/stored-account.ts')
  const account = readStoredAccount(config, file, systemClock)
  const whose = off === undefined ? 'no daemon runs: this' : 'this'
  printOnce(`${whose} is what the journal of the last run says (${dirname(file)})`)
  const view = await stored(account, off)
  return { kind: 'found', view, answer: view, isLive: false }
}

export function describeMove(
  { journal }: Pick<DaemonConfig, 'journal'>,
  directory: string,
): string | undefined {
  if (journal === undefined) return undefined
  const { kind } = readMark(markFileOf(join(directory, JOURNAL_FILE)))
  if (kind === 'read')
    return 'the journal was moved from the server to the file here: take journal.url out of the configuration'
  if (kind !== 'copying') return undefined
  return 'the journal is on its way to the file here: give `intentd journal copy --to file` again'
}

export async function askForMove(
  config: DaemonConfig,
  secrets: SecretsRequest,
): Promise<string | undefined> {
  if (config.journal === undefined) return undefined
  const { Handover } = await import('../../journal/postgres/handover.ts')
  let server: InstanceType<typeof Handover> | undefined
  try {
    server = new Handover(serverPlaceOf(config, loadJournalPassword(config, secrets)), ASKED_MS_MAX)
    const { movedTo } = await server.look()
    return movedTo === undefined ? undefined : `the journal was moved from the server to ${movedTo}`
  } catch {
    return undefined
  } finally {
    await server?.close()
  }
}
