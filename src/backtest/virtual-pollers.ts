import type { Answer } from '../domain/answer.ts'
import { TickerTable } from '../domain/ticker-table.ts'
import type { EngineEvent } from '../engine/event.ts'
import type { SimulatedExchange } from './direct-exchange.ts'
import { onlyOnce } from './virtual-readings.ts'
import type { VirtualWire } from './virtual-wire.ts'

/** How often is looked, ms: asked before each wait. */
export interface VirtualPolling {
  readonly tickersMs: number
  readonly fillsMs: number
  readonly positionsMs: number
  readonly timeMs: number
  /** While the core waits for a moment, time passes so soon after each other event, then ever more seldom. Absent: as ever. */
  readonly waitingMs?: number
  /** So long before each read of the tickers, ms, and not every `fillsMs` and `positionsMs`. */
  readonly beforeTickers?: { readonly fillsMs: number; readonly positionsMs: number }
  /** Unix ms, rising: from the first of them on prices are asked for then, and not every `tickersMs`. */
  readonly tickersAt?: readonly number[]
}

export interface VirtualPollersOptions {
  readonly wire: VirtualWire
  readonly exchange: SimulatedExchange
  readonly polling: VirtualPolling
  /** Rows that a ticker table has. */
  readonly instruments: number
  readonly isOver: () => boolean
  readonly dispatch: (event: EngineEvent) => void
  /** Right before the core hears that time has passed. */
  readonly onTime: () => void
  /** Whether the core waits for a moment. */
  readonly isWaiting: () => boolean
}

/** How long an offset that has not changed is not said again. */
const OFFSET_SAID_MS = 1000

/** Everything that happens by itself in a run, as the daemon's pollers make it happen. */
export class VirtualPollers {
  readonly #options: VirtualPollersOptions
  #hasBegun = false
  /** How long the core was made to wait last, and until when it waits now; virtual ms. */
  #waitsMs = 0
  #waitsUntil = 0
  /** The next of `tickersAt`. */
  #nextRead = 0
  /** The offset of the exchange's clock that the core heard last, and when (Unix ms, our clock; 0 for not any more). */
  #saidOffsetMs = 0
  #saidAt = 0
  /** The table that the core looks at, and those that nobody does. */
  #shown: TickerTable | undefined
  readonly #spare: TickerTable[] = []

  constructor(options: VirtualPollersOptions) {
    this.#options = options
  }

  /** Reads the tickers, then again and again; the first reading with a synchronised clock begins the run. */
  start(): void {
    const { wire, exchange, isOver } = this.#options
    const { time, ends, network, gate } = wire
    if (isOver()) return
    const table = this.#takeTable()
    network.send({
      site: 'tickers',
      ourNow: ends.ourNow,
      onTime: ends.onTime,
      perform: () => {
        // What the core looks at stays what it was, however often the request arrives and its answer is heard.
        if (table.readAt === 0) exchange.readTickers(table)
        return { ok: true, data: undefined }
      },
      hear: onlyOnce((answer) => gate.enter(() => this.#takeTickers(table, answer))),
    })
    const nextMs = this.#untilNextRead()
    time.after(nextMs, () => this.start())
    this.#readAccountBefore(nextMs)
  }

  #readAccountBefore(nextMs: number): void {
    const { polling, wire } = this.#options
    const { beforeTickers } = polling
    if (beforeTickers === undefined) return
    wire.time.after(nextMs - beforeTickers.positionsMs, () => this.#readAccount('positions'))
    wire.time.after(nextMs - beforeTickers.fillsMs, () => this.#readAccount('fills'))
  }

  #readAccount(what: 'fills' | 'positions'): void {
    const { wire, isOver, dispatch } = this.#options
    if (this.#hasBegun && !isOver() && !wire.gate.isStill) dispatch({ kind: 'pollDue', what })
  }

  #untilNextRead(): number {
    const { wire, polling } = this.#options
    const { tickersMs, tickersAt = [] } = polling
    const { now } = wire.time
    while ((tickersAt[this.#nextRead] ?? Number.POSITIVE_INFINITY) <= now) this.#nextRead += 1
    const nextAt = tickersAt[this.#nextRead]
    const isListed = nextAt !== undefined && (this.#nextRead > 0 || nextAt - now < tickersMs)
    return isListed ? nextAt - now : tickersMs
  }

  /** The core has handled an event: a cancel-all that is due in a quarter of a second is not to wait for the next minute. */
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

  #takeTickers(table: TickerTable, answer: Answer<unknown>): void {
    if (answer.kind !== 'accepted') return
    const { dispatch, wire } = this.#options
    const { isSynchronised, offset, clock } = wire.trusted
    table.readAt = clock.now()
    table.requestTime = answer.requestTime ?? 0
    if (isSynchronised) this.#sayOffset(offset.offsetMs, table.readAt)
    else {
      this.#saidAt = 0
      dispatch({ kind: 'clockUnsynchronised', reason: 'not confirmed yet' })
    }
    if (!this.#hasBegun && !isSynchronised) return
    if (!this.#hasBegun) this.#begin()
    dispatch({ kind: 'snapshotTaken', tickers: table })
    if (this.#shown && wire.network.isFaithful) this.#spare.push(this.#shown)
    this.#shown = table
  }

  /** The core knows it for a minute: the same is said again long before that. */
  #sayOffset(offsetMs: number, now: number): void {
    if (offsetMs === this.#saidOffsetMs && now - this.#saidAt < OFFSET_SAID_MS) return
    this.#saidOffsetMs = offsetMs
    this.#saidAt = now
    this.#options.dispatch({ kind: 'clockSynchronised', offsetMs })
  }

  /** Where an answer may come twice, each has a table of its own. */
  #takeTable(): TickerTable {
    const table = this.#spare.pop() ?? new TickerTable(this.#options.instruments)
    table.readAt = 0
    return table
  }

  #begin(): void {
    this.#hasBegun = true
    this.#options.dispatch({ kind: 'started' })
    this.#every('timeMs', () => this.#passTime())
    if (this.#options.polling.beforeTickers !== undefined) return
    this.#every('fillsMs', () => this.#readAccount('fills'))
    this.#every('positionsMs', () => this.#readAccount('positions'))
  }

  #passTime(): void {
    const { wire, isOver, onTime, dispatch } = this.#options
    if (isOver() || wire.gate.isStill) return
    onTime()
    dispatch({ kind: 'timePassed' })
  }

  /** What falls due while the process stands still is not made up for. */
  #every(interval: 'timeMs' | 'fillsMs' | 'positionsMs', run: () => void): void {
    const { wire, polling, isOver } = this.#options
    wire.time.after(polling[interval], () => {
      if (isOver()) return
      if (!wire.gate.isStill) run()
      this.#every(interval, run)
    })
  }
}
