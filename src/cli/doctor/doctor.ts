import { listMissingAlertSecrets } from '../process/full-check.ts'
import type { Command } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'
import { listKeys, readAccounts } from '../../config/load-accounts.ts'
import { findUndecidedLosses, listMissingProtection } from '../../config/live-checks.ts'
import {
  type ConfigOptions,
  type DaemonConfig,
  type LoadedConfig,
  toConfigRequest,
} from '../../config/load-config.ts'
import {
  type ApiCredentials,
  loadCredentials,
  needsCredentials,
  type SecretsRequest,
} from '../../config/secrets.ts'
import { listUnlistedStrategies } from '../../config/unlisted-strategies.ts'
import { warnOfClearText } from '../../config/clear-text.ts'
import { listHeldDirectories, listHolders } from '../../assembly/state/state-directory.ts'
import { objectToPath } from '../../lib/net/socket-path.ts'
import { findSocket, withClient } from '../operator/find-daemon.ts'
import { ConfigError, formatProblem, type Problem } from '../../config/yaml/problem.ts'
import { accessTo } from '../../assembly/account/account-keys.ts'
import { ownWriter } from '../../assembly/account/own-writer.ts'
import { stopTimeoutOf } from '../../assembly/settings/engine-settings.ts'
import { isEmbedded } from '../../assembly/state/state-place.ts'
import { systemClock } from '../../lib/clock.ts'
import { addConfigOptions, repeatOptions } from '../process/options.ts'
import { withContracts } from '../../assembly/instruments/fetch-contracts.ts'
import type { ContractsAnswer } from '../../config/known-contracts.ts'
import { systemTimers } from '../../lib/timers.ts'
import { examineExchange } from './examine-exchange.ts'
import {
  examineBinary,
  examineDisk,
  examineFiles,
  examineLocks,
  examineOwner,
  examineRuntime,
  examinePort,
  examineSocket,
} from './examine-machine.ts'
import { examineServers } from './examine-servers.ts'
import { examineSignals } from './examine-signals.ts'
import { examineSupervisors } from './examine-supervisor.ts'
import { type CheckFinding, finding, formatFindings, ok } from '../process/finding.ts'
import { findCapitalRefusal } from '../process/stored-capital.ts'
import { findStoredGridFailure } from '../process/stored-grids.ts'
import { writeOut } from '../../lib/write-out.ts'

const EXIT_FAILED = 1

interface DoctorOptions extends ConfigOptions {
  readonly json?: boolean
  readonly listedNode?: boolean
}

export function addDoctorCommand(program: Command, { setExit }: VerbFrame): void {
  addConfigOptions(program.command('doctor'))
    .description('check everything that a run depends on, and say what to do; changes nothing')
    .option('--json', 'print the findings as JSON')
    .option(
      '--listed-node',
      'fail where Node is none of the binaries that deploy/node-checksums.txt lists',
    )
    .action(async (options: DoctorOptions) => setExit(await doctor(options)))
}

async function doctor(options: DoctorOptions): Promise<number> {
  const findings = await examine(options)
  const hasFailed = findings.some(({ state }) => state === 'fail')
  const text =
    options.json === true ? JSON.stringify({ hasFailed, findings }) : formatFindings(findings)
  writeOut(`${text}\n`)
  return hasFailed ? EXIT_FAILED : 0
}

async function examine(options: DoctorOptions): Promise<readonly CheckFinding[]> {
  const request = await withContracts(toConfigRequest(options), {
    clock: systemClock,
    timers: systemTimers,
  })
  const runtime = [
    ...examineRuntime(process.version, process.platform),
    await examineBinary(options.listedNode === true),
  ]
  const { main, others, problems } = readAccounts(request)
  if (main === undefined || problems.length > 0) {
    const found = `${problems.length} ${problems.length === 1 ? 'problem' : 'problems'} in ${request.file}; the rest cannot be looked at`
    return [
      ...runtime,
      finding('fail', 'configuration', found, 'intentd check names each with its line'),
    ]
  }
  const loaded = [main, ...others]
  const configs = loaded.map(({ config }) => config)
  const keysOfAll = listKeys([main, ...others])
  const accounts: CheckFinding[] = []
  for (const account of loaded) {
    const { config } = account
    const of = configs.length > 1 ? `${config.name}: ` : ''
    const own = config === main.config ? options : { config: config.file, set: [] }
    const found = await examineAccount(account, {
      request: { cwd: request.cwd, keysOfAll },
      configOption: repeatOptions(own),
      contracts: request.contracts?.get(config.file),
    })
    accounts.push(...found.map((one) => ({ ...one, what: `${of}${one.what}` })))
  }
  return [
    ...runtime,
    ok('configuration', `${request.file} can be read; intentd check also loads the strategies`),
    ...listUnlistedStrategies(configs, request.cwd).map((file) =>
      finding(
        'warn',
        'strategies',
        `${file} is a strategy that no configuration lists, so it does not run`,
        `list it under strategies in ${request.file}, or move it elsewhere`,
      ),
    ),
    ...examineProtection(loaded),
    ...listMissingAlertSecrets(main.config, { cwd: request.cwd, keysOfAll }).map((problem) =>
      finding(
        'fail',
        'alerts',
        formatProblem(problem),
        'a start refuses it; docs/alerts.md names the variables',
      ),
    ),
    ...loaded
      .flatMap(warnOfClearText)
      .map((problem) => finding('warn', 'servers', formatProblem(problem), SEE_TLS)),
    ...accounts,
    ...examineSupervisors({ cwd: request.cwd, stopMs: Math.max(...configs.map(stopTimeoutOf)) }),
  ]
}

