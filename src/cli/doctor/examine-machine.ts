import {
  accessSync,
  constants,
  existsSync,
  statfsSync,
  statSync,
  createReadStream,
  readFileSync,
  realpathSync,
} from 'node:fs'
import { join } from 'node:path'
import type { DaemonConfig } from '../../config/load-config.ts'
import type { SecretsRequest } from '../../config/secrets.ts'
import type { ExchangeAccess } from '../../exchange/client/request-writer.ts'
import { accountLocks, readAccountHolder } from '../../assembly/account/account-lock.ts'
import { killFileOf } from '../../assembly/state/kill-switch.ts'
import { readFingerprint } from '../../assembly/account/account-keys.ts'
import { whyTaken } from '../../assembly/state/taken-port.ts'
import { findPortHolder } from '../../lib/net/port-holder.ts'
import { CONTROL_SOCKET, JOURNAL_FILE, stateDirectoryOf } from '../../assembly/state/state-place.ts'
import { hasNoTables, openReading } from '../../journal/journal-layout.ts'
import { assertKeys, readWriter, type JournalWriter } from '../../journal/journal-writer.ts'
import { isJournalFile } from '../../journal/verify-journal.ts'
import { objectToPath, SOCKET_PATH_MAX } from '../../lib/net/socket-path.ts'
import { listHolders } from '../../assembly/state/state-directory.ts'
import type { LockHolder } from '../../lib/process-lock.ts'
import { trustIn, type FileTrust } from '../../lib/file-trust.ts'
import { Failure, messageOf } from '../../lib/failure.ts'
import {
  findFaults,
  listFilesRead,
  nearestFolder,
  ownerOf,
  type FilesRead,
} from '../process/trusted-files.ts'
import { finding, ok, type CheckFinding } from '../process/finding.ts'
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'

const MODE_OTHERS = 0o077

const ROOM_FACTOR = 10

const NODE_MAJOR = 24

export function examineRuntime(
  version: string,
  platform: NodeJS.Platform,
): readonly CheckFinding[] {
  const node =
    Number(version.slice(1).split('.')[0]) === NODE_MAJOR
      ? ok('node', version)
      : finding(
          'warn',
          'node',
          version,
          `tested is Node ${NODE_MAJOR}, which comes with the package: start intentd with an older one of yours, or with that`,
        )
  return [node, examineSystem(platform)]
}

export async function examineBinary(isListRequired: boolean): Promise<CheckFinding> {
  const what = 'node, binary'
  try {
    const { kind, path, sha256, from } = await examineNodeBinary()
    if (kind === 'listed') return ok(what, `as in ${from}: sha256 ${sha256}`)
    if (kind === 'changed') {
      const found = `${path} is not what its package holds: sha256 ${sha256}`
      return finding(
        'fail',
        what,
        found,
        'install the package again, and find out who has changed it',
      )
    }
    return finding(
      isListRequired ? 'fail' : 'notChecked',
      what,
      `${path} is none that comes with intentd: sha256 ${sha256}`,
      'compare it with what your distribution or nodejs.org says of it',
    )
  } catch (error) {
    return finding('notChecked', what, messageOf(error), 'run doctor as a user that may read it')
  }
}

function examineSystem(platform: NodeJS.Platform): CheckFinding {
  if (platform === 'linux') return ok('system', platform)
  if (platform === 'darwin')
    return finding(
      'warn',
      'system',
      platform,
      'for development: nothing here supervises it, and it is not tested there',
    )
  return finding(
    'warn',
    'system',
    platform,
    'not supported for trading: file modes and signals are not what the documents say',
  )
}

