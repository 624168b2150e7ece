import type { InstrumentSteps } from '../../domain/instrument.ts'
import type { JournalRecord } from '../../domain/record.ts'
import type { Announcement } from '../../engine/effect.ts'
import type { EngineEvent } from '../../engine/event.ts'
import type { Clock } from '../../lib/clock.ts'
import { showOnGrid, type Grid } from '../../lib/grid.ts'
import type { Timers } from '../../lib/timers.ts'
import type { DaemonLogger } from '../../logging/logger.ts'

export interface EventLogOptions {
  readonly logger: DaemonLogger
  /** By symbol, those that are not configured any more too. */
  readonly grids: ReadonlyMap<string, InstrumentSteps>
  readonly clock: Clock
  readonly timers: Timers
}

/** A read that fails at every poll is logged when that begins, after this time, and then half as often each time. */
const REPEAT_MS = 10_000
const REPEAT_MS_MAX = 640_000

/** A cancel-all that fails, wholly or for some orders, is repeated every second: so many failures are logged at once, the next after this time. */
const CANCEL_FAILURES_AT_ONCE = 3
const CANCEL_REPEAT_MS = 5000
const CANCEL_REPEAT_MS_MAX = 60_000
/** Without a failure for so long it is a new trouble: a refused cancel-all waits a minute at most. */
const CANCEL_TROUBLE_MS = 2 * CANCEL_REPEAT_MS_MAX

/** After so many kinds all are forgotten, and logged at once again: instruments times codes are few. */
const FAILING_CANCELS_MAX = 1000

/** Counts the failures of a cancel-all of the same instruments with the same code, or with none where it fails for some orders. Times are of the monotonic clock, in ms. */
interface FailingCancel {
  failedAt: number
  loggedAt: number
  repeatMs: number
  times: number
  unlogged: number
}

/**
 * A log file is searched, a terminal is watched. The file has a line when an order is sent, answered, filled and
 * ended, so that it can be followed by its clientOid. The terminal shows the batches with their counts, and the
 * fills; single orders only at `debug`.
 */
const ORDER_ROUTINE = new Set([
  'order.sent',
  'order.accepted',
  'order.rejected',
  'order.exists',
  'order.ended',
  'order.dropped',
  'cancelAll.sent',
])
const BATCHES = new Set(['batch.sent', 'batch.answered'])

/** Puts what the core announces into the log: in decimals instead of ticks and lots, and no more than is read. */
export class EventLog {
  readonly #options: EventLogOptions
  readonly #unlogged: Announcement[] = []
  readonly #outcomes = new Map<number, Readonly<Record<string, number>>>()
  /** Reads that fail at present: when that was last logged, and how often it has failed since. */
  readonly #failing = new Map<string, { loggedAt: number; times: number; repeatMs: number }>()

  /** By their instruments and the code: cancel-alls that fail at present. */
  readonly #failingCancels = new Map<string, FailingCancel>()

  constructor(options: EventLogOptions) {
    this.#options = options
  }

  /** Looks at a record before what is announced of it. */
  observe(record: JournalRecord): void {
    // Others are not followed by a line about their batch: found by fills, unknown at a restart.
    if (record.kind !== 'outcome' || record.answer === undefined) return
    const counts: Record<string, number> = {}
    for (const { outcome } of record.items) counts[outcome] = (counts[outcome] ?? 0) + 1
    this.#outcomes.set(record.batchId, counts)
  }

