import type { DaemonConfig, LoadedConfig } from '../../config/load-config.ts'
import type { ApiCredentials } from '../../config/secrets.ts'
import type { Book } from '../../engine/book/book.ts'
import type { EngineSettings } from '../../engine/settings.ts'
import type { ExchangeAccess } from '../../exchange/client/request-writer.ts'
import type { TrustedClock } from '../../exchange/clock/exchange-clock.ts'
import type { OpenedJournal } from '../../journal/journal.ts'
import type { Failure } from '../../lib/failure.ts'
import type { Secret } from '../../lib/secret.ts'
import type { Timers } from '../../lib/timers.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import type { LoadedStrategy, Runners } from '../strategies/strategies.ts'

/** The operator gives this for one account. A backtest needs no secrets. */
export interface AccountSetup {
  readonly loaded: LoadedConfig
  readonly credentials?: ApiCredentials | undefined
  readonly keysMissing?: Failure | undefined
  /** Absent for a journal in a file, or if the server identifies its users otherwise. */
  readonly journalPassword?: Secret | undefined
  readonly limitsPassword?: Secret | undefined
  readonly signalSecrets?: ReadonlyMap<string, Secret> | undefined
}

export interface OpenAccount {
  readonly setup: AccountSetup
  readonly config: DaemonConfig
  readonly settings: EngineSettings
  readonly strategies: readonly LoadedStrategy[]
  readonly runners: Runners
  readonly book: Book
  readonly journal: OpenedJournal
  readonly directory: string
  readonly access: ExchangeAccess
  readonly logger: DaemonLogger
  readonly trusted: TrustedClock
  readonly timers: Timers
  readonly accounts: number
  readonly close: () => Promise<void>
}