export function examineOwner(config: DaemonConfig, own: JournalWriter): readonly CheckFinding[] {
  const what = 'journal, keys'
  const { directory } = config.state
  try {
    const noted =
      config.journal === undefined ? readNoted(join(directory, JOURNAL_FILE)) : undefined
    const keys = noted?.keys ?? readFingerprint(directory)
    if (keys === undefined || own.keys === undefined) return []
    assertKeys(directory, { keys, by: noted?.by ?? 'an earlier version' }, own)
    return [ok(what, 'the journal was written with these keys')]
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'STATE_OF_OTHER_KEYS')
      return [finding('notChecked', what, messageOf(error), 'a start says what is wrong with it')]
    const { journal, configuration } = error.facts
    return [
      finding(
        'fail',
        what,
        `written with ${journal}, and here are ${configuration}`,
        error.hint ?? '',
      ),
    ]
  }
}

function readNoted(file: string): JournalWriter | undefined {
  if (!isJournalFile(file)) return undefined
  const database = openReading(file)
  try {
    return hasNoTables(database) ? undefined : readWriter(database)
  } finally {
    database.close()
  }
}

export function examineFiles(
  config: DaemonConfig,
  request: SecretsRequest,
): readonly CheckFinding[] {
  if (process.geteuid === undefined) {
    return [
      finding(
        'notChecked',
        'files',
        'this system has no file modes',
        'let nobody else read .env and the state directory',
      ),
    ]
  }
  const user = ownerOf(config)
  const trust = trustIn(user)
  return [
    ...listFilesRead(config, request).map(
      (read) => objectToReaders(read) ?? judgeTrust(read, trust),
    ),
    ...(user === process.geteuid() ? [] : [ofOtherUser(user)]),
  ]
}

function judgeTrust(read: FilesRead, trust: FileTrust): CheckFinding {
  const faults = findFaults([read], trust)
  const { what, files } = read
  if (faults.length === 0)
    return ok(
      what,
      `${files.length} ${files.length === 1 ? 'path' : 'paths'} that only their owner may change`,
    )
  return finding(
    'fail',
    what,
    faults.map(({ place, fault }) => `${place} ${fault}`).join('; '),
    `${faults.map(({ remedy }) => remedy).join(' && ')}: whoever changes it decides what this daemon does`,
  )
}

function ofOtherUser(user: number): CheckFinding {
  return finding(
    'warn',
    'user',
    `the state is that of user ${user}, for whom all this was looked at`,
    'start the daemon as that user: as root it refuses files of others',
  )
}

const PRIVATE: Readonly<Record<string, string>> = {
  '.env': 'chmod 600',
  'state directory': 'chmod 700',
}

function objectToReaders({ what, files: [path = ''] }: FilesRead): CheckFinding | undefined {
  const command = PRIVATE[what]
  const mode = modeOf(path)
  if (command === undefined || mode === undefined || (mode & MODE_OTHERS) === 0) return undefined
  return finding(
    'fail',
    what,
    `others may read ${path} (mode ${(mode & 0o777).toString(8)})`,
    `${command} ${path}`,
  )
}

function modeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mode
}

export function examineDisk({ state: { directory, freeBytesMin } }: DaemonConfig): CheckFinding {
  const place = nearestFolder(directory)
  try {
    accessSync(place, constants.W_OK)
    const { bavail, bsize } = statfsSync(place)
    const free = bavail * bsize
    const found = `${Math.floor(free / 1_048_576)} MiB free for ${directory}`
    if (free < freeBytesMin)
      return finding('fail', 'disk', found, 'make room: nothing that adds risk is opened')
    if (free < freeBytesMin * ROOM_FACTOR)
      return finding('warn', 'disk', found, 'make room before it is full')
    return ok('disk', found)
  } catch (error) {
    return finding(
      'fail',
      'disk',
      `${place}: ${messageOf(error)}`,
      'let the user of the daemon write there',
    )
  }
}

export function examineSocket(config: DaemonConfig): CheckFinding {
  const socket = join(stateDirectoryOf(config, { files: [], speed: undefined }), CONTROL_SOCKET)
  const found = `${socket}: ${Buffer.byteLength(socket)} bytes, ${SOCKET_PATH_MAX} at most`
  return objectToPath(socket) === undefined
    ? ok('control socket', found)
    : finding('fail', 'control socket', found, 'choose a shorter state.directory')
}

