import { isDeepStrictEqual } from 'node:util'
import { compareConfigs, type ConfigChanges } from '../../config/config-changes.ts'
import { listKeys } from '../../config/load-accounts.ts'
import type { ConfigRequest, DaemonConfig, LoadedConfig } from '../../config/load-config.ts'
import { credentialVariables } from '../../config/secrets.ts'
import { listChangedSecrets, loadSignalSecrets } from '../../config/signal-secrets.ts'
import { formatProblem, type Problem } from '../../config/yaml/problem.ts'
import type { ReloadRequest } from '../../control/controlled.ts'
import type { ReloadView } from '../../control/detail-views.ts'
import { assertTokens } from '../../control/access/token-file.ts'
import { tokenFilesOf } from '../../daemon/control/open-control.ts'
import { describeReloaded } from '../../views/worst-loss-text.ts'
import { toSurvivalSettings } from '../../assembly/settings/engine-settings.ts'
import type { Daemon } from '../../daemon/daemon.ts'
import type { AccountSetup } from '../../assembly/account/account-setup.ts'
import { accountLogger, type DaemonLogger } from '../../logging/logger.ts'
import {
  readRunningConfig,
  type RunningConfig,
  withCode,
} from '../../assembly/state/running-config.ts'
import { listGridProblems } from '../../assembly/settings/assert-grids.ts'
import type { StrategyId } from '../../domain/ids.ts'
import { type Book, splitPair } from '../../engine/book/book.ts'
import { whyTaken } from '../../assembly/state/taken-port.ts'
import { sha256Hex } from '../../lib/digest.ts'
import { messageOf } from '../../lib/failure.ts'
import { listChanges } from '../process/change-lines.ts'
import { checkFully } from '../process/full-check.ts'
import { readKeys } from '../process/give-keys.ts'
import { findUntrusted } from '../process/trusted-files.ts'

export interface ConfiguredAccounts extends AccountSetup {
  readonly others: readonly AccountSetup[]
  readonly contracts: ConfigRequest['contracts']
}

interface ReloadFrame extends ConfiguredAccounts {
  readonly daemon: Daemon
  readonly trustFiles: boolean
  readonly logger: DaemonLogger
}

const DIGEST_CHARS = 16
const NOTED_LINES_MAX = 100
const NOTED_CHARS_MAX = 300

interface ReloadCheck {
  readonly loaded: LoadedConfig | undefined
  readonly next: readonly LoadedConfig[]
  readonly contracts: ConfigRequest['contracts']
  readonly changes: readonly (ConfigChanges & {
    readonly name: string
    readonly secrets: readonly string[]
  })[]
  readonly problems: readonly string[]
  readonly worst: readonly string[]
}

/** Writes nothing, not even a token. */
export async function examineReload(
  request: ConfigRequest,
  { daemon, trustFiles, ...configured }: Omit<ReloadFrame, 'logger'>,
): Promise<ReloadCheck> {
  const before = [configured, ...configured.others]
  const running = before.map(({ loaded }) => loaded.config)
  const books = running.map(
    ({ file }) => daemon.accounts.find(({ shown }) => shown.config.file === file)?.shown.book,
  )
  const states = books.map((book) => book?.strategyStates ?? new Map<StrategyId, string>())
  const checked = await checkFully(request, states)
  const { problems, missingSecrets, loaded, others: next, contracts } = checked
  const changes = loaded
    ? [loaded, ...next].flatMap(({ config }) => {
        const index = running.findIndex(({ file }) => file === config.file)
        const was = running[index]
        if (!was) return []
        return [
          {
            name: config.name,
            book: books[index],
            config,
            secrets: listChangedSecrets(before[index]?.signalSecrets, config, request).map(
              (signal) => `~ signals.accept.${signal}: its secret is another one`,
            ),
            ...compareConfigs(...withCodes(was, config)),
          },
        ]
      })
    : []
  const read =
    loaded === undefined || trustFiles ? [] : [loaded, ...next].map(({ config }) => config)
  const found = [
    ...[
      ...problems,
      ...dropOff(missingSecrets, running, daemon),
      ...findUntrusted(read, request),
    ].map(formatProblem),
    ...changes
      .flatMap(({ refused }) => refused)
      .map(({ path }) => `${path}: only a new process takes it`),
    ...changes.flatMap(({ book, stopped }) => (book ? listHalfFlattened(book, stopped) : [])),
    ...changes.flatMap(({ book, config }) => (book ? listGridProblems(book, config) : [])),
  ]
  if (loaded && found.length === 0)
    found.push(...(await listPortProblems([loaded, ...next], running)))
  const worst = [...(loaded ? [loaded] : []), ...next].flatMap(({ config }) => {
    const account = daemon.accounts.find(({ shown }) => shown.config.file === config.file)
    if (account === undefined) return []
    const lines = describeReloaded(account.shown, toSurvivalSettings(config))
    return next.length > 0 ? lines.map((line) => `${config.name}: ${line}`) : lines
  })
  return { loaded, next, contracts, changes, problems: found, worst }
}

/** The digest also covers what no line shows, such as code. */
export function viewReload({ loaded, next, changes, problems, worst }: ReloadCheck): ReloadView {
  const configs = loaded ? [loaded, ...next].map(({ config }) => withCode(config)) : []
  const digest = sha256Hex([JSON.stringify(configs)]).slice(0, DIGEST_CHARS)
  const lines = changes.flatMap((own) => {
    const whose = next.length > 0 ? `${own.name}: ` : ''
    return [...listChanges(own), ...own.secrets].map((line) => `${whose}${line}`)
  })
  return {
    problems: [...problems],
    changes: [...lines, `the files as read, by digest: ${digest}`],
    secrets: changes.flatMap(({ secrets }) => secrets),
    worst: [...worst],
  }
}

