import { type Command, Option } from 'commander'
import { processVariables } from '../../config/secrets.ts'
import { isEmbedded } from '../../assembly/state/state-place.ts'
import { Failure, messageOf } from '../../lib/failure.ts'
import { systemTimers } from '../../lib/timers.ts'
import { addMarketOptions, toAbsolute } from '../process/market-options.ts'
import {
  addConfigOptions,
  addParamOption,
  parseDuration,
  repeatOptions,
} from '../process/options.ts'
import { createSupervisor } from '../process/supervisor.ts'
import type { VerbFrame } from '../process/verb-frame.ts'
import type { Alerts } from '../../alerts/alerts.ts'
import { keepListed, withContracts } from '../../assembly/instruments/fetch-contracts.ts'
import { type MarketOptions, withPlayed } from '../../assembly/instruments/played-request.ts'
import { noteRun, readLastRun } from '../../assembly/state/last-run.ts'
import { keepRunningConfig } from '../../assembly/state/running-config.ts'
import { noteRunning } from '../../assembly/state/running-files.ts'
import { listHolders } from '../../assembly/state/state-directory.ts'
import {
  type ConfigOptions,
  type ConfigRequest,
  type LoadedConfig,
  toConfigRequest,
} from '../../config/load-config.ts'
import { listContractRemarks } from '../../config/contract-remarks.ts'
import type { ContractAnswers } from '../../config/known-contracts.ts'
import { assertLossesDecided } from '../../config/live-checks.ts'
import { loadAccounts } from '../../config/load-accounts.ts'
import type { ReloadRequest } from '../../control/controlled.ts'
import type { ReloadView } from '../../control/detail-views.ts'
import type { Daemon, DaemonEnd } from '../../daemon/daemon.ts'
import { openDaemon, type OpenDaemonOptions, type OpenedDaemon } from '../../daemon/open-daemon.ts'
import { alertedLogger } from '../../daemon/reporting/alerted-logger.ts'
import type { StandbyFrame } from '../../daemon/standby.ts'
import type { StopPolicy } from '../../engine/event.ts'
import { atInstant } from '../../lib/alarm.ts'
import { systemClock } from '../../lib/clock.ts'
import { onStopSignals } from '../../lib/stop-signals.ts'
import { writeOut } from '../../lib/write-out.ts'
import { accountLogger, type DaemonLogger } from '../../logging/logger.ts'
import { endOutputs } from '../../logging/log-output.ts'
import { onBreakdown } from '../../strategy/strategy-failure.ts'
import { formatSummary } from '../../views/summary-text.ts'
import type { RunSummary } from '../../views/summary.ts'
import { exitOfAll } from '../process/exit-codes.ts'
import { giveKeys } from '../process/give-keys.ts'
import { openAlerts } from '../process/open-alerts.ts'
import { openLogger } from '../process/open-logger.ts'
import { assertSupported } from '../process/platform.ts'
import { RunStop } from '../process/run-stop.ts'
import { assertTrusted } from '../process/trusted-files.ts'
import {
  acceptReload,
  type ConfiguredAccounts,
  examineReload,
  viewReload,
} from './accept-reload.ts'

const READY_LOOKED_AT_MS = 100
/** Requests were in flight at the end; the next start resolves them. */
const EXIT_UNCLEAN = 75
const EXIT_HANDED_OVER = 75

export function addRunCommand(program: Command, { version, setExit }: VerbFrame): void {
  addRunOptions(program.command('run'))
    .description('trade; by default on paper, with the simulator inside the daemon')
    .action(async (options: RunOptions) => setExit(await run(options, version)))
}

export function addStandbyCommand(program: Command, { version, setExit }: VerbFrame): void {
  addRunOptions(program.command('standby'))
    .description('follow the journal of a daemon on another machine, and take over when it is gone')
    .action(async (options: RunOptions) => setExit(await standBy(options, version)))
}

function addRunOptions(command: Command): Command {
  return addMarketOptions(addParamOption(addConfigOptions(command)))
    .option(
      '--trust-files',
      'start although other users may replace files that are read (doctor names them)',
    )
    .option('--for <duration>', 'stop in good order after 30s, 5m, 2h …', parseDuration)
    .addOption(
      new Option(
        '--summary <form>',
        'print a summary at the end on standard output; logs go to standard error',
      ).choices(['json', 'text']),
    )
}

