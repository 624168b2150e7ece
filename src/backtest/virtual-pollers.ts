import type { Answer } from '../domain/answer.ts'
import type { ContractRules } from '../domain/contract-rules.ts'
import { TickerTable } from '../domain/ticker-table.ts'
import type { EngineEvent } from '../engine/event.ts'
import type { TrustedClock } from '../exchange/clock/exchange-clock.ts'
import { accept, type Reply } from '../simulator/shared/reply.ts'
import type { SimulatedExchange } from './direct-exchange.ts'
import type { VirtualCall, SteadyWay, VirtualWire } from './virtual-wire.ts'
import type { FeedId, FeedReading } from '../domain/feed.ts'
import { nameOfSignal, type SignalValue } from '../domain/signal.ts'
import type { VirtualTime } from './virtual-time.ts'

/** The values may change, and are read before each wait. */
export interface VirtualPolling {
  readonly tickersMs: number
  readonly fillsMs: number
  readonly positionsMs: number
  readonly timeMs: number
  /**
   * While the core waits, it is told the time so long after an event, and then each time after
   * twice as long.
   */
  readonly waitingMs?: number
  /**
   * Replaces the intervals of fills and positions: they are read so long before each reading of the
   * tickers.
   */
  readonly beforeTickers?: { readonly fillsMs: number; readonly positionsMs: number }
  /** Unix ms, rising; replaces `tickersMs` from the first on. */
  readonly tickersAt?: readonly number[]
  /** Returns ms from now; replaces `tickersMs`. */
  readonly nextTickersMs?: (now: number) => number
}

export interface VirtualPollersOptions {
  readonly wire: VirtualWire
  readonly exchange: SimulatedExchange
  readonly polling: VirtualPolling
  /** Undefined: as many as an exchange may list. */
  readonly instruments: number | undefined
  readonly isOver: () => boolean
  readonly dispatch: (event: EngineEvent) => void
  readonly onTime: () => void
  readonly isWaiting: () => boolean
}

const OFFSET_REPEAT_MS = 1000

const TIME_PASSED: EngineEvent = { kind: 'timePassed' }
const FILLS_DUE: EngineEvent = { kind: 'pollDue', what: 'fills' }
const POSITIONS_DUE: EngineEvent = { kind: 'pollDue', what: 'positions' }

export class VirtualPollers {
  readonly #options: VirtualPollersOptions
  #hasBegun = false
  /** The last step of waiting in ms, and the virtual instant at which it ends. */
  #waitsMs = 0
  #waitsUntil = 0
  #nextTickersIndex = 0
  /** The offset that the core was told last, and when; our clock, 0 if it has to be told again. */
  #saidOffsetMs = 0
  #saidAt = 0
  #saidContracts: ReadonlyMap<string, ContractRules> | undefined
  /** The core reads this table; a table that it no longer reads is used again. */
  #shown: TickerTable | undefined
  readonly #spare: TickerTable[] = []
  readonly #steady: SteadyTickers | undefined
  readonly #onTickersDue = () => this.#readTickersAndScheduleNext()
  readonly #readFills = () => this.#poll(FILLS_DUE)
  readonly #readPositions = () => this.#poll(POSITIONS_DUE)

  constructor(options: VirtualPollersOptions) {
    this.#options = options
    const { wire, exchange } = options
    if (wire.steady === undefined) return
    const hear: TickersCallOptions['hear'] = (table, answer) => this.#takeTickers(table, answer)
    this.#steady = new SteadyTickers(wire, wire.steady, { exchange, hear })
  }

  start(): void {
    this.#readTickersAndScheduleNext()
  }