/** Writes the reload into the journals once nothing can refuse it any more. */
export async function acceptReload(
  request: ConfigRequest,
  { logger, ...frame }: ReloadFrame,
  { approved, reason, by }: ReloadRequest,
): Promise<ConfiguredAccounts | undefined> {
  const { daemon } = frame
  const before = [frame, ...frame.others]
  const check = await examineReload(request, frame)
  const { loaded, next, contracts, changes, problems } = check
  const found = [...problems]
  const { changes: lines } = viewReload(check)
  if (approved && !isDeepStrictEqual(lines, [...approved]))
    found.push('the files have changed since this reload was confirmed: propose it again')
  if (loaded && found.length === 0)
    found.push(...[loaded, ...next].flatMap(({ config }) => listTokenProblems(config)))
  if (!loaded || found.length > 0) {
    logger.log('error', 'reload.refused', { problems: found })
    return undefined
  }
  for (const { name, started, stopped, settings, secrets } of changes) {
    const log = next.length > 0 ? accountLogger(logger, name) : logger
    log.log('info', 'reload.begun', {
      started,
      stopped,
      settings: [
        ...settings
          .filter(({ path, was, is }) => !path.startsWith('code.') || (was && is))
          .map(({ path, was, is }) => `${path}: ${was} -> ${is}`),
        ...secrets.map((line) => line.slice(2)),
      ],
    })
  }
  const give = (one: LoadedConfig, index: number): AccountSetup =>
    isOff(one.config, daemon)
      ? readKeys(one, { ...request, keysOfAll: listKeys([loaded, ...next]) })
      : {
          ...before[index],
          loaded: one,
          credentials: before[index]?.credentials,
          signalSecrets: loadSignalSecrets(one.config, request),
          keysMissing: undefined,
        }
  const others = next.map((one, index) => give(one, index + 1))
  const given = { ...give(loaded, 0), others, contracts }
  daemon.noteReload({ changes: boundLines(lines), reason, by })
  return given
}

/** A configuration may change in hundreds of lines; the digest covers all. */
function boundLines(lines: readonly string[]): readonly string[] {
  const [first, digest] = [lines.slice(0, -1), lines.slice(-1)]
  const kept = first.slice(0, NOTED_LINES_MAX).map((line) => line.slice(0, NOTED_CHARS_MAX))
  const left = first.length - kept.length
  return [...kept, ...(left > 0 ? [`and ${left} more lines`] : []), ...digest]
}

/** Code is compared only if the running digests are known. */
function withCodes(was: DaemonConfig, is: DaemonConfig): readonly [DaemonConfig, DaemonConfig] {
  const code = readRunningConfig(was)?.code
  if (code === undefined) return [was, is]
  const running: RunningConfig = { ...was, code }
  return [running, withCode(is)]
}

function isOff({ file }: DaemonConfig, { accounts }: Daemon): boolean {
  return !accounts.some(
    ({ shown: { config, fatal } }) => config.file === file && fatal === undefined,
  )
}

/** An account that is off may lack keys. */
function dropOff(
  missing: readonly Problem[],
  configs: readonly DaemonConfig[],
  daemon: Daemon,
): readonly Problem[] {
  const names = configs
    .filter((config) => isOff(config, daemon))
    .flatMap(({ account }) => Object.values(credentialVariables(account.keys)))
  return missing.filter(({ source }) => !names.includes(source.replace(/_FILE$/, '')))
}

function listTokenProblems(config: DaemonConfig): readonly string[] {
  try {
    if (config.control.port !== undefined) assertTokens(tokenFilesOf(config))
    return []
  } catch (error) {
    return [messageOf(error)]
  }
}

export async function listPortProblems(
  next: readonly { readonly config: Pick<DaemonConfig, 'control'> }[],
  running: readonly Pick<DaemonConfig, 'control'>[],
): Promise<readonly string[]> {
  const own = new Set(running.map(({ control }) => addressOf(control)))
  const wanted = next
    .map(({ config }) => config.control)
    .filter(
      (control) => control.port !== undefined && control.port !== 0 && !own.has(addressOf(control)),
    )
  const reasons = await Promise.all(wanted.map(({ host, port }) => whyTaken(host, port)))
  return reasons.flatMap((reason, index) =>
    reason === undefined
      ? []
      : [`control.port: nothing can listen at ${addressOf(wanted[index])}: ${reason}`],
  )
}

function addressOf(control: DaemonConfig['control'] | undefined): string {
  return `${control?.host}:${control?.port}`
}

/** Without its strategy a flatten would stay unfinished. */
function listHalfFlattened(
  { restrictions, holdings }: Book,
  stopped: readonly string[],
): readonly string[] {
  if (![...restrictions.values()].some(({ code }) => code === 'flatten')) return []
  return [...holdings].flatMap(([pair, { longLots, shortLots }]) => {
    const [id, symbol] = splitPair(pair)
    const isHeld = stopped.includes(id) && (longLots !== 0 || shortLots !== 0)
    return isHeld
      ? [`${id} is to stop while what it holds of ${symbol} is being closed: wait for flatten.done`]
      : []
  })
}
