import { type Answer } from '../domain/answer.ts'
import { TickerTable } from '../domain/ticker-table.ts'
import { type EngineEvent } from '../engine/event.ts'
import { type SimulatedExchange } from './direct-exchange.ts'
import { onlyOnce } from './virtual-readings.ts'
import { type VirtualWire } from './virtual-wire.ts'

/** How often is looked, ms: asked before each wait. */
export interface VirtualPolling {
  readonly tickersMs: number
  readonly fillsMs: number
  readonly positionsMs: number
  readonly timeMs: number
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
}

/** Everything that happens by itself in a run, as the daemon's pollers make it happen. */
export class VirtualPollers {
  readonly #options: VirtualPollersOptions
  #hasBegun = false
  /** The table that the core looks at, and those that nobody does. */
  #shown: TickerTable | undefined
  readonly #spare: TickerTable[] = []

  constructor(options: VirtualPollersOptions) {
    this.#options = options
  }

  /** Reads the tickers, then again and again; the first reading with a synchronised clock begins the run. */
  start(): void {
    const { wire, exchange, polling, isOver } = this.#options
    const { time, trusted, network, gate } = wire
    if (isOver()) return
    const table = this.#takeTable()
    network.send({
      site: 'tickers',
      ourNow: () => trusted.clock.now(),
      onTime: (sample) => trusted.offset.observe(sample),
      perform: () => {
        // What the core looks at stays what it was, however often the request arrives and its answer is heard.
        if (table.readAt === 0) exchange.readTickers(table)
        return { ok: true, data: undefined }
      },
      hear: onlyOnce((answer) => gate.enter(() => this.#takeTickers(table, answer))),
    })
    time.after(polling.tickersMs, () => this.start())
  }

  #takeTickers(table: TickerTable, answer: Answer<unknown>): void {
    if (answer.kind !== 'accepted') return
    const { dispatch, wire } = this.#options
    const { isSynchronised, offset, clock } = wire.trusted
    table.readAt = clock.now()
    table.requestTime = answer.requestTime ?? 0
    if (isSynchronised) dispatch({ kind: 'clockSynchronised', offsetMs: offset.offsetMs })
    else dispatch({ kind: 'clockUnsynchronised', reason: 'not confirmed yet' })
    if (!this.#hasBegun && !isSynchronised) return
    if (!this.#hasBegun) this.#begin()
    dispatch({ kind: 'snapshotTaken', tickers: table })
    if (this.#shown && wire.network.isFaithful) this.#spare.push(this.#shown)
    this.#shown = table
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
    this.#every('timeMs', { kind: 'timePassed' })
    this.#every('fillsMs', { kind: 'pollDue', what: 'fills' })
    this.#every('positionsMs', { kind: 'pollDue', what: 'positions' })
  }

  /** What falls due while the process stands still is not made up for. */
  #every(interval: keyof VirtualPolling, event: EngineEvent): void {
    const { wire, polling, isOver, onTime, dispatch } = this.#options
    wire.time.after(polling[interval], () => {
      if (isOver()) return
      if (!wire.gate.isStill) {
        if (event.kind === 'timePassed') onTime()
        dispatch(event)
      }
      this.#every(interval, event)
    })
  }
}
