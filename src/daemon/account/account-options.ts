import type { DaemonConfig, GivenChanges } from '../../config/load-config.ts'
import type { Book } from '../../engine/book/book.ts'
import type { EngineSettings } from '../../engine/settings.ts'
import type { ExchangeAccess } from '../../exchange/client/exchange-access.ts'
import type { TrustedClock } from '../../exchange/clock/trusted-clock.ts'
import type { OpenedJournal } from '../../journal/journal.ts'
import type { Timers } from '../../lib/timers.ts'
import type { ProductMarket } from '../market-data/product-market.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import type { ExchangeLedger } from '../../views/summary.ts'
import type { LoadedStrategy, Runners } from '../../assembly/strategies/strategies.ts'
import type { StrategyWatch } from './account-ports.ts'
import type { ExchangeCalls } from '../../assembly/account/exchange-calls.ts'

/** What an account is made of. */
export interface AccountOptions {
  readonly config: DaemonConfig
  /** With which it was loaded; absent: with none. */
  readonly given?: GivenChanges | undefined
  readonly settings: EngineSettings
  readonly strategies: readonly LoadedStrategy[]
  /** Of each of them; closed with the account. */
  readonly runners: Runners
  readonly journal: OpenedJournal
  /** Rebuilt from the journal. */
  readonly book: Book
  /** Of this state: where the journal is. */
  readonly directory: string
  readonly access: ExchangeAccess
  /** Of this account alone; closed with it. */
  readonly calls: ExchangeCalls
  readonly market: Pick<ProductMarket, 'listen' | 'polls' | 'tickers'>
  readonly logger: DaemonLogger
  /** Our clock, which never jumps, and the exchange's. */
  readonly trusted: TrustedClock
  readonly timers: Timers
  /** How many accounts the daemon has: they call from one address. */
  readonly accounts: number
  /** Hears whose code runs. */
  readonly watchdog?: StrategyWatch | undefined
  /** Absent where the exchange does not show its books. */
  readonly ledger?: (() => ExchangeLedger) | undefined
  /** A stop has come so far that only the last readings are missing. */
  readonly onQuiesced?: () => void
  /** The journal is closed: another daemon may take the state over. */
  readonly onClosed: () => void
  /** Hears how far it is with a kill. */
  readonly onKillNoted?: ((state: 'seen' | 'clean' | 'released') => void) | undefined
}
