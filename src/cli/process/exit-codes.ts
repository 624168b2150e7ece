import { ConfigError, EXIT_CONFIG } from '../../config/yaml/problem.ts'
import { Failure } from '../../lib/failure.ts'
import { STRATEGY_FAILURES } from '../../strategy/strategy-failure.ts'

/**
 * Exit codes of sysexits.h, by which a supervisor decides: 78 (with 64, 65 and 66) means that no
 * restart helps.
 */
export const EXITS = {
  usage: 64,
  /** A malformed file of prices or recording. */
  inputWrong: 65,
  /** A named file is missing or unreadable. */
  inputMissing: 66,
  broken: 70,
  /** The output cannot be created. */
  cannotCreate: 73,
  temporary: 75,
  configuration: EXIT_CONFIG,
  /** Not in sysexits.h: a loop of the daemon did not return. */
  hung: 79,
} as const

type Ending = keyof typeof EXITS

/** All codes of a {@link Failure}; a missing code is a defect. */
const ENDINGS: Readonly<Partial<Record<Ending, readonly string[]>>> = {
  usage: [
    'ACCEPT_LIVE',
    'ACCEPT_SYMBOL_UNKNOWN',
    'ARCHIVE_EXISTS',
    'BACKUP_EXISTS',
    'BACKUP_INSIDE',
    'FEED_OTHER',
    'FEED_TWICE',
    'FEED_UNKNOWN',
    'FEED_UNUSED',
    'BACKTEST_DAYS_UNUSED',
    'BACKTEST_MARKET_MIXED',
    'BACKTEST_PRICES_OUTSIDE',
    'BACKTEST_RANGE_EMPTY',
    'SWEEP_PRICES_OUTSIDE',
    'SWEEP_TRIAL_UNKNOWN',
    'SWEEP_TOO_LARGE',
    'JOURNAL_COPY_BEHIND',
    'JOURNAL_COPY_KILLED',
    'JOURNAL_COPY_TAKEN',
    'JOURNAL_MIGRATE_COPY_EXISTS',
    'DOWNLOAD_BEGINS_LATER',
    'DOWNLOAD_EMPTY',
    'DOWNLOAD_OTHER_FILE',
    'DOWNLOAD_REFUSED',
    'IMPORT_EXISTS',
    'NEW_STRATEGY_EXISTS',
    'NEW_STRATEGY_NAME',
    'IMPORT_SYMBOLS_DIFFER',
    'IMPORT_MARKETS_DIFFER',
    'IMPORT_EXCHANGES_DIFFER',
    'IMPORT_SYMBOL_UNKNOWN',
    'INIT_NOT_EMPTY',
  ],
  // Causes in files, which another start finds again.
  configuration: [
    ...Object.keys(STRATEGY_FAILURES),
    'BACKTEST_HUNG',
    'BACKTEST_MEMORY',
    'BACKTEST_PRICES_MISSING',
    'BACKTEST_STRATEGY_HALTED',
    'CREDENTIALS_MISSING',
    'CREDENTIALS_REFUSED',
    'CALLS_FORBIDDEN',
    'CREDENTIALS_UNUSABLE',
    'STATE_GRIDS_CHANGED',
    'STATE_OF_OTHER_KEYS',
    'STATE_OLDER_THAN_EXCHANGE',
    'STATE_OF_OTHER_ACCOUNT',
    'DAEMON_EXCHANGE_MISSING',
    'EXCHANGE_URL_UNUSABLE',
    'JOURNAL_FOREIGN',
    'JOURNAL_COPY_NO_SERVER',
    'JOURNAL_COPY_UNFINISHED',
    'JOURNAL_LAYOUT_OLD',
    'JOURNAL_MOVED',
    'JOURNAL_NOT_COPIED',
    'JOURNAL_SERVER_OLD',
    'REKEY_UNPROVED',
    'REPAIR_ON_SERVER',
    'BACKUP_EMBEDDED',
    'BACKUP_ON_SERVER',
    'FLEET_IMPOSSIBLE',
    'HANDOVER_IMPOSSIBLE',
    'STANDBY_IMPOSSIBLE',
    'PARITY_CONFIG_OTHER',
    'PLATFORM_UNSUPPORTED',
    'MARKET_OPTION_INVALID',
    'RECORDING_SYMBOL_MISSING',
    'RECORDING_SYMBOL_TWICE',
    'RECORDING_SYMBOL_UNKNOWN',
    'RECORDING_BELOW_TICK',
    'REPLAY_INSTRUMENT_UNSEEN',
    'REPLAY_STRATEGY_UNKNOWN',
    'CONTROL_TOKEN_EXPOSED',
    'CONTROL_TOKEN_INVALID',
    'CONTROL_TOKEN_UNREADABLE',
    'CONTROL_TOKENS_EQUAL',
    'SIMULATOR_ACCOUNT_INVALID',
    'SIMULATOR_ACCOUNT_MISSING',
    'SIMULATOR_GRIDS_CHANGED',
    'SIMULATOR_MARKET_CHANGED',
    'SIMULATOR_PRODUCT_UNKNOWN',
    'SIMULATOR_POSITION_MODE_CHANGED',
    'SIMULATOR_SYMBOL_MISSING',
  ],
  // Causes that may pass: a resource is held by others, or the disk fails just now.
  temporary: [
    'CONTROL_READING_FAILED',
    'ACCOUNT_HELD',
    'ARCHIVE_UNWRITABLE',
    'JOURNAL_COPY_FAILED',
    'JOURNAL_COPY_UNKNOWN',
    'JOURNAL_FOLLOWED',
    'JOURNAL_HELD',
    'JOURNAL_LEASE_HELD',
    'JOURNAL_LEASE_LOST',
    'JOURNAL_MIGRATE_NO_ROOM',
    'JOURNAL_UNREACHABLE',
    'JOURNAL_UNREADABLE',
    'LIVE_PRICES_UNREACHABLE',
    'BACKTEST_STOPPED',
    'STANDBY_ENDED',
    'SWEEP_FILES_CHANGED',
    'SWEEP_QUEUE_UNREACHABLE',
    'ACCOUNT_MOVES',
    'EXCHANGE_UNCLEAR',
    'DOWNLOAD_INTERRUPTED',
    'IMPORT_UNWRITABLE',
    'INIT_UNWRITABLE',
    'STATE_HELD',
    'STATE_UNWRITABLE',
    'SIMULATOR_LISTEN_FAILED',
    'SIMULATOR_STORE_UNUSABLE',
  ],
  hung: ['LOOP_HUNG'],
  cannotCreate: ['ACCEPT_UNLOCKED', 'BACKUP_UNWRITABLE', 'REPORT_UNWRITABLE', 'SWEEP_UNWRITABLE'],
  inputMissing: [
    'ARCHIVE_NO_JOURNAL',
    'EXPLAIN_NO_JOURNAL',
    'JOURNAL_COPY_NOTHING',
    'RECORDING_MISSING',
    'RECORDING_UNREADABLE',
    'FEED_UNREADABLE',
    'REPORT_UNREADABLE',
    'SIMULATOR_STORE_FOLDER',
    'STATE_NEVER_RAN',
  ],
  inputWrong: [
    'DOWNLOAD_DIFFERS',
    'RECORDING_FUNDING_RATE',
    'RECORDING_FUNDING_TIMES',
    'RECORDING_CANDLE_IMPOSSIBLE',
    'RECORDING_DAMAGED',
    'RECORDING_EMPTY',
    'RECORDING_FORMAT_UNKNOWN',
    'RECORDING_GZIP_DAMAGED',
    'RECORDING_GZIP_TRUNCATED',
    'RECORDING_HEADER_UNKNOWN',
    'RECORDING_NOT_GZIP',
    'RECORDING_NOT_NUMERIC',
    'RECORDING_NO_RECORDING',
    'RECORDING_PRICE_NOT_POSITIVE',
    'RECORDING_PRICE_TOO_HIGH',
    'RECORDING_QUOTE_CROSSED',
    'RECORDING_ROW_LENGTH',
    'RECORDING_TIME_ORDER',
    'RECORDING_TIME_UNIT',
    'FEED_DAMAGED',
    'IMPORT_JSON_UNREADABLE',
    'IMPORT_SHAPE_UNKNOWN',
    'IMPORT_VOLUME_UNCLEAR',
    'IMPORT_TRADES_IMPOSSIBLE',
    'IMPORT_ZONE_UNKNOWN',
    'IMPORT_FUNDING_PERCENT',
    'IMPORT_FUNDING_TIME',
    'FUNDING_UNREADABLE',
    'IMPORT_INTERVAL_DIFFERS',
    'IMPORT_STAMPS_DIFFER',
    'IMPORT_FUNDING_RATE',
    'IMPORT_FUNDING_PREDICTED',
    'IMPORT_COLUMNS_DIFFER',
    'IMPORT_INTERVAL_MONTHS',
    'IMPORT_INTERVAL_UNKNOWN',
    'RECORDING_INTERVAL_UNKNOWN',
    'RECORDING_INTERVAL_CHANGES',
    'RECORDING_SYMBOLS_DIFFER',
    'RECORDING_TIME_CLOSE',
    'SIMULATOR_STORE_CORRUPT',
    'SIMULATOR_STORE_FOREIGN',
    'RECORDING_ZIP_DAMAGED',
    'RECORDING_ZIP_UNSUPPORTED',
    'PRICES_DAMAGED',
    'PRICES_TRUNCATED',
    'PRICES_VERSION_UNKNOWN',
    'RECORDING_TOO_LARGE',
  ],
  broken: [
    'ENGINE_INSTRUMENT_UNKNOWN',
    'JOURNAL_CORRUPT',
    'JOURNAL_LAYOUT_UNKNOWN',
    'JOURNAL_MARK_DAMAGED',
    'JOURNAL_POISONED',
    'JOURNAL_REPAIR_UNFINISHED',
    'JOURNAL_TAIL_LOST',
    'SIMULATOR_UNKNOWN',
    'SIMULATOR_COIN_UNKNOWN',
    'SIMULATOR_STORE_DAMAGED',
    'SIMULATOR_STORE_UNWRITABLE',
    'SIMULATOR_STORE_VERSION',
    'SIMULATOR_WALLET_SHORT',
  ],
}

const ENDING_OF: ReadonlyMap<string, Ending> = new Map(
  Object.entries(ENDINGS).flatMap(([ending, codes]) =>
    codes.map((code) => [code, ending as Ending] as const),
  ),
)

export function endingOf(code: string): Ending | undefined {
  return ENDING_OF.get(code)
}

/**
 * Exit code for several accounts: if a restart may help one of them, the supervisor should restart.
 */
export function exitOfAll(errors: readonly unknown[]): number {
  const codes = errors.map(exitOf)
  return codes.find((code) => code !== EXITS.configuration) ?? EXITS.configuration
}

export function exitOf(error: unknown): number {
  if (error instanceof ConfigError) return EXITS.configuration
  return EXITS[(error instanceof Failure && endingOf(error.code)) || 'broken']
}