async function standBy(options: RunOptions, version: string): Promise<number> {
  try {
    return await run(options, version, 'standby')
  } catch (error) {
    if (error instanceof Failure && error.code === 'STANDBY_ENDED') return 0
    throw error
  }
}

function createStandby({ accounts, stops, logger }: StandbyStart): WaitingStandby {
  for (const { config } of accounts) {
    if (config.journal === undefined || isEmbedded(config)) throw impossible(config.file)
  }
  let looks = 0
  const supervisor = createSupervisor({
    variables: processVariables(),
    timers: systemTimers,
    heartbeat: () => looks,
    onTrouble: (reason) => logger.log('warn', 'supervisor.notNotified', { reason }),
  })
  return {
    isOver: () => stops.wasAsked(),
    onLooked() {
      looks += 1
      if (looks === 1) supervisor.ready('standing by')
    },
    close: () => supervisor.close(),
  }
}

function impossible(file: string): Failure {
  return new Failure({
    code: 'STANDBY_IMPOSSIBLE',
    sentence: 'there is no journal that a standby could follow',
    facts: { file },
    hint: 'a standby needs journal.url, and an exchange outside of the daemon',
  })
}

export interface RunOptions extends ConfigOptions, MarketOptions {
  readonly for?: number
  readonly summary?: 'json' | 'text'
  readonly trustFiles?: boolean
}

export async function run(
  options: RunOptions,
  version: string,
  as: 'daemon' | 'standby' = 'daemon',
): Promise<number> {
  // Files that change after they were read need the reload that is asked for.
  const reloads = listenForReloads()
  try {
    return await tradeAs(options, { version, as, reloads })
  } finally {
    reloads.forget()
  }
}

interface StartFrame {
  readonly version: string
  readonly as: 'daemon' | 'standby'
  readonly reloads: Reloads
}

async function tradeAs(options: RunOptions, { version, as, reloads }: StartFrame): Promise<number> {
  const processStartedAt = systemClock.now()
  const request = await withContracts(await withPlayed(toConfigRequest(options), options), {
    clock: systemClock,
    timers: systemTimers,
  })
  const accounts = loadAccounts(request)
  const { main: loaded } = accounts
  assertLossesDecided([loaded, ...accounts.others])
  assertSupported(loaded.config)
  if (options.trustFiles !== true)
    assertTrusted(
      [loaded, ...accounts.others].map(({ config }) => config),
      request,
    )
  const [main, ...others] = giveKeys([loaded, ...accounts.others], request)
  if (main === undefined) throw new Error('no account')
  const { level } = loaded.config.log
  const plain = openLogger({
    level,
    name: loaded.config.name,
    aside: options.summary !== undefined,
  })
  const alerts = openAlerts(
    loaded.config,
    { ...request, set: options.set, others: others.map((other) => other.loaded.config) },
    plain,
  )
  const logger = alerts ? alertedLogger(plain, alerts) : plain
  alerts?.start()
  logContracts([loaded, ...accounts.others], request.contracts, logger)
  const signals = {
    stops: listenForStops(),
    breakdowns: listenForBreakdowns(logger),
  }
  try {
    return await tradeOn(options, {
      version,
      processStartedAt,
      request,
      contracts: request.contracts,
      ...main,
      others,
      logger,
      alerts,
      reloads,
      ...signals,
      standby:
        as === 'standby'
          ? createStandby({
              accounts: [loaded, ...accounts.others],
              stops: signals.stops,
              logger,
            })
          : undefined,
    })
  } finally {
    for (const { forget } of Object.values(signals)) forget()
    await alerts?.stop()
    await endOutputs()
  }
}

