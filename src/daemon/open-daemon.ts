import type { ReloadRequest } from '../control/controlled.ts'
import { type ProductMarket, type Product, MarketData } from './market-data/market-data.ts'
import { resolve } from 'node:path'
import type { DaemonConfig } from '../config/load-config.ts'
import { listServersInClear } from '../config/clear-text.ts'
import { formatPath } from '../config/yaml/problem.ts'
import { TrustedClock } from '../exchange/clock/exchange-clock.ts'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/failure.ts'
import type { Account } from './account/account.ts'
import type { UnopenedAccount } from '../views/shown-account.ts'
import { createCalls, type ExchangeCalls } from '../assembly/account/exchange-calls.ts'
import { stopTimeoutOf, toInstruments } from '../assembly/settings/engine-settings.ts'
import { countUnlimited } from '../assembly/settings/unlimited.ts'
import { BackgroundReadings } from './explain/background-readings.ts'
import { ClosedTradeLog } from './reporting/closed-trade-log.ts'
import { wantsTrades } from '../alerts/alerts.ts'
import type { ClosedTradesView, ReloadView } from '../control/detail-views.ts'
import { createFleetSource } from './control/fleet-source.ts'
import type { AlertTargets } from './control/daemon-control.ts'
import { openSignals } from './control/open-signals.ts'
import type { SignalCounts } from './control/view-signals.ts'
import { openControl, type OpenedControl } from './control/open-control.ts'
import { Daemon } from './daemon.ts'
import type { SharedLimits } from '../exchange/limiter/shared/shared-limits.ts'
import { feedsOf, loadStrategies } from '../assembly/strategies/strategies.ts'
import {
  createAccount,
  openAccount,
  type DaemonAccount,
  type OpeningAccount,
} from './open-account.ts'
import { accountLogger, type DaemonLogger } from '../logging/logger.ts'
import { journalPlaceOf, pairingFileOf } from '../assembly/state/state-place.ts'
import { hangNoteOf } from './watchdog/hang-note.ts'
import type { AccountSetup } from '../assembly/account/account-setup.ts'
import { Watchdog } from './watchdog/watchdog.ts'
import { randomHex } from '../lib/entropy.ts'
import type { Secret } from '../lib/secret.ts'
import type { Timers } from '../lib/timers.ts'

export interface OpenDaemonOptions
  extends
    AccountSetup,
    Pick<OpeningAccount, 'market' | 'version' | 'logger' | 'timers' | 'standby'> {
  readonly clock: Clock
  /** Default: the machine's (`open-control.ts`). */
  readonly codesClock?: Clock
  readonly processStartedAt?: number
  readonly others?: readonly AccountSetup[]
  readonly onReload?: (order: ReloadRequest) => void
  readonly alertTargets?: (() => AlertTargets) | undefined
  readonly tryReload?: () => Promise<ReloadView> | undefined
  /** Returns what addresses an account in a command: ` -c live.yaml`. */
  readonly configOptionOf?: (config: DaemonConfig) => string
}

export interface OpenedDaemon {
  readonly daemon: Daemon
  readonly endsAt: () => number | undefined
  readonly keepLeases: () => void
  readonly isHandedOver: () => boolean
}

interface DaemonParts extends OpenAccounts {
  readonly trusted: TrustedClock
  readonly shared: SharedLimits | undefined
  readonly calls: ExchangeCalls
}

interface OpenAccounts {
  readonly main: DaemonAccount
  readonly all: readonly DaemonAccount[]
  readonly off: readonly UnopenedAccount[]
}

/**
 * An account without keys, or with a held or unreadable state, is off; if all are, the start fails.
 * @throws ConfigError for strategies that do not load; Failure if no account can be opened
 */
export async function openDaemon(options: OpenDaemonOptions): Promise<OpenedDaemon> {
  const trusted = new TrustedClock(options.clock)
  const opened = await openAccounts(await listOpenings(options, trusted))
  let shared: SharedLimits | undefined
  try {
    const { loaded, limitsPassword: password, clock, timers, logger } = options
    const { config } = loaded
    shared = await openSharedLimits({ config, password, clock, timers, logger })
    const { embedded, access } = opened.main
    const { baseUrl } = access
    const isEmbedded = embedded !== undefined
    const calls = createCalls({
      config,
      trusted,
      timers,
      isEmbedded,
      shared,
      access: { baseUrl },
      logger,
    })
    return assemble(options, { ...opened, trusted, shared, calls })
  } catch (error) {
    await shared?.stop()
    for (const { close } of opened.all) await close()
    throw error
  }
}

