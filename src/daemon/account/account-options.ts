import type { DaemonConfig, GivenChanges } from '../../config/load-config.ts'
import type { Book } from '../../engine/book/book.ts'
import type { EngineSettings } from '../../engine/settings.ts'
import type { BeyondCaller } from '../../exchange/readers/candles-reader.ts'
import type { ExchangeAccess } from '../../exchange/client/request-writer.ts'
import type { TrustedClock } from '../../exchange/clock/exchange-clock.ts'
import type { OpenedJournal } from '../../journal/journal.ts'
import type { Timers } from '../../lib/timers.ts'
import type { ClosedTradeLog } from '../reporting/closed-trade-log.ts'
import type { ProductMarket } from '../market-data/market-data.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import type { ExchangeLedger } from '../../views/summary.ts'
import type { LoadedStrategy, Runners } from '../../assembly/strategies/strategies.ts'
import type { StrategyWatch } from '../watchdog/watchdog.ts'
import type { ExchangeCalls } from '../../assembly/account/exchange-calls.ts'

export interface AccountOptions {
  readonly config: DaemonConfig
  readonly given?: GivenChanges | undefined
  readonly settings: EngineSettings
  readonly strategies: readonly LoadedStrategy[]
  readonly runners: Runners
  readonly journal: OpenedJournal
  readonly book: Book
  readonly directory: string
  readonly access: ExchangeAccess
  readonly calls: ExchangeCalls
  readonly market: Pick<ProductMarket, 'listen' | 'polls' | 'tickers'>
  readonly logger: DaemonLogger
  readonly trusted: TrustedClock
  readonly timers: Timers
  /** On one address. */
  readonly accounts: number
  readonly watchdog?: StrategyWatch | undefined
  /** Its candles before the start; absent: the exchange's own. */
  readonly past?: BeyondCaller | undefined
  /** Absent if the exchange does not show its books. */
  readonly ledger?: (() => ExchangeLedger) | undefined
  /** Absent where nobody asks for closed trades. */
  readonly tradeLog?: Pick<ClosedTradeLog, 'observe'> | undefined
  readonly onQuiesced?: () => void
  readonly onClosed: () => void
  readonly onKillNoted?: ((state: 'seen' | 'clean' | 'released') => void) | undefined
}