async function tradeOn(options: RunOptions, first: TradeFrame): Promise<number> {
  let endAt: number | undefined
  let before: ConfiguredAccounts | undefined
  for (let configured: ConfiguredAccounts = first; ;) {
    const { loaded, credentials, keysMissing, signalSecrets, others, contracts } = configured
    const keys = { credentials, keysMissing, signalSecrets }
    const frame = { ...first, ...keys, loaded, others, contracts }
    if (configured !== first) {
      const accounts = [loaded, ...others.map((other) => other.loaded)]
      logContracts(accounts, contracts, frame.logger)
    }
    const opened = await open(options, frame).catch((error: unknown) => {
      if (before === undefined) throw error
      frame.logger.log('error', 'reload.failed', { reason: messageOf(error) })
      return undefined
    })
    if (opened === undefined) {
      configured = before ?? configured
      before = undefined
      continue
    }
    if (options.for !== undefined) endAt ??= systemClock.now() + options.for
    const { next, code } = await trade(opened, options, { ...frame, endAt })
    if (next === undefined) return code
    before = configured
    configured = next
  }
}

interface TradingEnd {
  readonly next?: ConfiguredAccounts
  readonly code: number
}

interface StandbyStart {
  readonly accounts: readonly LoadedConfig[]
  readonly stops: Pick<Stops, 'wasAsked'>
  readonly logger: DaemonLogger
}

interface WaitingStandby extends StandbyFrame {
  close(): void
}

interface TradeFrame
  extends ConfiguredAccounts, Pick<OpenDaemonOptions, 'version' | 'logger' | 'processStartedAt'> {
  readonly request: ConfigRequest
  readonly alerts: Alerts | undefined
  readonly stops: Stops
  readonly reloads: Reloads
  readonly breakdowns: Breakdowns
  readonly standby?: WaitingStandby | undefined
  readonly endAt?: number | undefined
}

function open(options: RunOptions, frame: TradeFrame): Promise<OpenedDaemon> {
  const opening = openDaemon({
    ...frame,
    market: { files: options.market, speed: options.speed },
    clock: systemClock,
    timers: systemTimers,
    configOptionOf: ({ file }) =>
      repeatOptions(file === frame.loaded.config.file ? options : { config: file, set: [] }),
    onReload: (order) => frame.reloads.ask(order),
    alertTargets: frame.alerts && (() => frame.alerts?.targets ?? new Map()),
    tryReload: () => frame.reloads.tryDry(),
  })
  return opening.finally(() => frame.standby?.close())
}

async function trade(
  opened: OpenedDaemon,
  options: RunOptions,
  frame: TradeFrame,
): Promise<TradingEnd> {
  const { loaded, others, logger, reloads, stops } = frame
  const { config } = loaded
  keepRunning(opened, frame)
  frame.alerts?.watch(opened.daemon)
  let next: ConfiguredAccounts | undefined
  const { trustFiles = false } = options
  const reloading = { ...frame, daemon: opened.daemon, trustFiles }
  const tryDry = async (): Promise<ReloadView> =>
    viewReload(await examineReload(frame.request, reloading))
  reloads.listen(async (order) => {
    next = await acceptReload(frame.request, reloading, order).catch((error: unknown) => {
      logger.log('error', 'reload.refused', { problems: [messageOf(error)] })
      return undefined
    })
    if (next === undefined) return
    // Another reload is for the next run, which keeps the leases of this one.
    reloads.listen(undefined)
    opened.keepLeases()
    opened.daemon.stop('leave')
  }, tryDry)
  const policies = [config, ...others.map((other) => other.loaded.config)].map(
    ({ onStop }) => onStop,
  )
  const end = await live(opened, { ...frame, policies })
  noteEnds(opened, end)
  reloads.listen(undefined)
  // The next run carries out what a stop requires beyond a reload.
  const isEnd = stops.wasAsked() && policies.every((policy) => policy === 'leave')
  if (next !== undefined && !end.isBroken && !isEnd) return { next, code: 0 }
  const isOne = others.length === 0
  for (const [index, summary] of end.summaries.entries()) {
    const name = opened.daemon.accounts[index]?.shown.config.name ?? ''
    if (isOne) report(summary, options.summary, logger)
    else report({ name, ...summary }, options.summary, accountLogger(logger, name))
  }
  if (end.fatals.length > 0) return { code: exitOfAll(end.fatals) }
  if (end.summaries.some(({ clean }) => !clean)) return { code: EXIT_UNCLEAN }
  const standsByAgain = frame.standby !== undefined && opened.isHandedOver() && !stops.wasAsked()
  return { code: standsByAgain ? EXIT_HANDED_OVER : 0 }
}