async function listOpenings(
  options: OpenDaemonOptions,
  trusted: TrustedClock,
): Promise<readonly OpeningAccount[]> {
  const { others = [], logger } = options
  const openings: OpeningAccount[] = []
  for (const given of [options, ...others]) {
    const { loaded, credentials, keysMissing, journalPassword, signalSecrets } = given
    const { config, documents } = loaded
    const strategies = await loadStrategies(config, documents, toInstruments(config))
    for (const path of listServersInClear(config))
      logger.log('warn', 'server.inClear', { setting: formatPath(path) })
    openings.push({
      ...options,
      loaded,
      credentials,
      keysMissing,
      journalPassword,
      signalSecrets,
      strategies,
      trusted,
      clock: trusted.clock,
      accounts: 1 + others.length,
      machineClock: options.clock,
      configOption: options.configOptionOf?.(config) ?? '',
      logger: others.length > 0 ? accountLogger(logger, config.name) : logger,
    })
  }
  return openings
}

async function openAccounts(openings: readonly OpeningAccount[]): Promise<OpenAccounts> {
  const all: DaemonAccount[] = []
  const off: UnopenedAccount[] = []
  // Accounts are opened one after the other, but standbys wait at the same time.
  const attempts = openings.map((opening) =>
    opening.standby ? settle(openAccount(opening)) : undefined,
  )
  for (const [index, opening] of openings.entries()) {
    const { opened, error } = await (attempts[index] ?? settle(openAccount(opening)))
    if (opened) {
      all.push(opened)
      continue
    }
    if (openings.length > 1)
      opening.logger.log('error', 'account.off', { reason: messageOf(error) })
    off.push({ config: opening.loaded.config, error })
  }
  const [main] = all
  if (main === undefined) throw off[0]?.error
  return { main, all, off }
}

async function settle(
  opening: Promise<DaemonAccount>,
): Promise<{ readonly opened?: DaemonAccount; readonly error?: unknown }> {
  try {
    return { opened: await opening }
  } catch (error) {
    return { error }
  }
}

function assemble(options: OpenDaemonOptions, parts: DaemonParts): OpenedDaemon {
  const { main, all, off, trusted, calls } = parts
  const { embedded } = main
  const { config } = options.loaded
  const { logger, timers } = options
  for (const account of all) logOpened(account)
  const strategies = all.flatMap((account) => account.strategies)
  const marketData = new MarketData({
    config,
    logger,
    trusted,
    timers,
    ...calls,
    products: listProducts(all),
    feeds: feedsOf(strategies, 'public'),
  })
  const watchdog = createWatchdog(options, parts)
  let before = 0
  const accounts: Account[] = []
  const controls: OpenedControl[] = []
  const tradeLogs: ClosedTradeLog[] = []
  for (const open of all) {
    const { config: own } = open
    const ids = open.strategies.map(({ id }) => id)
    const market = marketData.of(own.account.productType)
    const readings = openReadings(open)
    const tradeLog =
      config.alerts && wantsTrades(config.alerts) ? openTradeLog(open, readings) : undefined
    if (tradeLog) tradeLogs.push(tradeLog)
    const account = createAccount(open, {
      market,
      limiter: marketData.limiter,
      watchdog: watchdog.watchOf(ids, before),
      tradeLog,
    })
    before += ids.length
    accounts.push(account)
    const signals = openSignals({
      config: own,
      secrets: open.setup.signalSecrets ?? new Map(),
      take: (signal) => account.takeSignal(signal),
      market,
      logger: open.logger,
      clock: trusted.clock,
      timers,
    })
    const signalCounts = signals?.counts
    controls.push(openControlOf(options, parts, { open, account, market, readings, signalCounts }))
    if (signals) controls.push(signals)
  }
  const daemon = new Daemon({
    market: marketData,
    accounts,
    embedded,
    controls,
    watchdog,
    off,
    tradeLogs,
  })
  return { daemon, endsAt: () => embedded?.endsAt, ...followLeases(all, daemon, logger) }
}

interface ControlledParts {
  readonly open: DaemonAccount
  readonly account: Account
  readonly market: ProductMarket
  readonly readings: BackgroundReadings
  readonly signalCounts: SignalCounts | undefined
}

