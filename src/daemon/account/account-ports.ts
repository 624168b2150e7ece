import type { GivenChanges } from '../../config/load-config.ts'
import type { BeyondCaller } from '../../exchange/readers/candles-reader.ts'
import type { ProductMarket } from '../market-data/market-data.ts'
import type { ExchangeLedger } from '../../views/summary.ts'
import type { ExchangeCalls } from '../../assembly/account/exchange-calls.ts'
import type { OpenAccount } from '../../assembly/account/open-account.ts'
import type { StrategyId } from '../../domain/ids.ts'
import type { Limiter } from '../../exchange/limiter/limiter.ts'
import type {
  AnnouncementsPort,
  DecidingStrategy,
  Ports,
  ExchangePort,
  OnAnswer,
} from '../../interpreter/ports.ts'
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
import {
  type Answer,
  DRY_RUN_CODE,
  isForbidden,
  type RefusedAnswer,
  refusesKeys,
  type UnknownAnswer,
} from '../../domain/answer.ts'
import type { FillsReading } from '../../domain/fill.ts'
import type { Instrument } from '../../domain/instrument.ts'
import type { ListedExits, PositionReading } from '../../domain/position.ts'
import type { OutgoingCall } from '../../engine/effect.ts'
import type { EngineSettings } from '../../engine/settings.ts'
import type { ExchangeClient } from '../../exchange/exchange-client.ts'
import type { CallOptions } from '../../exchange/client/request-writer.ts'
import type { Clock } from '../../lib/clock.ts'
import type { CallableName, ResponseOf } from '../../protocol/endpoints.ts'
import type { BatchResult } from '../../protocol/values.ts'

export interface AccountOptions extends Omit<OpenAccount, 'setup' | 'close'> {
  readonly given?: GivenChanges | undefined
  readonly calls: ExchangeCalls
  readonly market: Pick<ProductMarket, 'listen' | 'polls' | 'tickers'>
  readonly watchdog?: StrategyWatch | undefined
  /** Answers candles from before the start; absent: the exchange itself does. */
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
  readonly exchange: ClientExchange
  readonly killSwitch: KillSwitch
  readonly observers: ObserverQueue
  readonly eventLog: EventLog
  readonly statistics: RunStatistics
  readonly pace: JournalPace
  readonly recent: RecentActivity
  readonly wishes: Pick<WishTimes, 'observe'>
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
        // It compares the holdings before and after this record.
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
 * Logs, statistics and views of an account learn what happened in its order, after the turn in which
 * it happened: an order leaves in that turn and waits for none of them.
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

  /** It must be called before anything is read from an observer, and at the end of a run. */
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

/** Shorter refusals are not logged. */
const SAID_AFTER_MS = 3000

export interface ClientExchangeOptions {
  readonly client: Pick<ExchangeClient, 'send' | 'readFills' | 'readPosition' | 'listExits'>
  readonly settings: Pick<EngineSettings, 'productType' | 'positionMode' | 'instruments'>
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
  /** It is reported once until a call is accepted again. */
  readonly onRefused: (answer: RefusedAnswer | UnknownAnswer) => void
  readonly onWithheld?: ((endpoint: CallableName, body: string) => void) | undefined
  readonly onBroken: (error: unknown) => void
}

interface WithheldCall {
  readonly endpoint: CallableName
  readonly body: string
  readonly onWithheld: (endpoint: CallableName, body: string) => void
}

export class ClientExchange implements ExchangePort {
  readonly #options: ClientExchangeOptions
  /** Monotonic ms: since then calls are refused, and none was accepted. */
  #refusedSince: number | undefined
  #isRefusalSaid = false
  readonly #inFlight = new Set<Promise<void>>()
  readonly positions = new Map<string, PositionReading>()

  constructor(options: ClientExchangeOptions) {
    this.#options = options
  }

  placeBatch(body: string, options: CallOptions, onAnswer: OnAnswer<BatchResult>): void {
    this.#send('batchPlaceOrder', body, options, onAnswer)
  }