  #readTickersAndScheduleNext(): void {
    const { wire, exchange, polling, isOver } = this.#options
    if (isOver()) return
    const { time, trusted, network } = wire
    const table = this.#spare.pop() ?? new TickerTable(this.#options.instruments)
    table.readAt = 0
    if (this.#steady?.leave(table) !== true)
      network.send(new TickersCall({ trusted, exchange, table, hear: this.#hearTickers }))
    const nextMs = this.#untilNextRead()
    time.after(nextMs, this.#onTickersDue)
    const { beforeTickers } = polling
    if (beforeTickers === undefined) return
    time.after(nextMs - beforeTickers.positionsMs, this.#readPositions)
    time.after(nextMs - beforeTickers.fillsMs, this.#readFills)
  }

  #poll(due: EngineEvent): void {
    const { wire, isOver, dispatch } = this.#options
    if (this.#hasBegun && !isOver() && !wire.gate.isStill) dispatch(due)
  }

  #untilNextRead(): number {
    const { wire, polling } = this.#options
    const { tickersMs, tickersAt, nextTickersMs } = polling
    const { now } = wire.time
    if (nextTickersMs !== undefined) return nextTickersMs(now)
    if (tickersAt === undefined) return tickersMs
    while ((tickersAt[this.#nextTickersIndex] ?? Number.POSITIVE_INFINITY) <= now)
      this.#nextTickersIndex += 1
    const nextAt = tickersAt[this.#nextTickersIndex]
    const isListed =
      nextAt !== undefined && (this.#nextTickersIndex > 0 || nextAt - now < tickersMs)
    return isListed ? nextAt - now : tickersMs
  }

  /** A cancel-all due in a quarter of a second must not wait for the next minute. */
  noteStep({ kind }: EngineEvent): void {
    const { wire, polling, isWaiting } = this.#options
    const { waitingMs, timeMs } = polling
    if (waitingMs === undefined || !this.#hasBegun || !isWaiting()) return
    this.#waitsMs = kind === 'timePassed' ? 2 * this.#waitsMs : waitingMs
    const { now } = wire.time
    const until = now + Math.max(waitingMs, this.#waitsMs)
    if (until - now >= timeMs || (this.#waitsUntil > now && this.#waitsUntil <= until)) return
    this.#waitsUntil = until
    wire.time.after(until - now, () => {
      if (this.#waitsUntil === wire.time.now) this.#passTime()
    })
  }

  readonly #hearTickers = (table: TickerTable, answer: Answer<unknown>): void =>
    this.#options.wire.gate.enter(() => this.#takeTickers(table, answer))

  #takeTickers(table: TickerTable, answer: Answer<unknown>): void {
    if (answer.kind !== 'accepted') return
    const { dispatch, wire } = this.#options
    const { isSynchronised, isMeasured, offset, clock } = wire.trusted
    table.readAt = clock.now()
    table.requestTime = offset.fromPublic(answer.requestTime ?? 0)
    if (isSynchronised) this.#sayOffset(offset.offsetMs, table.readAt)
    else if (isMeasured)
      dispatch({ kind: 'clockSynchronised', offsetMs: offset.offsetMs, isPublic: true })
    else {
      this.#saidAt = 0
      dispatch({ kind: 'clockUnsynchronised', reason: 'not confirmed yet' })
    }
    if (!this.#hasBegun && !isMeasured) return
    if (!this.#hasBegun) this.#begin()
    this.#sayContracts()
    dispatch({ kind: 'snapshotTaken', tickers: table })
    if (this.#shown && wire.network.isFaithful) this.#spare.push(this.#shown)
    this.#shown = table
  }

  #sayContracts(): void {
    const { contracts } = this.#options.exchange
    if (contracts === undefined || contracts === this.#saidContracts) return
    this.#saidContracts = contracts
    this.#options.dispatch({ kind: 'contractsRead', contracts })
  }

  /** The core forgets the offset after a minute. */
  #sayOffset(offsetMs: number, now: number): void {
    if (offsetMs === this.#saidOffsetMs && now - this.#saidAt < OFFSET_REPEAT_MS) return
    this.#saidOffsetMs = offsetMs
    this.#saidAt = now
    this.#options.dispatch({ kind: 'clockSynchronised', offsetMs })
  }

  #begin(): void {
    this.#hasBegun = true
    this.#options.dispatch({ kind: 'started' })
    this.#every('timeMs', () => this.#passTime())
    if (this.#options.polling.beforeTickers !== undefined) return
    this.#every('fillsMs', this.#readFills)
    this.#every('positionsMs', this.#readPositions)
  }

  #passTime(): void {
    const { wire, isOver, onTime, dispatch } = this.#options
    if (isOver() || wire.gate.isStill) return
    onTime()
    dispatch(TIME_PASSED)
  }

  /** Runs that were due while the process stood still are not made up for. */
  #every(interval: 'timeMs' | 'fillsMs' | 'positionsMs', run: () => void): void {
    const { wire, polling, isOver } = this.#options
    const due = () => {
      if (isOver()) return
      if (!wire.gate.isStill) run()
      wire.time.after(polling[interval], due)
    }
    wire.time.after(polling[interval], due)
  }
}

/**
 * Does for tickers what {@link SteadyReading} does for other readings: it takes the places of time
 * that a {@link TickersCall} takes.
 */
class SteadyTickers {
  readonly #wire: VirtualWire
  readonly #ms: number
  readonly #options: Pick<TickersCallOptions, 'exchange' | 'hear'>
  #table: TickerTable | undefined
  /**
   * `#sentAt` is by our clock; `#requestTime` by the exchange's, 0 until the request has arrived.
   */
  #sentAt = 0
  #requestTime = 0

  constructor(
    wire: VirtualWire,
    { ms }: SteadyWay,
    options: Pick<TickersCallOptions, 'exchange' | 'hear'>,
  ) {
    this.#wire = wire
    this.#ms = ms
    this.#options = options
  }

  /** @returns false if another reading is on its way */
  leave(table: TickerTable): boolean {
    if (this.#table !== undefined) return false
    const { time, trusted } = this.#wire
    this.#table = table
    this.#sentAt = trusted.clock.now()
    this.#requestTime = 0
    time.after(this.#ms, this)
    return true
  }

  run(): void {
    const { time, trusted, gate } = this.#wire
    const table = this.#table
    if (table === undefined) return
    if (this.#requestTime === 0) {
      this.#requestTime = time.now
      this.#options.exchange.readTickers(table)
      return time.after(this.#ms, this)
    }
    const requestTime = this.#requestTime
    const receivedAt = trusted.clock.now()
    trusted.offset.observe({ requestTime, receivedAt, sentAt: this.#sentAt }, 'public')
    this.#table = undefined
    gate.enter(() =>
      this.#options.hear(table, { kind: 'accepted', data: undefined, requestTime, receivedAt }),
    )
  }
}

interface TickersCallOptions {
  readonly trusted: TrustedClock
  readonly exchange: SimulatedExchange
  readonly table: TickerTable
  readonly hear: (table: TickerTable, answer: Answer<unknown>) => void
}

const READ = accept(undefined)

class TickersCall implements VirtualCall<undefined> {
  readonly site = 'tickers'
  readonly trusted: TrustedClock
  readonly #exchange: SimulatedExchange
  readonly #table: TickerTable
  readonly #hear: TickersCallOptions['hear']
  #isHeard = false

  constructor({ trusted, exchange, table, hear }: TickersCallOptions) {
    this.trusted = trusted
    this.#exchange = exchange
    this.#table = table
    this.#hear = hear
  }

  /** The core's table stays unchanged, however often request and answer arrive. */
  perform(): Reply<undefined> {
    if (this.#table.readAt === 0) this.#exchange.readTickers(this.#table)
    return READ
  }

  hear(answer: Answer<undefined>): void {
    if (this.#isHeard) return
    this.#isHeard = true
    this.#hear(this.#table, answer)
  }
}

export interface PlayedFeed {
  readonly feed: FeedId
  /** Rising: the run is told of each reading at this instant. */
  readonly heardAt: readonly number[]
  reading(index: number): FeedReading
}

function toEvent(feed: FeedId, reading: FeedReading): EngineEvent {
  const { id, data } = reading
  if (id === undefined) return { kind: 'feedRead', feed, reading }
  return { kind: 'signalTaken', feed, id, value: data as SignalValue }
}

export interface PlayedEvent {
  readonly at: number
  readonly event: EngineEvent
}

export interface PlayedFeedsOptions {
  readonly feeds: readonly PlayedFeed[]
  readonly events: readonly PlayedEvent[]
  readonly time: VirtualTime
  readonly isOver: () => boolean
  readonly dispatch: (event: EngineEvent) => void
}

/**
 * Shows no reading before its instant. A run begins with the last reading before it, as a daemon
 * reads each feed when it starts.
 */
export function playFeeds({ feeds, events, time, isOver, dispatch }: PlayedFeedsOptions): void {
  const hearAtItsTime = (feed: PlayedFeed, index: number): void => {
    const at = feed.heardAt[index]
    if (at !== undefined) time.after(at - time.now, () => hear(feed, index))
  }
  const hear = (feed: PlayedFeed, index: number): void => {
    if (isOver()) return
    dispatch(toEvent(feed.feed, feed.reading(index)))
    hearAtItsTime(feed, index + 1)
  }
  for (const { at, event } of events)
    time.after(Math.max(0, at - time.now), () => {
      if (!isOver()) dispatch(event)
    })
  for (const feed of feeds) {
    // A signal comes when it is sent, so a run is shown none from before its start.
    const isSignal = nameOfSignal(feed.feed) !== undefined
    const known = isSignal ? -1 : feed.heardAt.findLastIndex((at) => at <= time.now)
    if (known >= 0) hear(feed, known)
    else hearAtItsTime(feed, isSignal ? firstAfter(feed, time.now) : 0)
  }
}

function firstAfter({ heardAt }: PlayedFeed, now: number): number {
  const index = heardAt.findIndex((at) => at > now)
  return index < 0 ? heardAt.length : index
}
