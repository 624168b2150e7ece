import { resolve } from 'node:path'
import { type DaemonConfig, type LoadedConfig } from '../config/load-config.ts'
import { type Credentials } from '../config/secrets.ts'
import { type Book } from '../engine/book/book.ts'
import { rebuildBook } from '../engine/book/book-json.ts'
import { findGridConflict } from '../engine/book/convert-grids.ts'
import { type EngineSettings } from '../engine/settings.ts'
import { TrustedClock } from '../exchange/clock/trusted-clock.ts'
import { type BookingStore, type Journal } from '../journal/journal.ts'
import { openSqliteJournal } from '../journal/sqlite-journal.ts'
import { type Clock } from '../lib/clock.ts'
import { Failure } from '../lib/failure.ts'
import { type Timers } from '../lib/timers.ts'
import { Account } from './account/account.ts'
import { holdAccount } from './account/account-lock.ts'
import { createCalls } from './account/exchange-calls.ts'
import { openControl } from './control/open-control.ts'
import { Daemon } from './daemon.ts'
import { type EmbeddedExchange, startEmbeddedExchange } from './embedded/embedded-exchange.ts'
import { listUnlimited } from './account/loss-settings.ts'
import { toEngineSettings, toInstruments } from './account/engine-settings.ts'
import { type ExchangeAccess } from '../exchange/client/exchange-access.ts'
import { Readings } from './explain/readings.ts'
import { feedsOf } from './market-data/feed-plan.ts'
import { MarketData } from './market-data/market-data.ts'
import { type DaemonLogger } from './reporting/logger.ts'
import { hasRetreated } from './state/retreat-note.ts'
import { levelOf, type MarketOverride } from './embedded/simulated-exchange.ts'
import { setWorldAside } from './embedded/simulator-world.ts'
import { describeHolder, holdDirectory } from './state/state-directory.ts'
import { isEmbedded, journalPlaceOf, stateDirectoryOf } from './state/state-place.ts'
import { type LoadedStrategy, loadStrategies, openRunners, showSettingsOf } from './strategies/strategies.ts'
import { hangNoteOf } from './watchdog/hang-note.ts'
import { Watchdog } from './watchdog/watchdog.ts'

/** Records of the journal are kept this long beyond the checkpoint that contains them. */
const RECORDS_KEPT_MS = 7 * 86_400_000

/** A key of a strategy names one order for so long at least, after it was used: some 70 bytes each. */
const KEYS_KEPT_MS = 366 * 86_400_000

export interface OpenDaemonOptions {
  readonly loaded: LoadedConfig
  /** Absent for the simulator inside the daemon. */
  readonly credentials: Credentials | undefined
  readonly market: MarketOverride
  readonly version: string
  readonly logger: DaemonLogger
  readonly clock: Clock
  readonly timers: Timers
  /** Somebody wants the configuration to be read again; absent: nobody can. */
  readonly onReload?: () => void
}

/** From here on nobody reads the machine's clock, which may jump. */
interface Opening extends OpenDaemonOptions {
  readonly trusted: TrustedClock
}

/** A daemon that is ready to start. */
export interface OpenedDaemon {
  readonly daemon: Daemon
  /** Unix ms when the recorded market ends. */
  readonly endsAt: () => number | undefined
}

/**
 * Everything a daemon stands on, from the ground up: strategies, state, journal, exchange.
 * @throws ConfigError for strategies that do not load; Failure for a state that is held or unreadable.
 */
export async function openDaemon(given: OpenDaemonOptions): Promise<OpenedDaemon> {
  const trusted = new TrustedClock(given.clock)
  const options: Opening = { ...given, clock: trusted.clock, trusted }
  const { loaded, logger } = options
  const { config, documents } = loaded
  const strategies = await loadStrategies(config, documents, toInstruments(config))
  const directory = stateDirectoryOf(config, options.market)
  const ground = await openGround(options, directory)
  const { embedded } = ground
  if (embedded?.endsAt === undefined || embedded.endsAt > options.clock.now()) {
    return assemble(options, { ...ground, strategies })
  }
  // This recording was played to its end in an earlier run: the next one begins from the start.
  await ground.close()
  logger.log('info', 'recording.startsAgain', { before: setWorldAside(directory) })
  return assemble(options, { ...(await openGround(options, directory)), strategies })
}

/** What a daemon stands on. */
interface Ground {
  readonly directory: string
  readonly journal: Journal & BookingStore
  readonly embedded: EmbeddedExchange | undefined
  /** Lets others take the state and the account over. */
  readonly release: () => void
  /** Gives everything back. */
  readonly close: () => Promise<void>
}

/** In this order: the state, the account, the journal, the exchange. What fails gives back what was taken. */
async function openGround(options: Opening, directory: string): Promise<Ground> {
  const taken: (() => void)[] = []
  const release = (): void => {
    for (const give of taken.splice(0).toReversed()) give()
  }
  try {
    const { config } = options.loaded
    const holder = describeHolder(config.name, options.clock.now())
    const state = holdDirectory(directory, holder)
    taken.push(() => state.release())
    if (!isEmbedded(config)) {
      const access = accessTo(config, options.credentials)
      const account = holdAccount({ access, holder, onUnlocked: logUnlocked(options.logger) })
      taken.push(() => account.release())
    }
    const journal = openJournal(options, directory)
    taken.push(() => journal.close())
    const embedded = await embed(options, directory)
    taken.pop() // From here on whoever has the ground closes the journal.
    const close = async () => {
      journal.close()
      release()
      await embedded?.stop()
    }
    return { directory, journal, embedded, release, close }
  } catch (error) {
    release()
    throw error
  }
}

function logUnlocked(logger: DaemonLogger): (reason: string) => void {
  return (reason) => logger.log('warn', 'account.notHeld', { reason })
}