  cancelAll(body: string, options: CallOptions, onAnswer: OnAnswer<BatchResult>): void {
    this.#send('cancelAllOrders', body, options, onAnswer)
  }

  callAccount(
    { endpoint, body }: Pick<OutgoingCall, 'endpoint' | 'body'>,
    options: CallOptions,
    onAnswer: OnAnswer<unknown>,
  ): void {
    this.#send(endpoint, body, options, onAnswer)
  }

  readFills(sinceAt: number, onAnswer: OnAnswer<FillsReading>): void {
    const { client, settings } = this.#options
    const { productType, positionMode, instruments } = settings
    this.#read(client.readFills({ productType, positionMode, instruments, sinceAt }), onAnswer)
  }

  readPosition(symbol: string, onAnswer: OnAnswer<PositionReading>): void {
    const { client } = this.#options
    this.#read(client.readPosition({ instrument: this.#instrument(symbol) }), (answer) => {
      if (answer.kind === 'accepted') this.positions.set(symbol, answer.data)
      onAnswer(answer)
    })
  }

  listExits(symbol: string, onAnswer: OnAnswer<ListedExits>): void {
    const { client } = this.#options
    this.#await(client.listExits({ instrument: this.#instrument(symbol) }), onAnswer)
  }

  async idle(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight)
  }

  #instrument(symbol: string): Instrument {
    const instrument = this.#options.settings.instruments.get(symbol)
    if (!instrument) throw new Error(`${symbol} is not traded here`)
    return instrument
  }

  #read<Data>(call: Promise<Answer<Data>>, then: OnAnswer<Data>): void {
    this.#await(call, (answer) => {
      if (refusesKeys(answer) || isForbidden(answer)) this.#noteRefusal(answer)
      this.#noteAccepted(answer)
      then(answer)
    })
  }

  #noteRefusal(answer: RefusedAnswer | UnknownAnswer): void {
    const { clock, onRefused } = this.#options
    const now = clock.monotonic()
    this.#refusedSince ??= now
    if (this.#isRefusalSaid || now - this.#refusedSince < SAID_AFTER_MS) return
    this.#isRefusalSaid = true
    onRefused(answer)
  }

  #noteAccepted({ kind }: Answer<unknown>): void {
    if (kind !== 'accepted') return
    this.#refusedSince = undefined
    this.#isRefusalSaid = false
  }

  #send<Name extends CallableName>(
    endpoint: Name,
    body: string,
    options: CallOptions,
    onAnswer: OnAnswer<ResponseOf<Name>>,
  ): void {
    const { client, onWithheld } = this.#options
    const sent = onWithheld
      ? Promise.resolve(this.#withhold({ endpoint, body, onWithheld }, options))
      : client.send({ endpoint, body, query: '' }, options)
    this.#await(sent, (answer) => {
      this.#noteAccepted(answer)
      onAnswer(answer)
    })
  }

  /** A dry run refuses as an exchange would: limits are used, and refused intents back off. */
  #withhold(
    { endpoint, body, onWithheld }: WithheldCall,
    { grant, beforeWrite }: CallOptions,
  ): RefusedAnswer {
    const objection = beforeWrite?.()
    if (objection === undefined) onWithheld(endpoint, body)
    grant?.release()
    const receivedAt = this.#options.clock.now()
    const refused = { kind: 'refused', topic: 'dryRun', status: undefined, receivedAt } as const
    return objection === undefined
      ? { ...refused, class: 'definite', code: DRY_RUN_CODE, message: 'a dry run sends nothing' }
      : { ...refused, class: 'notSent', code: 'ABORTED', message: objection }
  }

  #await<Data>(call: Promise<Answer<Data>>, then: OnAnswer<Data>): void {
    const done: Promise<void> = call
      .then(then)
      .catch(this.#options.onBroken)
      .finally(() => this.#inFlight.delete(done))
    this.#inFlight.add(done)
  }
}
