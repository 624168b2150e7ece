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
    this.#options.logger.log(this.#levelOf(level, event), event, this.#readable(event, fields))
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