function keepRunning(
  { daemon }: OpenedDaemon,
  { loaded, others, contracts, request: { overrides = [], params = [], played } }: TradeFrame,
): void {
  const mainFile = loaded.config.file
  const { files: market = [], speed } = played ?? {}
  const start = { mainFile, set: overrides, params, market: market.map(toAbsolute), speed }
  for (const account of [loaded, ...others.map((other) => other.loaded)]) {
    const { config } = account
    const isOn = daemon.accounts.some(({ shown }) => shown.config.file === config.file)
    if (!isOn && listHolders(config.state.directory).length > 0) continue
    const set = config.file === mainFile ? overrides : []
    keepRunningConfig(config, start)
    keepListed(account, contracts)
    if (!isOn) continue
    noteRunning(config, set)
    noteRun(config.state.directory, { pid: process.pid, beganAt: systemClock.now() })
  }
}

function noteEnds({ daemon }: OpenedDaemon, { summaries }: DaemonEnd): void {
  for (const [index, { clean, fault }] of summaries.entries()) {
    const directory = daemon.accounts[index]?.shown.config.state.directory
    const began = directory === undefined ? undefined : readLastRun(directory)
    if (directory === undefined || began === undefined) continue
    noteRun(directory, {
      ...began,
      endedAt: systemClock.now(),
      clean,
      ...(fault !== undefined && { fault }),
    })
  }
}

/** A signal while the daemon opens stops it right after. */
interface Stops {
  wasAsked(): boolean
  listen(stop: (why: string) => void): void
  readonly forget: () => void
}

function listenForStops(): Stops {
  let asked: string | undefined
  let listener: ((why: string) => void) | undefined
  const forget = onStopSignals((why) => {
    asked = why
    listener?.(why)
  })
  return {
    wasAsked: () => asked !== undefined,
    listen(stop) {
      listener = stop
      if (asked !== undefined) stop(asked)
    },
    forget,
  }
}

/** Come from `intentd reload`, or SIGHUP unless a terminal closes. */
interface Reloads {
  ask(order: ReloadRequest): void
  listen(
    reload: ((order: ReloadRequest) => Promise<void>) | undefined,
    tryDry?: () => Promise<ReloadView>,
  ): void
  tryDry(): Promise<ReloadView> | undefined
  readonly forget: () => void
}

function listenForReloads(): Reloads {
  let listener: ((order: ReloadRequest) => Promise<void>) | undefined
  let dryRun: (() => Promise<ReloadView>) | undefined
  let asked: ReloadRequest | undefined
  let isBusy = false
  const work = async (): Promise<void> => {
    if (isBusy) return
    isBusy = true
    while (asked && listener) {
      const order = asked
      asked = undefined
      await listener(order)
    }
    isBusy = false
  }
  const ask = (order: ReloadRequest): void => {
    asked = order
    void work()
  }
  const hear = (): void => ask({ by: 'the machine', reason: 'SIGHUP' })
  const hasTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY)
  if (!hasTerminal) process.on('SIGHUP', hear)
  return {
    ask,
    tryDry: () => dryRun?.(),
    listen(reload, tryDry) {
      listener = reload
      dryRun = tryDry
      void work()
    },
    forget: () => process.off('SIGHUP', hear),
  }
}

type FailingDaemon = Pick<Daemon, 'failBy'>

/** Keeps errors until the daemon is open, and then reports them. */
interface Breakdowns {
  listen(daemon: FailingDaemon): void
  readonly forget: () => void
}

