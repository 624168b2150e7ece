import type { VanishedPrice } from './data-ages.ts'
import type { DaemonConfig } from '../config/load-config.ts'
import type { PositionReading } from '../domain/position.ts'
import type { TickerTable } from '../domain/ticker-table.ts'
import type { Book } from '../engine/book/book.ts'
import type { Engine } from '../engine/engine.ts'
import type { EngineSettings } from '../engine/settings.ts'
import type { TrustedClock } from '../exchange/clock/trusted-clock.ts'
import type { EndpointStatistics } from '../exchange/limiter/limiter-statistics.ts'
import type { InstrumentSteps } from '../domain/instrument.ts'
import type { RecentActivity } from './recent-activity.ts'
import type { RunStatistics } from './run-statistics.ts'
import type { JournalPace } from './journal-pace.ts'

/** A price of an earlier run, and of when it is, Unix ms. */
export interface StoredPrice {
  readonly price: number
  readonly at: number
}

/** An account that could not be opened, and why. */
export interface AccountOff {
  readonly config: Pick<DaemonConfig, 'name' | 'file'>
  readonly error: unknown
}

/** What of an account is shown to people and programs; nothing is changed through it. */
export interface ShownAccount {
  readonly config: DaemonConfig
  readonly settings: EngineSettings
  readonly book: Book
  readonly engine: Engine
  readonly trusted: TrustedClock
  readonly grids: ReadonlyMap<string, InstrumentSteps>
  readonly state: 'new' | 'begun' | 'atRest'
  readonly fatal: unknown
  /** The newest; undefined before the first. */
  readonly tickers: TickerTable | undefined
  /** The last prices that a journal at rest knows, by symbol. */
  readonly storedPrices?: ReadonlyMap<string, StoredPrice>
  /** By symbol: what the newest tickers lack and earlier ones had. */
  readonly vanished?: ReadonlyMap<string, VanishedPrice>
  /** These failed when they were read last, as `read.failed` names it. */
  readonly failingReads?: readonly string[]
  /** What has been read several times less often than it should be: `fills`, `positions`. */
  readonly late?: readonly string[]
  /** The last reading of each symbol. */
  readonly positions: ReadonlyMap<string, PositionReading>
  readonly limiter: readonly EndpointStatistics[]
  readonly statistics: RunStatistics
  /** Why the journal cannot be written just now. */
  readonly journalTrouble: string | undefined
  readonly pace: Pick<JournalPace, 'waits' | 'batchesLate' | 'late'>
  readonly recent: RecentActivity
  /** By strategy: why its thread was lost, until it begins anew. */
  readonly paused: ReadonlyMap<string, string>
}
