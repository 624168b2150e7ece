import type { ContractRules } from '../domain/contract-rules.ts'
import type { StrategyId } from '../domain/ids.ts'
import { type Book, createBook } from '../engine/book/book.ts'
import type { Equity } from '../domain/loss-limits.ts'
import type { Announcement } from '../engine/effect.ts'
import type { StopPolicy } from '../engine/event.ts'
import type { Engine } from '../engine/engine.ts'
import type { EngineSettings } from '../engine/settings.ts'
import type { EndpointStatistics } from '../exchange/limiter/endpoint-queue.ts'
import type { JournalPort, RunListener } from '../interpreter/ports.ts'
import type { ExchangeCore } from '../simulator/futures/exchange-core.ts'
import type { LedgerStatement } from '../simulator/futures/accounts/ledger-view.ts'
import { DirectExchange, type DirectExchangeOptions, UID } from './direct-exchange.ts'
import { MemoryJournal } from './memory-journal.ts'
import { DirectNetwork } from './network.ts'
import type { PlayedFeed } from './played-feeds.ts'
import {
  type VirtualEnvironment,
  VirtualAccount,
  type VirtualLimits,
  type VirtualStrategy,
} from './virtual-account.ts'
import type { VirtualPolling } from './virtual-pollers.ts'
import { VirtualTime } from './virtual-time.ts'

export interface BacktestOptions {
  /** The exchange's market begins. */
  readonly startAt: number
  /** Its only account is {@link UID}. */
  readonly core: ExchangeCore
  readonly settings: EngineSettings
  readonly strategies: ReadonlyMap<StrategyId, VirtualStrategy>
  readonly polling: VirtualPolling
  readonly feeds?: readonly PlayedFeed[]
  readonly contracts?: ReadonlyMap<string, ContractRules>
  /** Between us and the exchange, one way. */
  readonly latencyMs: number
  readonly exchange?: DirectExchangeOptions
  readonly limits?: VirtualLimits
  readonly listener?: RunListener
  /** As a daemon would log. */
  readonly onAnnounced?: (announcement: Announcement) => void
  /** Default: in memory, durable at once. */
  readonly createJournal?: (time: VirtualTime) => JournalPort
}

const PAGE_FILLS = 100

/** A stop has its own patience; this only ends a backtest. */
const STOP_MS_MAX = 3_600_000

/** Nothing goes wrong, and events reach the run at once. */
const UNDISTURBED: Pick<VirtualEnvironment, 'gate' | 'isKilled' | 'retreatNote'> = {
  gate: { isStill: false, enter: (happens) => happens(), settle: (happens) => happens() },
  isKilled: () => false,
  // No next run could believe this one's book.
  retreatNote: { leave: () => true, forget: () => undefined },
}

/**
 * The daemon's core on the simulated exchange, in virtual time and without I/O: the same options
 * give the same run to the byte.
 *
 *     new ──run()──► running ──stop()──► stopped
 */
export class Backtest {
  readonly #time: VirtualTime
  readonly #options: BacktestOptions
  readonly #account: VirtualAccount
  /** Undefined before the stop. */
  #stopped: boolean | undefined
  #isStarted = false

  constructor(options: BacktestOptions) {
    const { startAt, core, settings, latencyMs, strategies, polling, limits, feeds } = options
    const { contracts } = options
    const time = new VirtualTime(startAt)
    this.#time = time
    this.#options = options
    this.#account = new VirtualAccount({
      time,
      settings,
      strategies,
      polling,
      limits,
      feeds,
      contracts,
      clock: time.clock,
      exchange: new DirectExchange(core, () => time.now, options.exchange),
      network: new DirectNetwork(time, latencyMs),
      book: createBook(settings.positionMode),
      journal: options.createJournal?.(time) ?? new MemoryJournal(settings.salt),
      pageFills: PAGE_FILLS,
      hasPreviousRun: false,
      surroundings: this.#surround(options.listener ?? {}),
    })
  }

  /** Exchange clock. */
  get now(): number {
    return this.#time.now
  }

  get limiter(): readonly EndpointStatistics[] {
    return this.#account.limiter
  }

  /** As strategies, limits and status have it. */
  get equity(): Equity | undefined {
    return this.#account.engine.equity
  }

  /** For reading only. */
  get engine(): Engine {
    return this.#account.engine
  }

  get book(): Book {
    return this.#account.engine.book
  }

  get ledger(): LedgerStatement {
    return this.#options.core.ledger(UID)
  }

  /** @throws whatever broke the run */
  run(forMs: number): void {
    if (!this.#isStarted) this.#account.start()
    this.#isStarted = true
    this.#time.runUntil(this.#time.now + forMs)
  }

  /** As a daemon stops; false if what rests or is held could not be proved. */
  stop(policy: StopPolicy): boolean {
    this.#account.dispatch({ kind: 'commanded', command: { kind: 'stop', policy } })
    this.#time.runUntil(this.#time.now + STOP_MS_MAX, () => this.#stopped !== undefined)
    return this.#stopped === true
  }

  #surround(listener: RunListener): VirtualEnvironment {
    const { onAnnounced } = this.#options
    return {
      ...UNDISTURBED,
      listener,
      announcements: {
        ...(onAnnounced && { announce: onAnnounced }),
        killState: () => undefined,
        stopped: (clean) => {
          this.#stopped = clean
          this.#account.end()
        },
        broken: (error) => {
          throw error
        },
      },
    }
  }
}
