import type { GivenChanges } from '../../config/load-config.ts'
import type { BeyondCaller } from '../../exchange/readers/candles-reader.ts'
import type { ProductMarket } from '../market-data/market-data.ts'
import type { ExchangeLedger } from '../../views/summary.ts'
import type { ExchangeCalls } from '../../assembly/account/exchange-calls.ts'
import type { OpenAccount } from '../../assembly/account/account-setup.ts'
import type { StrategyId } from '../../domain/ids.ts'
import type { Limiter } from '../../exchange/limiter/limiter.ts'
import type { AnnouncementsPort, DecidingStrategy, Ports } from '../../interpreter/ports.ts'
import type { Timers } from '../../lib/timers.ts'
import type { FlightRecorder } from '../recording/flight-recorder.ts'
import type { ClosedTradeLog } from '../reporting/closed-trade-log.ts'
import type { EventLog } from '../reporting/event-log.ts'
import type { Health } from '../reporting/health.ts'
import type { PlotLog } from '../reporting/account-curves.ts'
import type { RecentActivity } from '../../views/recent-activity.ts'
import type { RunStatistics } from '../../views/run-statistics.ts'
import type { JournalPace } from '../../views/journal-pace.ts'
import type { WishTimes } from '../../views/wishes.ts'
import type { SignalInbox } from './signal-inbox.ts'
import type { KillSwitch } from '../../assembly/state/kill-switch.ts'
import type { StrategyWatch } from '../watchdog/watchdog.ts'
import { retreatNote } from '../../assembly/state/retreat-note.ts'
import type { HttpExchangePort } from './http-exchange-port.ts'

export interface AccountOptions extends Omit<OpenAccount, 'setup' | 'close'> {
  readonly given?: GivenChanges | undefined
  readonly calls: ExchangeCalls
  readonly market: Pick<ProductMarket, 'listen' | 'polls' | 'tickers'>
  readonly watchdog?: StrategyWatch | undefined
  /** Answers for candles before the start; absent: the exchange itself does. */
  readonly past?: BeyondCaller | undefined
  /** Absent if the exchange does not show its books. */
  readonly ledger?: (() => ExchangeLedger) | undefined
  /** Absent where closed trades are not asked for. */
  readonly tradeLog?: Pick<ClosedTradeLog, 'observe'> | undefined
  readonly onQuiesced?: () => void
  readonly onClosed: () => void
  readonly onKillNoted?: ((state: 'seen' | 'clean' | 'released') => void) | undefined
}

export interface AccountParts
  extends
    Pick<
      AccountOptions,
      | 'runners'
      | 'journal'
      | 'book'
      | 'directory'
      | 'logger'
      | 'trusted'
      | 'timers'
      | 'tradeLog'
      | 'watchdog'
    >,
    Pick<AnnouncementsPort, 'quiesced' | 'stopped' | 'broken'> {
  readonly limiter: Limiter
  readonly exchange: HttpExchangePort
  readonly killSwitch: KillSwitch
  readonly observers: ObserverQueue
  readonly eventLog: EventLog
  readonly statistics: RunStatistics
  readonly pace: JournalPace
  readonly recent: RecentActivity
  readonly wishes: Pick<WishTimes, 'observe' | 'hearWaits'>
  readonly plots: Pick<PlotLog, 'hear'>
  readonly health: Health
  readonly signals: Pick<SignalInbox, 'hear'>
  readonly recorder: FlightRecorder | undefined
  readonly joined: () => void
}

/** Lets the watchdog name a strategy that never returns. */
function watched({ runners, watchdog }: AccountParts): Ports['strategies'] {
  if (watchdog === undefined) return runners
  const decideOf = (id: StrategyId, runner: DecidingStrategy): DecidingStrategy => ({
    decide(snapshot) {
      watchdog(id)
      const result = runner.decide(snapshot)
      watchdog(undefined)
      return result
    },
  })
  return new Map([...runners].map(([id, runner]) => [id, decideOf(id, runner)]))
}

export function createPorts(parts: AccountParts): Ports {
  const { book, trusted, killSwitch, observers, eventLog, statistics } = parts
  return {
    clock: trusted.clock,
    timers: parts.timers,
    journal: parts.journal,
    grants: parts.limiter,
    exchange: parts.exchange,
    safety: {
      isClockSynchronised: () => trusted.isSynchronised,
      isKilled: () => killSwitch.check(),
    },
    strategies: watched(parts),
    announcements: {
      announce: (announcement) =>
        observers.later(() => {
          eventLog.announce(announcement)
          parts.signals.hear(announcement)
        }),
      killState: (state) => killSwitch.note(state),
      quiesced: parts.quiesced,
      stopped: parts.stopped,
      broken: parts.broken,
    },
    retreatNote: retreatNote(parts.directory, parts.logger),
    listener: {
      stepped: (step) => {
        parts.recorder?.keep(step)
        const { event } = step
        observers.later(() => {
          eventLog.hear(event)
          parts.health.hear(event)
        })
      },
      recorded: (record) => {
        // The trade log compares the holdings before and after this record.
        parts.tradeLog?.observe(record, book)
        if (record.kind === 'universe' && record.joined.length > 0) parts.joined()
        observers.later(() => {
          statistics.observe(record, book)
          parts.recent.observe(record, book)
          parts.wishes.observe(record)
          eventLog.observe(record)
        })
      },
      decided: (intents) => observers.later(() => statistics.countIntents(intents)),
      waited: (strategyId, waits) =>
        observers.later(() => parts.wishes.hearWaits(strategyId, waits)),
      plotted: (strategyId, points) => observers.later(() => parts.plots.hear(strategyId, points)),
      batchDurable: (wait) => observers.later(() => parts.pace.hear(wait)),
      batchLeaves: (tickersReadAt) => {
        if (tickersReadAt === undefined) return
        statistics.decisionLatency.record(trusted.clock.monotonic() - tickersReadAt)
      },
    },
  }
}

/** A turn with more observations flushes before its end. */
const WAITING_MAX = 10_000

/**
 * Informs logs, statistics and views after the turn, so that an order waits for none of them
 * (ARCHITECTURE.md, "Interpreter and durability").
 */
export class ObserverQueue {
  readonly #timers: Timers
  readonly #onError: (error: unknown) => void
  #waiting: (() => void)[] = []

  constructor(timers: Timers, onError: (error: unknown) => void) {
    this.#timers = timers
    this.#onError = onError
  }

  later(observe: () => void): void {
    if (this.#waiting.length === 0) this.#timers.after(0, () => this.flush())
    if (this.#waiting.push(observe) >= WAITING_MAX) this.flush()
  }

  /** Must be called before an observer is read, and at the end of a run. */
  flush(): void {
    const due = this.#waiting
    if (due.length === 0) return
    this.#waiting = []
    for (const observe of due) {
      try {
        observe()
      } catch (error) {
        this.#onError(error)
      }
    }
  }
}
