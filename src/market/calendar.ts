import { createTask } from 'node-cron'

/** Something that happens by the calendar: a funding time, the roll of the day. */
export interface CalendarJob {
  readonly name: string
  /** A cron pattern of five fields, or six with seconds first. The config has checked it, and the time zone. */
  readonly pattern: string
  /** An IANA name such as `UTC` or `Europe/Berlin`. */
  readonly timeZone: string
  readonly run: () => void
  /** A run threw, or was left out because the process was blocked when it was due. The next one happens all the same. */
  readonly onError: (error: unknown) => void
}

/** Calendar work through node-cron, which goes by the system's clock. */
export class Calendar {
  readonly #tasks: readonly ReturnType<typeof createTask>[]

  constructor(jobs: readonly CalendarJob[]) {
    this.#tasks = jobs.map(({ name, pattern, timeZone, run, onError }) => {
      const quiet = (): void => undefined
      const report = (message: unknown, error = message): void => onError(error)
      const logger = { debug: quiet, info: quiet, warn: report, error: report }
      return createTask(pattern, run, { name, timezone: timeZone, logger })
    })
  }

  start(): void {
    for (const task of this.#tasks) void task.start()
  }

  async stop(): Promise<void> {
    for (const task of this.#tasks) await task.destroy()
  }
}
