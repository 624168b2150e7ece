import { type Answer } from '../../../src/domain/answer.ts'
import { TickerTable } from '../../../src/domain/ticker-table.ts'
import { type EngineEvent } from '../../../src/engine/event.ts'
import { type VirtualExchange } from './virtual-exchange.ts'
import { callOf, type VirtualGround } from './virtual-ground.ts'
import { type VirtualNetwork } from './virtual-network.ts'
import { onlyOnce } from './virtual-reader.ts'
import { type VirtualTime } from './virtual-time.ts'

/** How often the shell looks, ms. */
export interface VirtualPolling {
  readonly tickersMs: number
  readonly fillsMs: number
  readonly positionsMs: number
  readonly timeMs: number
}

export interface VirtualPollersOptions {
  readonly ground: VirtualGround
  readonly time: VirtualTime
  readonly exchange: VirtualExchange
  readonly network: VirtualNetwork
  readonly polling: VirtualPolling
  /** Rows that a ticker table has. */
  readonly instruments: number
}

/** Everything that happens by itself in a process, as the daemon's pollers make it happen. */
export class VirtualPollers {
  readonly #options: VirtualPollersOptions
  #hasBegun = false

  constructor(options: VirtualPollersOptions) {
    this.#options = options
  }

  /** Reads the tickers, then again and again; the first reading with a sure clock begins the life. */
  start(): void {
    const { ground, time, network, exchange, polling, instruments } = this.#options
    if (ground.isOver()) return
    const table = new TickerTable(instruments)
    network.send({
      ...callOf(ground),
      site: 'tickers',
      perform: () => {
        // What the core looks at stays what it was, however often the request arrives and its answer is heard.
        if (table.readAt === 0) exchange.readTickers(table)
        return { ok: true, data: undefined }
      },
      hear: onlyOnce((answer) => ground.enter(() => this.#takeTickers(table, answer))),
    })
    time.after(polling.tickersMs, () => this.start())
  }

  #takeTickers(table: TickerTable, answer: Answer<unknown>): void {
    if (answer.kind !== 'accepted') return
    const { dispatch, clock, trusted } = this.#options.ground
    table.readAt = clock.now()
    table.requestTime = answer.requestTime ?? 0
    const { isSynchronised, offset } = trusted
    if (isSynchronised) dispatch({ kind: 'clockSynchronised', offsetMs: offset.offsetMs })
    else dispatch({ kind: 'clockUnsynchronised', reason: 'not confirmed yet' })
    if (!this.#hasBegun && !isSynchronised) return
    if (!this.#hasBegun) this.#begin()
    dispatch({ kind: 'snapshotTaken', tickers: table })
  }

  #begin(): void {
    const { polling, ground } = this.#options
    this.#hasBegun = true
    ground.dispatch({ kind: 'started' })
    this.#every(polling.timeMs, { kind: 'timePassed' })
    this.#every(polling.fillsMs, { kind: 'pollDue', what: 'fills' })
    this.#every(polling.positionsMs, { kind: 'pollDue', what: 'positions' })
  }

  /** What falls due while the process stands still is not made up for. */
  #every(intervalMs: number, event: EngineEvent): void {
    const { time, ground } = this.#options
    time.after(intervalMs, () => {
      if (ground.isOver()) return
      if (!ground.isStalled()) {
        if (event.kind === 'timePassed') ground.lookForKill()
        ground.dispatch(event)
      }
      this.#every(intervalMs, event)
    })
  }
}