  /** A line costs a write, and a batch has a line an order: they are logged once the batch has left. */
  announce(announcement: Announcement): void {
    if (this.#unlogged.length === 0) this.#options.timers.after(0, () => this.flush())
    this.#unlogged.push(announcement)
  }

  /** Logs what was announced so far. */
  flush(): void {
    for (const announcement of this.#unlogged.splice(0)) this.#log(announcement)
  }

  /** These failed when they were read last. */
  get failingReads(): readonly string[] {
    return [...this.#failing.keys()]
  }

  /** Looks at an event before what is announced of it: where a read has succeeded, trouble with it is over. */
  hear(event: EngineEvent): void {
    if (this.#failing.size === 0) return
    const what = readIn(event)
    const failing = what === undefined ? undefined : this.#failing.get(what)
    if (what === undefined || !failing) return
    this.#failing.delete(what)
    this.#options.logger.log('info', 'read.resumed', { what, failedTimes: failing.times })
  }

  #log({ level, event, fields }: Announcement): void {
    if (event === 'read.failed') return this.#logFailedRead(String(fields['what']), fields)
    const isPartlyFailed = event === 'cancelAll.answered' && Number(fields['failed']) > 0
    if (event === 'cancelAll.failed' || isPartlyFailed)
      return this.#logFailedCancel(fields, isPartlyFailed)
    if (event === 'cancelAll.answered') this.#endCancelTrouble(fields)
    const shown = event === 'cancelAll.sent' && this.#isThinned(fields) ? 'debug' : level
    this.#options.logger.log(this.#levelOf(shown, event), event, this.#readable(event, fields))
  }

  /** Whether a cancel-all of these instruments has failed so often that its lines are thinned. */
  #isThinned({ symbols }: Announcement['fields']): boolean {
    const now = this.#options.clock.monotonic()
    return [...this.#failingCancels].some(
      ([key, { times, failedAt }]) =>
        key.startsWith(`${String(symbols)} `) &&
        times >= CANCEL_FAILURES_AT_ONCE &&
        now - failedAt <= CANCEL_TROUBLE_MS,
    )
  }

  #endCancelTrouble({ symbols }: Announcement['fields']): void {
    for (const key of this.#failingCancels.keys())
      if (key.startsWith(`${String(symbols)} `)) this.#failingCancels.delete(key)
  }

  /** The attempts go on; a line at growing intervals says how many have failed since the last. */
  #logFailedCancel(fields: Announcement['fields'], isAnswered: boolean): void {
    const now = this.#options.clock.monotonic()
    const failing = this.#failingCancel(fields, now)
    failing.failedAt = now
    failing.times += 1
    if (failing.times > CANCEL_FAILURES_AT_ONCE) {
      if (now - failing.loggedAt < failing.repeatMs) {
        failing.unlogged += 1
        return
      }
      failing.repeatMs = Math.min(2 * failing.repeatMs, CANCEL_REPEAT_MS_MAX)
    }
    const sinceLastLogged = failing.unlogged
    failing.loggedAt = now
    failing.unlogged = 0
    this.#options.logger.log('warn', isAnswered ? 'cancelAll.answered' : 'cancelAll.failed', {
      ...fields,
      ...(sinceLastLogged > 0 && { sinceLastLogged }),
    })
  }

  /** Another cause, or a failure long after the last, is a new trouble. */
  #failingCancel({ symbols, code }: Announcement['fields'], now: number): FailingCancel {
    const key = `${String(symbols)} ${String(code)}`
    const earlier = this.#failingCancels.get(key)
    if (earlier && now - earlier.failedAt <= CANCEL_TROUBLE_MS) return earlier
    if (this.#failingCancels.size >= FAILING_CANCELS_MAX) this.#failingCancels.clear()
    const begun = {
      failedAt: now,
      loggedAt: now,
      repeatMs: CANCEL_REPEAT_MS,
      times: 0,
      unlogged: 0,
    }
    this.#failingCancels.set(key, begun)
    return begun
  }

  #logFailedRead(what: string, fields: Announcement['fields']): void {
    const { clock, logger } = this.#options
    const now = clock.monotonic()
    const failing = this.#failing.get(what) ?? {
      loggedAt: Number.NEGATIVE_INFINITY,
      times: 0,
      repeatMs: REPEAT_MS / 2,
    }
    failing.times += 1
    this.#failing.set(what, failing)
    if (now - failing.loggedAt < failing.repeatMs) return
    failing.loggedAt = now
    failing.repeatMs = Math.min(2 * failing.repeatMs, REPEAT_MS_MAX)
    logger.log('warn', 'read.failed', { ...fields, times: failing.times })
  }

  #levelOf(level: Announcement['level'], event: string): Announcement['level'] {
    if (level === 'debug' && BATCHES.has(event)) return 'info'
    return this.#options.logger.isTerminal && ORDER_ROUTINE.has(event) ? 'debug' : level
  }

  #readable(event: string, fields: Announcement['fields']): Readonly<Record<string, unknown>> {
    const instrument = this.#options.grids.get(String(fields['symbol']))
    const readable = Object.entries(fields).map(([key, value]) =>
      this.#readableField(key, value, instrument),
    )
    const outcome = event === 'batch.answered' ? this.#takeOutcome(Number(fields['batchId'])) : {}
    return { ...Object.fromEntries(readable), ...outcome }
  }

  #readableField(
    key: string,
    value: unknown,
    instrument: InstrumentSteps | undefined,
  ): [string, unknown] {
    if (key === 'positions') return [key, this.#toSizes(value)]
    if (key === 'ticks') return ['price', toDecimal(instrument?.tick, value)]
    if (key === 'lots') return ['size', toDecimal(instrument?.lot, value)]
    if (key.endsWith('Lots')) return [`${key.slice(0, -4)}Size`, toDecimal(instrument?.lot, value)]
    return [key, key === 'filled' ? toDecimal(instrument?.lot, value) : value]
  }

  /** Net lots by symbol, in base coin. */
  #toSizes(positions: unknown): unknown {
    if (typeof positions !== 'object' || positions === null) return positions
    return Object.fromEntries(
      Object.entries(positions).map(([symbol, lots]) => [
        symbol,
        toDecimal(this.#options.grids.get(symbol)?.lot, lots),
      ]),
    )
  }

  #takeOutcome(batchId: number): Readonly<Record<string, number>> {
    const counts = this.#outcomes.get(batchId) ?? {}
    this.#outcomes.delete(batchId)
    return counts
  }
}

/** What was read, named as it is where it failed. */
function readIn(event: EngineEvent): string | undefined {
  if (event.kind === 'snapshotTaken') return 'tickers'
  if (event.kind === 'fillsRead') return 'fills'
  if (event.kind === 'positionRead') return `position ${event.reading.symbol}`
  return event.kind === 'feedRead' ? `feed ${event.feed}` : undefined
}

/** Steps of a grid as a decimal; what is no number (a market order's price) stays as it is. */
function toDecimal(grid: Grid | undefined, steps: unknown): unknown {
  return grid && typeof steps === 'number' ? showOnGrid(grid, steps) : steps
}