export async function examinePort({
  control: { host, port },
  state,
}: Pick<DaemonConfig, 'control' | 'state'>): Promise<readonly CheckFinding[]> {
  return examineListening('control', { host, port }, state)
}

/** @param section of the configuration, which names the port */
export async function examineListening(
  section: string,
  { host, port }: { readonly host: string; readonly port: number | undefined },
  { directory }: Pick<DaemonConfig['state'], 'directory'>,
): Promise<readonly CheckFinding[]> {
  if (port === undefined || port === 0) return []
  const what = `${section} port`
  const reason = await whyTaken(host, port)
  const address = `${host}:${port}`
  if (reason === undefined) return [ok(what, `${address} is free`)]
  const own = listHolders(directory).some(({ pid }) => findPortHolder(port)?.pid === pid)
  if (own) return [ok(what, `${address}: the daemon of this state listens there`)]
  const hint = `end what has it, or set another ${section}.port (0 takes any free one)`
  return [finding('warn', what, `${address}: ${reason}`, hint)]
}

/** @param access absent without an exchange outside, or without a key */
export function examineLocks(
  { state: { directory } }: DaemonConfig,
  access: ExchangeAccess | undefined,
): readonly CheckFinding[] {
  const holders = listHolders(directory)
  const held = holders.map(nameHolder).join('; ')
  const trader = access && readAccountHolder(access)
  const isOther = trader !== undefined && holders.every(({ pid }) => pid !== trader.pid)
  return [
    ok('state lock', held === '' ? 'no daemon holds the state' : `held by ${held}`),
    isOther ? otherTrader(trader) : examineAccountLocks(),
    ...(existsSync(killFileOf(directory))
      ? [
          finding(
            'warn',
            'kill switch',
            'a kill stands: nothing is traded',
            'intentd release --reason TEXT ends it',
          ),
        ]
      : []),
  ]
}

function otherTrader(trader: LockHolder): CheckFinding {
  const advice =
    'stop it, or give this configuration an account of its own: `run` refuses while it trades'
  return finding(
    'warn',
    'account lock',
    `another state's daemon trades the account: ${nameHolder(trader)}`,
    advice,
  )
}

function examineAccountLocks(): CheckFinding {
  const places = accountLocks()
  const writable = places.filter((place) => isWritable(nearestFolder(place)))
  if (writable.length > 0) return ok('account lock', `can be made in ${writable.join(' and ')}`)
  const advice =
    'let the user write one of them, or set XDG_STATE_HOME to a folder of that user: two daemons could trade one account'
  return finding('warn', 'account lock', `cannot be made in ${places.join(', ')}`, advice)
}

const nameHolder = ({ pid, host, name }: LockHolder): string => `${name}, pid ${pid} on ${host}`

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

const LIST = new URL('../../../deploy/node-checksums.txt', import.meta.url)

const BROUGHT = /[/\\]node_modules[/\\]node-(?:bin-)?(?:linux|darwin|win)-\w+[/\\]/

/**
 * `listed` equals the package of that name and version, `changed` lies in one and differs, `other`
 * is any other, such as the Node of the system.
 */
interface NodeBinary {
  readonly kind: 'listed' | 'changed' | 'other'
  readonly path: string
  readonly sha256: string
  readonly from: string | undefined
}

export async function examineNodeBinary(
  binary = process.execPath,
  list = readList(),
): Promise<NodeBinary> {
  const path = realpathSync(binary)
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  const sha256 = hash.digest('hex')
  const from = list.get(sha256)
  const kind = from !== undefined ? 'listed' : BROUGHT.test(path) ? 'changed' : 'other'
  return { kind, path, sha256, from }
}

function readList(): ReadonlyMap<string, string> {
  const lines = readFileSync(fileURLToPath(LIST), 'utf8').split('\n')
  return new Map(
    lines.flatMap((line): [string, string][] => {
      const [, sha256 = '', from = ''] = /^([0-9a-f]{64}) {2}(\S+)$/.exec(line) ?? []
      return from === '' ? [] : [[sha256, from]]
    }),
  )
}