function listenForBreakdowns(logger: Pick<DaemonLogger, 'log'>): Breakdowns {
  const early: [strategy: string | undefined, error: unknown][] = []
  let daemon: FailingDaemon | undefined
  const fail = (opened: FailingDaemon, strategy: string | undefined, error: unknown): void => {
    if (opened.failBy(strategy, error)) return
    logger.log('warn', 'strategy.strayed', { code: strategy, reason: messageOf(error) })
  }
  const forget = onBreakdown((error, strategy) => {
    if (daemon === undefined) early.push([strategy, error])
    else fail(daemon, strategy, error)
  })
  return {
    listen(opened) {
      daemon = opened
      for (const [strategy, error] of early.splice(0)) fail(opened, strategy, error)
    },
    forget,
  }
}

type LiveFrame = Pick<TradeFrame, 'logger' | 'endAt' | 'stops' | 'breakdowns'> & {
  readonly policies: readonly StopPolicy[]
}

async function live(
  { daemon, endsAt }: OpenedDaemon,
  { policies, logger, endAt, stops, breakdowns }: LiveFrame,
): Promise<DaemonEnd> {
  const supervisor = createSupervisor({
    variables: processVariables(),
    timers: systemTimers,
    heartbeat: () => daemon.heartbeat,
    onTrouble: (reason) => logger.log('warn', 'supervisor.notNotified', { reason }),
  })
  const runStop = new RunStop({ daemon, timers: systemTimers })
  const stop = (why: string): void => {
    logger.log('info', 'daemon.stopRequested', {
      why,
      policy: [...new Set(policies)].join(', '),
      ...(runStop.waitsForStart && { waitsFor: 'start' }),
    })
    supervisor.stopping()
    runStop.ask()
  }
  const forget = [() => supervisor.close(), () => runStop.close()]
  breakdowns.listen(daemon)
  stops.listen(stop)
  if (endAt !== undefined) forget.push(atInstant(endAt, () => stop('--for has passed')))
  try {
    const hasBegun = await daemon.start()
    let cancelLook = (): void => {}
    forget.push(() => cancelLook())
    const notify = (): void => {
      if (daemon.isRecovered) supervisor.ready()
      else cancelLook = systemTimers.after(READY_LOOKED_AT_MS, notify)
    }
    if (hasBegun) notify()
    runStop.noteStarted()
    const recordedUntil = endsAt()
    if (recordedUntil !== undefined)
      forget.push(atInstant(recordedUntil, () => stop('the recording has ended')))
    return await daemon.ended()
  } finally {
    for (const cancel of forget) cancel()
  }
}

function report(
  summary: RunSummary & { readonly name?: string },
  form: RunOptions['summary'],
  logger: DaemonLogger,
): void {
  const { clean, cycles, batches, ordersSent, orders, rateLimited, unknowns } = summary
  const { exchange, restrictions, name, thisRun, allRuns } = summary
  if (form === 'json') writeOut(`${JSON.stringify(summary)}\n`)
  else if (form === 'text' || logger.isTerminal)
    writeOut(`\n${name === undefined ? '' : `${name}\n`}${formatSummary(summary)}\n`)
  if (form === undefined && logger.isTerminal) return
  logger.log('info', 'run.summary', {
    clean,
    cycles,
    batches,
    ordersSent,
    orders,
    rateLimited,
    unknowns,
    thisRun,
    allRuns,
    ...(restrictions.length > 0 ? { restrictions } : {}),
    ...(exchange
      ? {
          exchangeAgrees: exchange.agrees,
          differences: exchange.differences,
        }
      : {}),
  })
}

function logContracts(
  accounts: readonly LoadedConfig[],
  contracts: ContractAnswers | undefined,
  logger: DaemonLogger,
): void {
  for (const account of accounts) {
    const { file, name } = account.config
    const answer = contracts?.get(file)
    const log = accounts.length > 1 ? accountLogger(logger, name) : logger
    if (answer?.now !== undefined) {
      const { productType, contracts: listed } = answer.now
      log.log('info', 'contracts.read', { productType, contracts: listed.size })
    }
    for (const { event, symbol, problem } of listContractRemarks(account, answer)) {
      const { message: reason } = problem
      if (event === 'contracts.notRead') log.log('warn', 'contracts.notRead', { reason })
      else if (event === 'contract.changed') log.log('warn', 'contract.changed', { symbol, reason })
      else log.log('warn', 'contract.differs', { symbol, reason })
    }
  }
}
