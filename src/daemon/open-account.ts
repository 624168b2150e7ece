import type { DaemonConfig, LoadedConfig } from '../config/load-config.ts'
import type { ApiCredentials } from '../config/secrets.ts'
import { stateOlder } from '../engine/resolution/older-state.ts'
import { ACCOUNT } from '../domain/trading-mode.ts'
import { type Book, restrictionOf } from '../engine/book/book.ts'
import { rebuildBook } from '../engine/book/book-rows.ts'
import type { EngineSettings } from '../engine/settings.ts'
import type { ExchangeAccess } from '../exchange/client/request-writer.ts'
import type { Limiter } from '../exchange/limiter/limiter.ts'
import type { OpenedJournal } from '../journal/journal.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { Clock } from '../lib/clock.ts'
import { Failure } from '../lib/failure.ts'
import { Account } from './account/account.ts'
import { ServerNews } from './fleet/fleet-news.ts'
import { RequestedKills, throwStandingKill } from './fleet/requested-kills.ts'
import type { AccountSetup, OpenAccount } from '../assembly/account/account-setup.ts'
import type { AccountOptions } from './account/account-ports.ts'
import { accessTo } from '../assembly/account/account-keys.ts'
import { holdAccount, type PassedOver } from '../assembly/account/account-lock.ts'
import { endOfStart, logFatal } from './account/breakdown.ts'
import { toEngineSettings } from '../assembly/settings/engine-settings.ts'
import { createCalls } from '../assembly/account/exchange-calls.ts'
import { type EmbeddedExchange, startEmbeddedExchange } from './embedded/embedded-exchange.ts'
import type { Standby, StandbyFrame } from './standby.ts'
import { levelOf, type MarketOverride } from '../assembly/simulator/simulated-exchange.ts'
import { findWorldBefore, setWorldAside } from '../assembly/simulator/simulator-world.ts'
import type { DaemonLogger } from '../logging/logger.ts'
import { isHolder, openJournal } from '../assembly/state/open-journal.ts'
import { ownWriter } from '../assembly/account/own-writer.ts'
import { hasRetreated, retreatNote } from '../assembly/state/retreat-note.ts'
import { describeHolder, holdDirectory } from '../assembly/state/state-directory.ts'
import { compareConfigs } from '../config/config-changes.ts'
import { readRunningConfig } from '../assembly/state/running-config.ts'
import { assertGrids } from '../assembly/settings/assert-grids.ts'
import { judgeOtherCapital } from '../assembly/settings/changed-capital.ts'
import { ConfigError } from '../config/yaml/problem.ts'
import { isEmbedded, stateDirectoryOf } from '../assembly/state/state-place.ts'
import { noteEndings } from './watchdog/hang-note.ts'
import { openRunners, showSettingsOf } from '../assembly/strategies/strategies.ts'

/** Records stay so long after the checkpoint that contains them. */
const RECORDS_KEPT_MS = 7 * 86_400_000

/**
 * A strategy's key names one order for at least this long after its use. A key takes some 70 bytes.
 */
const KEYS_KEPT_MS = 366 * 86_400_000

export interface OpeningAccount
  extends
    AccountSetup,
    Pick<OpenAccount, 'accounts' | 'strategies' | 'logger' | 'trusted' | 'timers'> {
  readonly market: MarketOverride
  readonly version: string
  /** Must be steady, because the machine's clock may jump. */
  readonly clock: Clock
  /** Times what must not outlast a sleep of the machine. */
  readonly machineClock: Clock
  /** Waits for the journal's lease. Absent: a held lease is a refusal. */
  readonly standby?: StandbyFrame | undefined
  readonly configOption: string
}

interface JudgedAccount {
  readonly journal: OpenedJournal
  readonly book: Book
  readonly settings: EngineSettings
}

export interface DaemonAccount extends OpenAccount {
  readonly embedded: EmbeddedExchange | undefined
  readonly news: ServerNews | undefined
  /** Gives back locks; the account itself closes the journal. */
  readonly release: () => void
}

/** @throws Failure for missing keys, and a state that is held or unreadable */
export async function openAccount(options: OpeningAccount): Promise<DaemonAccount> {
  const { config } = options.loaded
  if (options.keysMissing !== undefined) throw options.keysMissing
  const directory = stateDirectoryOf(config, options.market)
  const before = isEmbedded(config) ? findWorldBefore(directory) : undefined
  const state = await openAccountState(options, directory)
  if (before !== undefined)
    options.logger.log('warn', 'simulator.otherAccount', {
      directory,
      before,
      changed: nameChanges(config),
    })
  const { embedded } = state
  if (embedded?.endsAt === undefined || embedded.endsAt > options.clock.now())
    return prepare(options, state)
  // An earlier run has played this recording to its end.
  await state.close()
  options.logger.log('info', 'recording.startsAgain', { before: setWorldAside(directory) })
  return prepare(options, await openAccountState(options, directory))
}

