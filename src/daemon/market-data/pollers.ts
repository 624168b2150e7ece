import { type DaemonConfig } from '../../config/load-config.ts'
import { type EngineEvent } from '../../engine/event.ts'
import { type ExchangeClient } from '../../exchange/exchange-client.ts'
import { type TrustedClock } from '../../exchange/clock/trusted-clock.ts'
import { messageOf } from '../../lib/failure.ts'
import { type Timers } from '../../lib/timers.ts'
import { Calendar } from '../../market/calendar.ts'
import { PollGrid, type PollGridStats } from '../../market/poll-grid.ts'
import { TickerBuffers } from '../../market/ticker-buffers.ts'

/** How often the core gets an event that time has passed, in ms: every wait that it counts is rounded to this. */
const TIME_STEP_MS = 50
/** How often commands from the operator are looked for, in ms. */
const OPERATOR_STEP_MS = 250

export interface PollersOptions {
  readonly config: DaemonConfig
  readonly client: ExchangeClient
  readonly trusted: TrustedClock
  readonly timers: Timers
  readonly dispatch: (event: EngineEvent) => void
  /** Just after new tickers were read, monotonic ms. */
  readonly onTickers: (readAt: number) => void
  /** The core and the strategies have done with them. */
  readonly onHandled: () => void
  /** A read has succeeded after others that may have failed. */
  readonly onRead: (what: string) => void
  readonly onDayRoll: () => void
  /** Right before the core hears that time has passed; and when it is time to look for commands. */
  readonly onTime: () => void
  readonly onOperator: () => void
  readonly onError: (what: string, reason: string) => void
}

/** Everything that happens by itself: tickers, positions, fills, the passing of time, and the calendar. */
export class Pollers {
  readonly #options: PollersOptions
  readonly #buffers = new TickerBuffers()
  readonly #tickers: PollGrid
  readonly #grids: readonly PollGrid[]
  readonly #calendar: Calendar

  constructor(options: PollersOptions) {
    this.#options = options
    const { polling } = options.config
    const { dispatch, onTime, onOperator } = options
    this.#tickers = this.#grid('tickers', polling.tickersMs, () => this.readTickers())
    this.#grids = [
      this.#tickers,
      this.#grid('fills', polling.fillsMs, () => dispatch({ kind: 'pollDue', what: 'fills' })),
      this.#grid('positions', polling.positionsMs, () => dispatch({ kind: 'pollDue', what: 'positions' })),
      this.#grid('time', TIME_STEP_MS, () => {
        onTime()
        dispatch({ kind: 'timePassed' })
      }),
      this.#grid('operator', OPERATOR_STEP_MS, onOperator),
    ]
    this.#calendar = this.#createCalendar()
  }

  start(): void {
    for (const grid of this.#grids) grid.start()
    this.#calendar.start()
  }

  async stop(): Promise<void> {
    await Promise.all([this.#calendar.stop(), ...this.#grids.map((grid) => grid.stop())])
  }

  /** Of the ticker grid, which wakes the strategies. */
  get stats(): PollGridStats {
    return this.#tickers.stats
  }

  /** Reads all tickers once into the spare table; the core hears of the clock first, then of the prices. */
  async readTickers(): Promise<boolean> {
    const { client, config, trusted, dispatch, onTickers, onHandled, onRead } = this.#options
    const table = this.#buffers.spare()
    if (!table) return false
    const answer = await client.readTickers(table, config.account.productType)
    if (answer.kind !== 'accepted') {
      dispatch({
        kind: 'readFailed',
        what: 'tickers',
        reason: `${answer.kind} ${answer.code}: ${answer.message}`,
      })
      return false
    }
    onTickers(trusted.clock.monotonic())
    onRead('tickers')
    this.#reportClock()
    // The core goes on looking at a later answer: to publish this one would have that table filled again.
    if (table.requestTime >= (this.#buffers.current?.requestTime ?? 0)) {
      this.#buffers.publish(table)
      dispatch({ kind: 'snapshotTaken', tickers: table })
    }
    onHandled()
    return true
  }

  #reportClock(): void {
    const { trusted, dispatch } = this.#options
    if (trusted.isSynchronised)
      return dispatch({ kind: 'clockSynchronised', offsetMs: trusted.offset.offsetMs })
    dispatch({ kind: 'clockUnsynchronised', reason: "the exchange's time is not confirmed yet" })
  }

  #grid(what: string, intervalMs: number, poll: () => unknown): PollGrid {
    const { trusted, timers, onError } = this.#options
    const { clock } = trusted
    return new PollGrid({
      intervalMs,
      poll: async () => {
        await poll()
      },
      onError: (error) => onError(what, messageOf(error)),
      clock,
      timers,
    })
  }

  /** Funding changes positions' counters at known times; the day rolls. */
  #createCalendar(): Calendar {
    const { config, dispatch, onDayRoll, onError } = this.#options
    const { funding, dayRoll, timezone: timeZone } = config.calendar
    const job = (name: string, pattern: string, run: () => void) => ({
      ...{ name, pattern, timeZone, run },
      onError: (error: unknown) => onError(`calendar ${name}`, messageOf(error)),
    })
    return new Calendar([
      job('funding', funding, () => dispatch({ kind: 'pollDue', what: 'positions' })),
      job('dayRoll', dayRoll, onDayRoll),
    ])
  }
}