function openJournal({ loaded: { config }, clock }: Opening, directory: string): Journal & BookingStore {
  return openSqliteJournal({
    ...journalPlaceOf(config, directory),
    keepSince: () => clock.now() - RECORDS_KEPT_MS,
    keepKeysSince: () => clock.now() - KEYS_KEPT_MS,
  })
}

interface Prepared extends Ground {
  readonly strategies: readonly LoadedStrategy[]
}

/** Market data, and the one account that the configuration has. */
async function assemble(options: Opening, ground: Prepared): Promise<OpenedDaemon> {
  const { loaded, credentials, logger, trusted, timers } = options
  const { config } = loaded
  const { directory, journal, embedded, strategies } = ground
  try {
    const access = embedded ?? accessTo(config, credentials)
    hideSecrets(logger, access)
    const settings = settingsOf(options, ground)
    const book = rebuildBook(journal.load(), settings.positionMode)
    assertGrids(book, settings)
    logger.log('info', 'daemon.opened', {
      version: options.version,
      environment: config.environment,
      exchange: access.baseUrl,
      embedded: embedded !== undefined,
      strategies: strategies.map(({ id }) => id),
      state: directory,
    })
    const off = listUnlimited(config)
    if (off.length > 0) logger.log('info', 'limits.off', { off })
    const common = { config, isEmbedded: embedded !== undefined, logger, trusted, timers }
    const publicCalls = createCalls({ ...common, access: { baseUrl: access.baseUrl } })
    const market = new MarketData({ ...common, ...publicCalls, feeds: feedsOf(strategies, 'public') })
    const ids = strategies.map(({ id }) => id)
    const { strategyStates: states } = book
    const runners = await openRunners(strategies, { states, clock: trusted.clock, timers, logger })
    const watchdog = new Watchdog({
      ...{ names: ids, descriptor: logger.descriptor, logName: config.name, timers },
      noteFile: hangNoteOf(directory),
      hungAfterMs: config.supervision.hungAfterMs,
    })
    const account = new Account({
      ...{ ...common, settings, strategies, runners, journal, book, directory, access, market },
      watchdog: (id) => watchdog.running(id === undefined ? 0 : ids.indexOf(id) + 1),
      calls: createCalls({ ...common, access, address: market.limiter }),
      ledger: embedded && (() => embedded.ledger()),
      onQuiesced: () => embedded?.pause(),
      onClosed: ground.release,
    })
    const accounts = [account]
    const control = openControl({
      ...{ config, directory, accounts, market, logger, clock: trusted.clock, version: options.version },
      onReload: options.onReload,
      readings: new Readings({
        ...{ config, timers, journal: journalPlaceOf(config, directory).file },
        backtests: resolve('backtests'),
      }),
      ...{ name: config.name, environment: config.environment, exchange: access.baseUrl },
    })
    return {
      daemon: new Daemon({ market, accounts, embedded, control, watchdog }),
      endsAt: () => embedded?.endsAt,
    }
  } catch (error) {
    await ground.close()
    throw error
  }
}

/** @throws Failure where the book counts an instrument in steps that do not convert to the configured ones. */
function assertGrids(book: Book, { instruments }: EngineSettings): void {
  const conflict = findGridConflict(book, instruments)
  if (!conflict) return
  const { symbol, was, is, number } = conflict
  throw new Failure({
    code: 'STATE_GRIDS_CHANGED',
    sentence:
      'the journal counts an instrument in other ticks or lots than the configuration, and does not convert',
    facts: {
      instrument: symbol,
      journal: `tickSize ${was.tick}, lotSize ${was.lot}`,
      configuration: `tickSize ${is.tick}, lotSize ${is.lot}`,
      inexact: number,
    },
    hint: 'start once with the sizes of the journal, flatten the instrument and stop; an hour later its orders are forgotten. Or begin with another state.directory',
  })
}

function settingsOf({ loaded: { config }, version }: Opening, ground: Prepared): EngineSettings {
  const { directory, journal, embedded, strategies } = ground
  const configured = toEngineSettings(config, {
    salt: journal.salt,
    version,
    embedded: embedded !== undefined,
    shown: showSettingsOf(strategies),
  })
  // What was cancelled without a record may not rest any more, whatever the book says.
  return hasRetreated(directory) ? { ...configured, onRestart: 'cancel', hasRetreated: true } : configured
}

async function embed(options: Opening, directory: string): Promise<EmbeddedExchange | undefined> {
  const { loaded, market, clock, timers, logger } = options
  const { config } = loaded
  if (!isEmbedded(config)) return undefined
  return startEmbeddedExchange({
    config,
    settings: config.simulator,
    market,
    directory,
    clock,
    timers,
    onEvent: ({ kind, ...fields }) => logger.log(levelOf(kind), `simulator.${kind}`, fields),
    log: (level, event, fields) => logger.log(level, event, fields),
  })
}

function accessTo(config: DaemonConfig, credentials: Credentials | undefined): ExchangeAccess {
  const { baseUrl } = config.exchange
  if (baseUrl === undefined || credentials === undefined) {
    throw new Failure({
      code: 'DAEMON_EXCHANGE_MISSING',
      sentence: 'there is no exchange to trade on',
      hint: 'set exchange.baseUrl and the credentials, or environment: simulator with a simulator section',
    })
  }
  const { apiKey, apiSecret, passphrase } = credentials
  return { baseUrl, credentials: { apiKey, secret: apiSecret, passphrase } }
}

function hideSecrets(logger: DaemonLogger, { credentials }: ExchangeAccess): void {
  for (const secret of [credentials.apiKey, credentials.secret, credentials.passphrase]) logger.hide(secret)
}