function nameChanges(config: DaemonConfig): readonly string[] {
  const before = readRunningConfig(config)
  if (before === undefined) return []
  const { settings, refused } = compareConfigs(before, config)
  return [...settings, ...refused]
    .filter(({ path }) => /^(account|instruments|simulator)\./.test(path))
    .map(({ path, was = 'absent', is = 'absent' }) => `${path}: ${was} -> ${is}`)
}

async function prepare(options: OpeningAccount, state: AccountState): Promise<DaemonAccount> {
  const { loaded, credentials, logger, strategies, timers, clock, trusted, accounts } = options
  const { embedded, journal } = state
  try {
    const access = embedded ?? assertAccess(loaded.config, credentials)
    hideSecrets(logger, access)
    const configured = settingsOf(options, state)
    const book = rebuildBook(journal.load(), configured.positionMode)
    const stated = withStatedRules(configured, book, loaded.contracts)
    assertNotOlder(book)
    assertGrids(book, stated)
    const settings = withJudgedCapital(options, { book, settings: stated, journal })
    const runners = await openRunners(strategies, {
      states: book.strategyStates,
      clock,
      timers,
      logger,
      onEnding: noteEndings(state.directory, () => clock.now()),
    })
    return {
      ...state,
      setup: options,
      config: loaded.config,
      access,
      settings,
      book,
      strategies,
      runners,
      logger,
      trusted,
      timers,
      accounts,
    }
  } catch (error) {
    const end = endOfStart(error, journal)
    if (end !== error) logFatal(logger, end)
    await state.close()
    throw end
  }
}

type AccountLinks = Pick<AccountOptions, 'market' | 'watchdog' | 'tradeLog'> & {
  readonly limiter: Limiter
}

/** @param links to what a daemon's accounts share */
export function createAccount(open: DaemonAccount, { limiter, ...links }: AccountLinks): Account {
  const { embedded, journal, config } = open
  const { lease } = journal
  const kills = lease && new RequestedKills({ lease, directory: config.state.directory })
  const account = new Account({
    ...open,
    ...links,
    given: open.setup.loaded.given,
    calls: createCalls({
      ...open,
      isEmbedded: embedded !== undefined,
      address: limiter,
      signingObjection: lease && (() => lease.objection()),
    }),
    ledger: embedded && (() => embedded.ledger()),
    past: embedded?.past,
    onQuiesced: () => embedded?.pause(),
    onClosed: open.release,
    onKillNoted: kills?.note,
  })
  kills?.bind(account)
  open.news?.watch(account)
  lease?.onLost((failure) => account.fail(failure))
  return account
}

type AccountState = Pick<
  DaemonAccount,
  'directory' | 'journal' | 'embedded' | 'news' | 'release' | 'close'
>

async function openAccountState(options: OpeningAccount, directory: string): Promise<AccountState> {
  const taken: (() => void)[] = []
  const release = (): void => {
    for (const give of taken.splice(0).toReversed()) give()
  }
  try {
    const { config } = options.loaded
    const holder = describeHolder(config.name, options.clock.now())
    const lock = holdDirectory(directory, holder)
    taken.push(() => lock.release())
    const hold = (passedOver?: PassedOver): void => {
      if (isEmbedded(config)) return
      const access = assertAccess(config, options.credentials)
      const account = holdAccount({
        access,
        holder,
        passedOver,
        onUnlocked: logUnlocked(options.logger),
      })
      taken.push(() => account.release())
    }
    // A standby takes no locks yet, because the writer may be on this machine.
    if (!options.standby) hold()
    const news = config.journal && new ServerNews({ ...options, config })
    if (news) taken.push(() => news.end())
    const { journal, whom } = await openAccountJournal(options, directory)
    if (news) journal.lease?.show(news)
    try {
      if (journal.lease) throwStandingKill(journal.lease, config.state.directory)
      // Nothing of the previous writer can reach the exchange any more, but it may hang and keep
      // its lock.
      if (whom !== undefined) hold(passOver(options, whom))
      const embedded = await embed(options, directory)
      const close = async () => {
        await journal.close()
        release()
        await embedded?.stop()
      }
      return { directory, journal, embedded, news, release, close }
    } catch (error) {
      await journal.close()
      throw error
    }
  } catch (error) {
    release()
    throw error
  }
}

function logUnlocked(logger: DaemonLogger): (reason: string) => void {
  return (reason) => logger.log('warn', 'account.notHeld', { reason })
}

function passOver({ logger, timers }: OpeningAccount, whom: string): PassedOver {
  return {
    is: (by) => isHolder(whom, by),
    timers,
    onHeld: () => logger.log('info', 'account.held'),
  }
}

/**
 * Notes that a writer on another machine, which gave nothing back, may have cancelled orders
 * without a record.
 */
