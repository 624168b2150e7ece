import type { ReloadOrder } from '../control/controlled.ts'
import type { ProductMarket } from './market-data/product-market.ts'
import { resolve } from 'node:path'
import type { DaemonConfig } from '../config/load-config.ts'
import { listServersInClear } from '../config/clear-text.ts'
import { formatPath } from '../config/yaml/setting-path.ts'
import { TrustedClock } from '../exchange/clock/exchange-clock.ts'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/failure.ts'
import type { Account } from './account/account.ts'
import type { AccountOff } from '../views/shown-account.ts'
import { createCalls, type ExchangeCalls } from '../assembly/account/exchange-calls.ts'
import {
  countUnlimited,
  stopTimeoutOf,
  toInstruments,
} from '../assembly/settings/engine-settings.ts'
import { Readings } from './explain/readings.ts'
import { ClosedTradeLog } from './reporting/closed-trade-log.ts'
import { wantsTrades } from '../alerts/alerts.ts'
import type { ClosedTradesView } from '../control/detail-views.ts'
import { createFleetSource } from './control/fleet-source.ts'
import type { AlertTargets } from './control/daemon-control.ts'
import { openSignals } from './control/open-signals.ts'
import type { SignalCounts } from './control/view-signals.ts'
import { openControl, type OpenedControl } from './control/open-control.ts'
import { Daemon } from './daemon.ts'
import { openSharedLimits } from './market-data/open-shared-limits.ts'
import { openSharedTickers } from './market-data/open-shared-tickers.ts'
import type { SharedLimits } from '../exchange/limiter/shared/shared-limits.ts'
import type { SharedTickers } from '../exchange/shared-tickers/shared-tickers.ts'
import { feedsOf, loadStrategies } from '../assembly/strategies/strategies.ts'
import { MarketData } from './market-data/market-data.ts'
import type { Product } from './market-data/product-market.ts'
import {
  type AccountInput,
  createAccount,
  openAccount,
  type OpenedAccount,
  type Opening,
} from './open-account.ts'
import { accountLogger } from '../logging/account-logger.ts'
import type { ReloadView } from '../control/detail-views.ts'
import type { DaemonLogger } from '../logging/logger.ts'
import { journalPlaceOf, pairingFileOf } from '../assembly/state/state-place.ts'
import { hangNoteOf } from './watchdog/hang-note.ts'
import { Watchdog } from './watchdog/watchdog.ts'

export interface OpenDaemonOptions
  extends AccountInput, Pick<Opening, 'market' | 'version' | 'logger' | 'timers' | 'standby'> {
  readonly clock: Clock
  /** Default: the machine's (`open-control.ts`). */
  readonly codesClock?: Clock
  readonly processStartedAt?: number
  readonly others?: readonly AccountInput[]
  readonly onReload?: (order: ReloadOrder) => void
  readonly alertTargets?: (() => AlertTargets) | undefined
  readonly tryReload?: () => Promise<ReloadView> | undefined
  /** Addresses an account in a command: ` -c live.yaml`. */
  readonly configOptionOf?: (config: DaemonConfig) => string
}

export interface OpenedDaemon {
  readonly daemon: Daemon
  readonly endsAt: () => number | undefined
  readonly keepLeases: () => void
  readonly isHandedOver: () => boolean
}

interface DaemonParts extends DaemonAccounts {
  readonly trusted: TrustedClock
  readonly shared: SharedLimits | undefined
  readonly calls: ExchangeCalls
  readonly sharedTickers: SharedTickers | undefined
}

interface DaemonAccounts {
  readonly main: OpenedAccount
  readonly all: readonly OpenedAccount[]
  readonly off: readonly AccountOff[]
}

/**
 * An account without keys, or with a held or unreadable state, is off, unless all are. @throws
 * ConfigError for strategies that do not load; Failure if no account can be opened
 */
export async function openDaemon(options: OpenDaemonOptions): Promise<OpenedDaemon> {
  const trusted = new TrustedClock(options.clock)
  const opened = await openAccounts(await listOpenings(options, trusted))
  let shared: SharedLimits | undefined
  let sharedTickers: SharedTickers | undefined
  try {
    const { loaded, limitsPassword: password, clock, timers, logger } = options
    const { config } = loaded
    shared = await openSharedLimits({ config, password, clock, timers, logger })
    const { embedded, access } = opened.main
    const { baseUrl } = access
    const isEmbedded = embedded !== undefined
    const common = { config, trusted, timers }
    const calls = createCalls({ ...common, isEmbedded, shared, access: { baseUrl }, logger })
    // No other daemon uses an embedded exchange.
    if (!isEmbedded) {
      sharedTickers = await openSharedTickers({ ...common, ...calls, password, baseUrl })
    }
    return assemble(options, { ...opened, trusted, shared, calls, sharedTickers })
  } catch (error) {
    sharedTickers?.close()
    await shared?.stop()
    for (const { close } of opened.all) await close()
    throw error
  }
}