function openControlOf(
  options: OpenDaemonOptions,
  { main, off, trusted, shared }: DaemonParts,
  { open, account, market, readings, signalCounts }: ControlledParts,
): OpenedControl {
  const { config, logger, setup } = open
  const { embedded, access } = main
  return openControl({
    config,
    directory: open.directory,
    pairingFile: pairingFileOf(options.loaded.config),
    accounts: [account],
    off,
    market,
    logger,
    clock: trusted.clock,
    codesClock: options.codesClock,
    version: options.version,
    onReload: options.onReload,
    tryReload: options.tryReload,
    processStartedAt: options.processStartedAt,
    sharedLimits: shared,
    alertTargets: options.alertTargets,
    signalCounts,
    name: config.name,
    environment: options.loaded.config.environment,
    exchange: access.baseUrl,
    configOption: options.configOptionOf?.(config) ?? '',
    speed: embedded?.speed ?? 1,
    timers: options.timers,
    readings,
    fleet: createFleetSource(config, setup.journalPassword),
  })
}

function createWatchdog(
  { loaded, logger, timers }: OpenDaemonOptions,
  parts: DaemonParts,
): Watchdog {
  const { config } = loaded
  return new Watchdog({
    logger,
    logName: config.name,
    timers,
    noteFile: hangNoteOf(parts.main.directory),
    requestTimeoutMs: config.exchange.requestTimeoutMs,
    stopTimeoutMs: Math.max(...parts.all.map((open) => stopTimeoutOf(open.config))),
    strategies: parts.all.flatMap(({ strategies, directory }) =>
      strategies.map(({ id }) => ({ id, noteFile: hangNoteOf(directory) })),
    ),
    hungAfterMs: config.supervision.hungAfterMs,
  })
}

function followLeases(
  accounts: readonly DaemonAccount[],
  daemon: Pick<Daemon, 'stop'>,
  logger: Pick<DaemonLogger, 'log'>,
): Pick<OpenedDaemon, 'keepLeases' | 'isHandedOver'> {
  const leases = accounts.flatMap(({ journal }) => journal.lease ?? [])
  let isHandedOver = false
  for (const lease of leases) {
    lease.onHandover(() => {
      isHandedOver = true
      logger.log('info', 'handover.asked', {})
      daemon.stop('leave')
    })
  }
  return {
    keepLeases: () => {
      for (const lease of leases) lease.keep()
    },
    isHandedOver: () => isHandedOver,
  }
}

function listProducts(accounts: readonly DaemonAccount[]): readonly Product[] {
  const configs = accounts.map(({ config }) => config)
  return [...Map.groupBy(configs, ({ account }) => account.productType)].map(
    ([productType, own]) => ({
      productType,
      symbols: [...new Set(own.flatMap(({ instruments }) => Object.keys(instruments)))],
    }),
  )
}

function openReadings({ config, directory }: DaemonAccount): BackgroundReadings {
  const journal = journalPlaceOf(config, directory).file
  return new BackgroundReadings({ config, journal, backtests: resolve('backtests') })
}

function openTradeLog(
  { logger, timers, book }: DaemonAccount,
  readings: BackgroundReadings,
): ClosedTradeLog {
  return new ClosedTradeLog({
    read: (query) => readings.ask({ kind: 'trades', query }) as Promise<ClosedTradesView>,
    logger,
    timers,
    book,
  })
}

function logOpened({
  config,
  settings,
  strategies,
  logger,
  access,
  embedded,
  directory,
}: DaemonAccount): void {
  logger.log('info', 'daemon.opened', {
    version: settings.version,
    environment: config.environment,
    exchange: access.baseUrl,
    embedded: embedded !== undefined,
    strategies: strategies.map(({ id }) => id),
    state: directory,
  })
  const { account, others } = countUnlimited(config)
  if (account.length + others > 0) logger.log('info', 'limits.off', { account, others })
}

export interface OpenSharedLimitsOptions {
  readonly config: Pick<DaemonConfig, 'exchange'>
  readonly password: Secret | undefined
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Pick<DaemonLogger, 'log' | 'hide'>
}

export async function openSharedLimits(
  options: OpenSharedLimitsOptions,
): Promise<SharedLimits | undefined> {
  const { config, password, clock, timers, logger } = options
  const { shared, requestTimeoutMs } = config.exchange
  if (shared === undefined) return undefined
  if (password) logger.hide(password)
  const limits = await import('../exchange/limiter/shared/shared-limits.ts')
  const { RedisStore } = await import('../exchange/limiter/shared/redis-store.ts')
  const { redis: url, group, members } = shared
  return new limits.SharedLimits({
    store: new RedisStore({
      url,
      password,
      group,
      answerMsMax: limits.ANSWER_MS_MAX,
    }),
    id: randomHex(8),
    members,
    lateMs: requestTimeoutMs,
    clock,
    timers,
    onLost: (reason, without) =>
      logger.log('warn', 'limits.alone', {
        reason,
        without,
      }),
    onRefused: (reason) => logger.log('error', 'limits.refused', { reason }),
    onJoined: (sharing) => logger.log('info', 'limits.shared', { members: sharing }),
  })
}