async function openAccountJournal(
  options: OpeningAccount,
  directory: string,
): Promise<{ readonly journal: OpenedJournal; readonly whom: string | undefined }> {
  const { loaded, clock, machineClock, logger, journalPassword: password } = options
  if (password) logger.hide(password)
  const { config } = loaded
  const standby = options.standby && (await standBy(options, options.standby, directory))
  let journal: OpenedJournal
  try {
    journal = await openJournal({
      ...options,
      config,
      directory,
      password,
      clock: machineClock,
      following: standby?.following,
      own: isEmbedded(config) ? undefined : ownWriterOf(options, directory),
      keepSince: () => clock.now() - RECORDS_KEPT_MS,
      keepKeysSince: () => clock.now() - KEYS_KEPT_MS,
    })
  } finally {
    await standby?.end()
  }
  const whom = standby?.whom()
  const differs = standby?.differs() ?? []
  const abandoned = journal.lease?.isAbandoned === true
  if (abandoned) retreatNote(directory, logger).leave()
  if (whom !== undefined && !isHolder(whom, describeHolder(config.name, clock.now())))
    logger.log(abandoned ? 'warn' : 'info', 'standby.tookOver', {
      ...(whom && { from: whom }),
      abandoned,
      ...(differs.length > 0 && { differs }),
    })
  return { journal, whom }
}

function ownWriterOf(
  { loaded, credentials, clock }: OpeningAccount,
  directory: string,
): JournalWriter {
  const { config } = loaded
  return ownWriter(config, { directory, access: accessTo(config, credentials), now: clock.now() })
}

async function standBy(
  options: OpeningAccount,
  frame: StandbyFrame,
  directory: string,
): Promise<Standby> {
  const { startStandby } = await import('./standby.ts')
  const { loaded, journalPassword: password } = options
  return startStandby({ ...options, config: loaded.config, password, directory, frame })
}

/** @throws Failure STATE_OLDER_THAN_EXCHANGE if an earlier run detected it */
function assertNotOlder(book: Book): void {
  const restriction = restrictionOf(book, ACCOUNT, 'olderState')
  if (restriction !== undefined) throw stateOlder(restriction.reason)
}

/**
 * A standby that has the lease is the only one to watch the account, so it goes on with the capital
 * of the last run.
 * @throws ConfigError if another `account.capital` alone would have everything closed at a start
 */
function withJudgedCapital(
  { loaded, logger, clock, standby }: OpeningAccount,
  { journal, book, settings }: JudgedAccount,
): EngineSettings {
  const judged = judgeOtherCapital({ book, settings }, journal, clock.now())
  if (judged === undefined) return settings
  const { change, found, refusal } = judged
  const [was, is] = [change.was.toString(), change.is.toString()]
  if (refusal === undefined) {
    logger.log('warn', 'capital.changed', { was, is, reason: found })
    return settings
  }
  if (standby === undefined)
    throw new ConfigError([loaded.documents.main.problem(['account', 'capital'], refusal)])
  logger.log('error', 'capital.kept', { was, is, reason: found })
  return { ...settings, capital: change.was }
}

function settingsOf(
  { loaded, version, strategies, accounts, logger }: OpeningAccount,
  state: AccountState,
): EngineSettings {
  const { directory, journal, embedded } = state
  const configured = toEngineSettings(loaded.config, {
    salt: journal.salt,
    version,
    embedded: embedded !== undefined,
    accounts,
    shown: showSettingsOf(strategies),
  })
  // Orders that were cancelled without a record may be gone, whatever the book says.
  if (!hasRetreated(directory)) return configured
  logger.log('info', 'retreat.found', { onRestart: loaded.config.onRestart })
  return { ...configured, onRestart: 'cancel', hasRetreated: true }
}

function withStatedRules(
  settings: EngineSettings,
  { universes }: Book,
  contracts: LoadedConfig['contracts'],
): EngineSettings {
  if (settings.roster === undefined || contracts === undefined) return settings
  const members = new Set([...universes.values()].flatMap((kept) => Object.keys(kept.members)))
  if (members.size === 0) return settings
  const stated = new Map([...contracts].filter(([symbol]) => members.has(symbol)))
  return { ...settings, roster: { ...settings.roster, stated } }
}

async function embed(
  options: OpeningAccount,
  directory: string,
): Promise<EmbeddedExchange | undefined> {
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

function assertAccess(
  config: DaemonConfig,
  credentials: ApiCredentials | undefined,
): ExchangeAccess {
  const access = accessTo(config, credentials)
  if (access !== undefined) return access
  throw new Failure({
    code: 'DAEMON_EXCHANGE_MISSING',
    sentence: 'there is no exchange to trade on',
    hint: 'set exchange.baseUrl and the credentials, or environment: simulator with a simulator section',
  })
}

function hideSecrets(logger: DaemonLogger, { credentials }: ExchangeAccess): void {
  for (const secret of [credentials.apiKey, credentials.secret, credentials.passphrase])
    logger.hide(secret)
}
