import { DRY_RUN_CODE } from '../../domain/answer.ts'
import type { InstrumentSteps } from '../../domain/instrument.ts'
import type { JournalRecord } from '../../domain/record.ts'
import type { Announcement } from '../../engine/effect.ts'
import type { EngineEvent } from '../../engine/event.ts'
import type { Clock } from '../../lib/clock.ts'
import { showOnGrid, type Grid } from '../../lib/grid.ts'
import type { DaemonLogger } from '../../logging/logger.ts'

export interface EventLogOptions {
  readonly logger: DaemonLogger
  readonly grids: ReadonlyMap<string, InstrumentSteps>
  readonly clock: Clock
  /** A dry run sends nothing, so no line says that something was sent. */
  readonly isDry?: boolean
}

/** A read that keeps failing is logged at once, after this time, and then at doubled intervals. */
const REPEAT_MS = 10_000
const REPEAT_MS_MAX = 640_000

/**
 * A failing cancel-all is repeated every second. So many failures are logged at once, and later
 * ones at growing intervals.
 */
const CANCEL_FAILURES_AT_ONCE = 3
const CANCEL_REPEAT_MS = 5000
const CANCEL_REPEAT_MS_MAX = REPEAT_MS_MAX
/** A refused cancel-all waits a minute at most, so a failure after this time is a new problem. */
const CANCEL_TROUBLE_MS = 120_000

const FAILING_CANCELS_MAX = 1000

/**
 * Failures with the same instruments and code are one problem (code `undefined`: it failed for some
 * orders). Times are monotonic ms.
 */
interface FailingCancel {
  failedAt: number
  loggedAt: number
  repeatMs: number
  times: number
  unlogged: number
}

/**
 * The log file has lines for each order, so that a clientOid can be searched. A terminal shows
 * these only at `debug`.
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

export class EventLog {
  readonly #options: EventLogOptions
  readonly #outcomes = new Map<number, Readonly<Record<string, number>>>()
  readonly #failing = new Map<string, { loggedAt: number; times: number; repeatMs: number }>()

  readonly #failingCancels = new Map<string, FailingCancel>()

  constructor(options: EventLogOptions) {
    this.#options = options
  }

  /** Must be called before the record's announcements. */
  observe(record: JournalRecord): void {
    // Outcomes that fills have shown, or a restart, have no line about their batch.
    if (record.kind !== 'outcome' || record.answer === undefined) return
    const counts: Record<string, number> = {}
    for (const { outcome } of record.items) counts[outcome] = (counts[outcome] ?? 0) + 1
    this.#outcomes.set(record.batchId, counts)
  }

  get failingReads(): readonly string[] {
    return [...this.#failing.keys()]
  }

  /** Must be called before the event's announcements: a successful read ends a problem. */
  hear(event: EngineEvent): void {
    if (this.#failing.size === 0) return
    const what = readIn(event)
    const failing = what === undefined ? undefined : this.#failing.get(what)
    if (what === undefined || !failing) return
    this.#failing.delete(what)
    this.#options.logger.log('info', 'read.resumed', { what, failedTimes: failing.times })
  }

  announce({ level, event, fields }: Announcement): void {
    if (this.#options.isDry === true && this.#logWithheld(event, fields)) return
    // The refusal is our own, and was logged with `wouldSend`.
    if (fields['code'] === DRY_RUN_CODE) return this.#forgetOutcome(fields)
    if (event === 'read.failed') return this.#logFailedRead(String(fields['what']), fields)
    const isPartlyFailed = event === 'cancelAll.answered' && Number(fields['failed']) > 0
    if (event === 'cancelAll.failed' || isPartlyFailed)
      return this.#logFailedCancel(fields, isPartlyFailed)
    if (event === 'cancelAll.answered') this.#endCancelTrouble(fields)
    const shown = event === 'cancelAll.sent' && this.#isThinned(fields) ? 'debug' : level
    this.#options.logger.log(this.#levelOf(shown, event), event, this.#readable(event, fields))
  }

  #logWithheld(event: Announcement['event'], fields: Announcement['fields']): boolean {
    const { logger } = this.#options
    if (!event.endsWith('.sent')) return false
    const readable = this.#readable(event, fields)
    if (event === 'batch.sent') logger.log('info', 'batch.wouldSend', readable)
    else if (event === 'call.sent') logger.log('info', 'call.wouldSend', readable)
    else if (event === 'order.sent')
      logger.log(logger.isTerminal ? 'debug' : 'info', 'order.wouldSend', readable)
    else if (event === 'cancelAll.sent')
      logger.log(logger.isTerminal ? 'debug' : 'info', 'cancelAll.wouldSend', readable)
    else return false
    return true
  }

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

  #toSizes(positions: unknown): unknown {
    if (typeof positions !== 'object' || positions === null) return positions
    return Object.fromEntries(
      Object.entries(positions).map(([symbol, lots]) => [
        symbol,
        toDecimal(this.#options.grids.get(symbol)?.lot, lots),
      ]),
    )
  }

  #forgetOutcome({ batchId }: Announcement['fields']): void {
    this.#outcomes.delete(Number(batchId))
  }

  #takeOutcome(batchId: number): Readonly<Record<string, number>> {
    const counts = this.#outcomes.get(batchId) ?? {}
    this.#outcomes.delete(batchId)
    return counts
  }
}

function readIn(event: EngineEvent): string | undefined {
  if (event.kind === 'snapshotTaken') return 'tickers'
  if (event.kind === 'fillsRead') return 'fills'
  if (event.kind === 'positionRead') return `position ${event.reading.symbol}`
  return event.kind === 'feedRead' ? `feed ${event.feed}` : undefined
}

function toDecimal(grid: Grid | undefined, steps: unknown): unknown {
  return grid && typeof steps === 'number' ? showOnGrid(grid, steps) : steps
}
