import { createTask, type Logger, validateDetailed } from 'node-cron'
import { isTimeZone } from '../config/schema/calendar-pattern.ts'
import { Failure, messageOf } from '../lib/failure.ts'
import { type Timers } from '../lib/timers.ts'

/** Something that happens by the calendar: a funding time, the roll of the day. */
export interface CalendarJob {
  /** Unique within a calendar. */
  readonly name: string
  /** A cron pattern of five fields, or six with seconds first. */
  readonly pattern: string
  /** An IANA name such as `UTC` or `Europe/Berlin`. */
  readonly timeZone: string
  /** Given up after this long; without an end, a run that hangs would hold back every later one. */
  readonly runTimeoutMs: number
  /** Must end soon once the signal is aborted. */
  run(signal: AbortSignal): Promise<void>
}

export interface CalendarOptions {
  readonly jobs: readonly CalendarJob[]
  readonly timers: Timers
  /** A run failed or was given up; the next one happens all the same. */
  onError(job: string, error: unknown): void
  /** Handled, but odd: a run was left out because the last was still going, or came due while the process was held up. */
  onMissed(job: string, reason: 'overlap' | 'blocked'): void
}

export interface CalendarEntry {
  readonly name: string
  /** Unix ms. */
  readonly nextRunAt: number
}

type CalendarFailureCode = keyof typeof CALENDAR_FAILURES

const CALENDAR_FAILURES = {
  CALENDAR_PATTERN: 'the cron pattern is not one',
  CALENDAR_TIME_ZONE: 'there is no such time zone',
  CALENDAR_NAME_TAKEN: 'two calendar jobs have the same name',
  CALENDAR_RUN_TIMEOUT: 'the run did not end in time and was given up',
} as const

/**
 * Calendar work through node-cron, which runs on the system's clock. A job never overlaps itself.
 *
 *     stopped -- start() --> started -- stop() --> stopped, for good
 */
export class Calendar {
  readonly #options: CalendarOptions
  readonly #tasks: ReadonlyMap<string, ReturnType<typeof createTask>>
  readonly #running = new Map<Promise<void>, AbortController>()

  /** @throws Failure for a pattern that is none, an unknown time zone, a name that is taken. */
  constructor(options: CalendarOptions) {
    this.#options = options
    assertJobs(options.jobs)
    this.#tasks = new Map(options.jobs.map((job) => [job.name, this.#createTask(job)]))
  }

  start(): void {
    for (const task of this.#tasks.values()) void task.start()
  }

  /** No run begins from now on; those under way are asked to end, and awaited. */
  async stop(): Promise<void> {
    for (const task of this.#tasks.values()) await task.destroy()
    for (const controller of this.#running.values()) controller.abort()
    await Promise.all(this.#running.keys())
  }

  /** The jobs and when each runs next, soonest first. */
  entries(): readonly CalendarEntry[] {
    return [...this.#tasks]
      .flatMap(([name, task]) => task.getNextRuns(1).map((next) => ({ name, nextRunAt: next.getTime() })))
      .toSorted((a, b) => a.nextRunAt - b.nextRunAt)
  }

  #createTask(job: CalendarJob): ReturnType<typeof createTask> {
    const task = createTask(job.pattern, () => this.#run(job), {
      name: job.name,
      timezone: job.timeZone,
      noOverlap: true,
      logger: this.#loggerFor(job),
    })
    task.on('execution:overlap', () => this.#options.onMissed(job.name, 'overlap'))
    task.on('execution:missed', () => this.#options.onMissed(job.name, 'blocked'))
    return task
  }

  /** One run; never rejects, so that node-cron has nothing to log. */
  async #run(job: CalendarJob): Promise<void> {
    const controller = new AbortController()
    const run = this.#runWithin(job, controller).catch((error: unknown) =>
      this.#options.onError(job.name, error),
    )
    this.#running.set(run, controller)
    await run
    this.#running.delete(run)
  }

  async #runWithin(job: CalendarJob, controller: AbortController): Promise<void> {
    const timedOut = Promise.withResolvers<never>()
    const cancelTimeout = this.#options.timers.after(job.runTimeoutMs, () => {
      controller.abort()
      const facts = { job: job.name, runTimeoutMs: job.runTimeoutMs }
      timedOut.reject(calendarFailure('CALENDAR_RUN_TIMEOUT', facts))
    })
    try {
      await Promise.race([job.run(controller.signal), timedOut.promise])
    } finally {
      cancelTimeout()
    }
  }

  /** What node-cron would print by itself. Its news (missed, overlap) arrive as events already. */
  #loggerFor(job: CalendarJob): Logger {
    const quiet = () => undefined
    const report = (error: unknown) => this.#options.onError(job.name, error)
    return { debug: quiet, info: quiet, warn: report, error: report }
  }
}

function assertJobs(jobs: readonly CalendarJob[]): void {
  const names = new Set<string>()
  for (const { name, pattern, timeZone } of jobs) {
    if (names.has(name)) throw calendarFailure('CALENDAR_NAME_TAKEN', { job: name })
    names.add(name)
    if (!isTimeZone(timeZone)) throw calendarFailure('CALENDAR_TIME_ZONE', { job: name, timeZone })
    const wrong = explainPattern(pattern)
    if (wrong !== undefined) throw calendarFailure('CALENDAR_PATTERN', { job: name, pattern, found: wrong })
  }
}

/** What node-cron says is wrong with a pattern; undefined when nothing is. */
function explainPattern(pattern: string): string | undefined {
  try {
    const { valid, errors } = validateDetailed(pattern)
    return valid ? undefined : errors.map(({ field, message }) => `${field}: ${message}`).join('; ')
  } catch (error) {
    return messageOf(error)
  }
}

function calendarFailure(code: CalendarFailureCode, facts: Record<string, string | number>): Failure {
  return new Failure({ code, sentence: CALENDAR_FAILURES[code], facts })
}