function examineProtection(accounts: readonly LoadedConfig[]): readonly CheckFinding[] {
  if (accounts.every(({ config }) => config.environment !== 'live')) return []
  const undecided = accounts.flatMap(findUndecidedLosses)
  const missing = listMissingProtection(accounts)
  if (undecided.length + missing.length === 0)
    return [
      ok('protection', 'losses, leverage and positions are limited, and alerts have a target'),
    ]
  const show = (state: 'fail' | 'warn', problems: readonly Problem[]): readonly CheckFinding[] =>
    problems.map((problem) => finding(state, 'protection', formatProblem(problem), SEE_LIMITS))
  return [...show('fail', undecided), ...show('warn', missing)]
}

const SEE_TLS = 'give the server a certificate: docs/servers.md says how'

const SEE_LIMITS = 'config/live.example.yaml has all of them; docs/risk.md explains each'

interface AccountFrame {
  readonly request: SecretsRequest
  readonly configOption: string
  readonly contracts: ContractsAnswer | undefined
}

async function examineAccount(
  account: LoadedConfig,
  { request, configOption, contracts }: AccountFrame,
): Promise<readonly CheckFinding[]> {
  const { config } = account
  const keys = examineKeys(config, request)
  const access = isEmbedded(config) ? undefined : accessTo(config, keys.credentials)
  const own = ownWriter(config, {
    directory: config.state.directory,
    access,
    now: systemClock.now(),
  })
  return [
    ...keys.findings,
    ...examineOwner(config, own),
    ...examineFiles(config, request),
    examineDisk(config),
    ...examineGrids(account),
    ...examineCapital(config),
    examineSocket(config),
    ...(await examinePort(config)),
    ...(await examineSignals(config, request)),
    ...(await examineDaemon(config)),
    ...examineLocks(config, accessTo(config, keys.credentials)),
    ...(await examineServers(config, request, { configOption, own })),
    ...(await examineExchange(account, keys.credentials, contracts)),
  ]
}

function examineGrids(account: LoadedConfig): readonly CheckFinding[] {
  const failure = findStoredGridFailure(account)
  if (failure === undefined) return []
  const { instrument = '', journal = '', configuration = '' } = failure.facts
  const found = `a start refuses ${instrument}: the journal counts it in ${journal}, the configuration says ${configuration}, and what is held or open there does not convert (${failure.code})`
  return [finding('fail', 'instruments', found, failure.hint ?? '')]
}

function examineCapital(config: DaemonConfig): readonly CheckFinding[] {
  const refusal = findCapitalRefusal(config)
  if (refusal === undefined) return []
  const found = `a start refuses account.capital: ${refusal}`
  return [finding('fail', 'capital', found, 'docs/risk.md#another-capital explains it')]
}

async function examineDaemon(config: DaemonConfig): Promise<readonly CheckFinding[]> {
  const socket = findSocket(config)
  if (socket === undefined || objectToPath(socket) !== undefined) return []
  const pids = listHeldDirectories(config.state.directory)
    .flatMap(listHolders)
    .map(({ pid }) => pid)
  const reply = await withClient(socket, (client) => client.read('/v1/status'))
  if (reply.kind === 'answered') return [ok('daemon', `pid ${pids.join(', ')} answers`)]
  const named = pids.join(' ')
  const hint = `look whether it was stopped (kill -CONT ${named}) or hangs (kill -KILL ${named}, and start it again); intentd kill works without it`
  return [
    finding(
      'fail',
      'daemon',
      `pid ${pids.join(', ')} holds the state and does not answer: ${reply.reason}`,
      hint,
    ),
  ]
}

interface Keys {
  readonly findings: readonly CheckFinding[]
  readonly credentials: ApiCredentials | undefined
}

function examineKeys(config: DaemonConfig, request: SecretsRequest): Keys {
  if (!needsCredentials(config)) {
    return {
      findings: [ok('keys', 'the simulator inside the daemon needs none')],
      credentials: undefined,
    }
  }
  try {
    const credentials = loadCredentials(config, request)
    return { findings: [ok('keys', 'key, secret and passphrase are there')], credentials }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const findings = error.problems.map(({ source, message }) =>
      finding('fail', 'keys', `${source}: ${message}`, 'see .env.example'),
    )
    return { findings, credentials: undefined }
  }
}
