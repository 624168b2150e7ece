import type { VanishedPrice } from './data-ages.ts'
import type { AccountStatusView } from '../control/views.ts'
import type { DaemonConfig } from '../config/load-config.ts'
import type { PositionReading } from '../domain/position.ts'
import type { TickerTable } from '../domain/ticker-table.ts'
import type { Book } from '../engine/book/book.ts'
import type { Engine } from '../engine/engine.ts'
import type { EngineSettings } from '../engine/settings.ts'
import type { TrustedClock } from '../exchange/clock/exchange-clock.ts'
import type { EndpointStatistics } from '../exchange/limiter/endpoint-queue.ts'
import type { InstrumentSteps } from '../domain/instrument.ts'
import type { RecentActivity } from './recent-activity.ts'
import type { RetreatEnd } from '../interpreter/retreat.ts'
import type { RunStatistics } from './run-statistics.ts'
import type { JournalPace } from './journal-pace.ts'
import type { StrategyWait } from '../domain/strategy-wait.ts'

export interface StoredPrice {
  readonly price: number
  readonly at: number
}

export interface UnopenedAccount {
  readonly config: Pick<DaemonConfig, 'name' | 'file'>
  readonly error: unknown
}

export interface ShownAccount {
  readonly config: DaemonConfig
  readonly settings: EngineSettings
  readonly book: Book
  readonly sequence: number
  readonly engine: Engine
  readonly trusted: TrustedClock
  readonly grids: ReadonlyMap<string, InstrumentSteps>
  readonly state: 'new' | 'begun' | 'atRest'
  /** Unix ms; absent for a journal at rest. */
  readonly openedAt?: number
  readonly fatal: unknown
  /** How a broken run has ended; undefined while its retreat goes on. */
  readonly retreat?: RetreatEnd | undefined
  readonly tickers: TickerTable | undefined
  readonly storedPrices?: ReadonlyMap<string, StoredPrice>
  readonly vanished?: ReadonlyMap<string, VanishedPrice>
  /** Named as in `read.failed`. */
  readonly failingReads?: readonly string[]
  readonly late?: readonly string[]
  readonly positions: ReadonlyMap<string, PositionReading>
  readonly limiter: readonly EndpointStatistics[]
  readonly statistics: RunStatistics
  readonly journalTrouble: string | undefined
  readonly pace: Pick<JournalPace, 'waits' | 'batchesLate' | 'late'>
  readonly recent: RecentActivity
  /** Absent, like `paused`, for a journal at rest. */
  readonly wishes?: {
    readonly since: (pair: string) => number | undefined
    readonly waitsOf: (strategyId: string) => readonly StrategyWait[]
  }
  readonly equityBefore?: AccountStatusView['equityBefore']
  /** Keyed by strategy, until its thread restarts. */
  readonly paused: ReadonlyMap<string, string>
}

export function describeOff(why: string): string {
  return `it is off until the daemon is reloaded or started again and finds that mended: ${why}`
}
