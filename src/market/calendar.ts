import { createTask } from 'node-cron'
import { systemClock } from '../lib/clock.ts'

export interface CalendarJob {
  readonly name: string
  /** Five fields, or six with seconds first. */
  readonly pattern: string
  readonly timeZone: string
  readonly run: () => void
  /** The process may have been blocked. The next run happens all the same. */
  readonly onError: (error: unknown) => void
}

type ScheduledTask = ReturnType<typeof createTask>

/**
 * node-cron omits jobs within the hour that a zone skips in spring; here they run once, when it is
 * over. In autumn's repeated time a job runs once.
 */
export class Calendar {
  readonly #tasks: readonly ScheduledTask[]

  constructor(jobs: readonly CalendarJob[]) {
    this.#tasks = jobs.flatMap((job) => {
      const { name, pattern, timeZone, run, onError } = job
      const report = (message: unknown, error = message): void => onError(error)
      const logger = { debug: quiet, info: quiet, warn: report, error: report }
      const task = createTask(pattern, run, { name, timezone: timeZone, logger })
      return [task, createSkippedTask(job)]
    })
  }

  start(): void {
    for (const task of this.#tasks) void task.start()
  }

  async stop(): Promise<void> {
    for (const task of this.#tasks) await task.destroy()
  }
}

const quiet = (): void => undefined
const QUIET = { debug: quiet, info: quiet, warn: quiet, error: quiet }
const MINUTE_MS = 60_000
/** A machine that slept longer missed more than a skipped hour. */
const LOOKED_BACK_MS = 86_400_000

function createSkippedTask({ name, pattern, timeZone, run, onError }: CalendarJob): ScheduledTask {
  const wallTime = createWallTime(timeZone)
  // Local times count as UTC, which skips none. Any second matches, since whole minutes are
  // compared.
  const matcher = createTask(pattern.replace(/^\S+((?:\s+\S+){5})$/, '*$1'), quiet, {
    timezone: 'UTC',
  })
  let lookedAt = toMinute(systemClock.now())
  const look = (): void => {
    const now = toMinute(systemClock.now())
    const skipped =
      now - lookedAt > LOOKED_BACK_MS ? undefined : findSkipped(lookedAt, now, wallTime)
    lookedAt = now
    if (skipped === undefined) return
    const isDueAt = (wall: number): boolean => matcher.match(new Date(wall))
    const minutes = Array.from(
      { length: (skipped.to - skipped.from) / MINUTE_MS },
      (_, index) => skipped.from + index * MINUTE_MS,
    )
    if (!minutes.some(isDueAt) || isDueAt(skipped.to)) return
    try {
      run()
    } catch (error) {
      onError(error)
    }
  }
  return createTask('* * * * *', look, { name: `${name}, skipped`, timezone: 'UTC', logger: QUIET })
}

function findSkipped(
  before: number,
  now: number,
  wallTime: (at: number) => number,
): { readonly from: number; readonly to: number } | undefined {
  const offset = wallTime(before) - before
  if (wallTime(now) - now <= offset) return undefined
  let [earlier, later] = [before, now]
  while (later - earlier > MINUTE_MS) {
    const middle = toMinute((earlier + later) / 2)
    if (wallTime(middle) - middle === offset) earlier = middle
    else later = middle
  }
  return { from: later + offset, to: wallTime(later) }
}

/** The local time of an instant, in ms as if it were UTC. */
function createWallTime(timeZone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  })
  return (at) => {
    const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
    const of = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0
    return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'))
  }
}

const toMinute = (at: number): number => Math.floor(at / MINUTE_MS) * MINUTE_MS