/** All strategies must load before anything is opened. */
async function listOpenings(
  options: OpenDaemonOptions,
  trusted: TrustedClock,
): Promise<readonly Opening[]> {
  const { others = [], logger } = options
  const openings: Opening[] = []
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

async function openAccounts(openings: readonly Opening[]): Promise<DaemonAccounts> {
  const all: OpenedAccount[] = []
  const off: AccountOff[] = []
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
  opening: Promise<OpenedAccount>,
): Promise<{ readonly opened?: OpenedAccount; readonly error?: unknown }> {
  try {
    return { opened: await opening }
  } catch (error) {
    return { error }
  }
}

function assemble(options: OpenDaemonOptions, ground: DaemonParts): OpenedDaemon {
  const { main, all, off, trusted, calls, sharedTickers } = ground
  const { embedded } = main
  const { config } = options.loaded
  const { logger, timers } = options
  for (const account of all) logOpened(account)
  const strategies = all.flatMap(({ opening }) => opening.strategies)
  const marketData = new MarketData({
    config,
    logger,
    trusted,
    timers,
    ...calls,
    sharedTickers,
    products: listProducts(all),
    feeds: feedsOf(strategies, 'public'),
  })
  const watchdog = createWatchdog(options, ground)
  let before = 0
  const accounts: Account[] = []
  const controls: OpenedControl[] = []
  const tradeLogs: ClosedTradeLog[] = []
  for (const opened of all) {
    const { loaded, strategies: own } = opened.opening
    const market = marketData.of(loaded.config.account.productType)
    const readings = openReadings(opened)
    const tradeLog =
      config.alerts && wantsTrades(config.alerts) ? openTradeLog(opened, readings) : undefined
    if (tradeLog) tradeLogs.push(tradeLog)
    const account = createAccount(opened, {
      market,
      limiter: marketData.limiter,
      watchdog: watchdog.watchOf(
        own.map(({ id }) => id),
        before,
      ),
      tradeLog,
    })
    before += own.length
    accounts.push(account)
    const signals = openSignals({
      config: loaded.config,
      secrets: opened.opening.signalSecrets ?? new Map(),
      take: (signal) => account.takeSignal(signal),
      logger: opened.opening.logger,
      clock: trusted.clock,
      timers,
    })
    const signalCounts = signals?.counts
    controls.push(
      openControlOf(options, ground, { opened, account, market, readings, signalCounts }),
    )
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

interface Controlled {
  readonly opened: OpenedAccount
  readonly account: Account
  readonly market: ProductMarket
  readonly readings: Readings
  readonly signalCounts: SignalCounts | undefined
}

function openControlOf(
  options: OpenDaemonOptions,
  { main, off, trusted, shared, sharedTickers }: DaemonParts,
  { opened, account, market, readings, signalCounts }: Controlled,
): OpenedControl {
  const { loaded, logger, journalPassword } = opened.opening
  const { embedded, access } = main
  return openControl({
    config: loaded.config,
    directory: opened.directory,
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
    sharedTickers,
    alertTargets: options.alertTargets,
    signalCounts,
    name: loaded.config.name,
    environment: options.loaded.config.environment,
    exchange: access.baseUrl,
    configOption: options.configOptionOf?.(loaded.config) ?? '',
    speed: embedded?.speed ?? 1,
    timers: options.timers,
    readings,
    fleet: createFleetSource(loaded.config, journalPassword),
  })
}

/** The watchdog knows strategies by index over all accounts. */
function createWatchdog(
  { loaded, logger, timers }: OpenDaemonOptions,
  ground: DaemonParts,
): Watchdog {
  const { config } = loaded
  return new Watchdog({
    logger,
    logName: config.name,
    timers,
    noteFile: hangNoteOf(ground.main.directory),
    requestTimeoutMs: config.exchange.requestTimeoutMs,
    stopTimeoutMs: Math.max(
      ...ground.all.map(({ opening }) => stopTimeoutOf(opening.loaded.config)),
    ),
    strategies: ground.all.flatMap(({ opening, directory }) =>
      opening.strategies.map(({ id }) => ({ id, noteFile: hangNoteOf(directory) })),
    ),
    hungAfterMs: config.supervision.hungAfterMs,
  })
}

function followLeases(
  accounts: readonly OpenedAccount[],
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

function listProducts(accounts: readonly OpenedAccount[]): readonly Product[] {
  const configs = accounts.map(({ opening }) => opening.loaded.config)
  return [...Map.groupBy(configs, ({ account }) => account.productType)].map(
    ([productType, own]) => ({
      productType,
      symbols: [...new Set(own.flatMap(({ instruments }) => Object.keys(instruments)))],
    }),
  )
}

/** Reports are where `intentd backtest` puts them in this folder. */
function openReadings({ opening, directory }: OpenedAccount): Readings {
  const { config } = opening.loaded
  const journal = journalPlaceOf(config, directory).file
  return new Readings({ config, journal, backtests: resolve('backtests') })
}

function openTradeLog({ opening, book }: OpenedAccount, readings: Readings): ClosedTradeLog {
  const { logger, timers } = opening
  return new ClosedTradeLog({
    read: (query) => readings.ask({ kind: 'trades', query }) as Promise<ClosedTradesView>,
    logger,
    timers,
    book,
  })
}

function logOpened({ opening, access, embedded, directory }: OpenedAccount): void {
  const { logger, loaded, version, strategies } = opening
  const { config } = loaded
  logger.log('info', 'daemon.opened', {
    version,
    environment: config.environment,
    exchange: access.baseUrl,
    embedded: embedded !== undefined,
    strategies: strategies.map(({ id }) => id),
    state: directory,
  })
  const { account, others } = countUnlimited(config)
  if (account.length + others > 0) logger.log('info', 'limits.off', { account, others })
}
