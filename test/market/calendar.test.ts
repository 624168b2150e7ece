import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Calendar, type CalendarJob } from '../../src/market/calendar.ts'

const MINUTE_MS = 60_000

let calendar: Calendar

/** Jobs that run each minute unless told otherwise; answers what went wrong with them. */
function createCalendar(...jobs: readonly Partial<CalendarJob>[]): unknown[] {
  const errors: unknown[] = []
  const onError: CalendarJob['onError'] = (error) => errors.push(error)
  const ordinary = { name: 'funding', pattern: '* * * * *', timeZone: 'UTC', run: () => undefined, onError }
  calendar = new Calendar(jobs.map((job) => ({ ...ordinary, ...job })))
  return errors
}

// node-cron lives on the system's clock and timers: these are moved by hand.
beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2024, 0, 1, 0, 0, 1) })
})

afterEach(async () => {
  await calendar.stop()
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
  vi.restoreAllMocks()
})

describe('the calendar', () => {
  it('runs each job by its pattern in its own time zone', async () => {
    const runs: string[] = []
    const note = (name: string) => () => void runs.push(`${name} ${new Date().toISOString().slice(11, 19)}`)
    createCalendar(
      { name: 'funding', pattern: '5 0 */8 * * *', run: note('funding') },
      { name: 'day roll', pattern: '0 0 * * *', timeZone: 'Asia/Tokyo', run: note('day roll') },
    )

    calendar.start()
    await vi.advanceTimersByTimeAsync(24 * 60 * MINUTE_MS)

    expect(runs).toEqual(['funding 00:00:05', 'funding 08:00:05', 'day roll 15:00:00', 'funding 16:00:05'])
  })

  it('does nothing before it is started, and nothing once it is stopped', async () => {
    const run = vi.fn()
    createCalendar({ run })
    await vi.advanceTimersByTimeAsync(5 * MINUTE_MS)
    expect(run).not.toHaveBeenCalled()

    calendar.start()
    await vi.advanceTimersByTimeAsync(MINUTE_MS)
    await calendar.stop()
    await vi.advanceTimersByTimeAsync(5 * MINUTE_MS)

    expect(run).toHaveBeenCalledTimes(1)
  })

  it('reports a run that throws, prints nothing, and runs again', async () => {
    const printed = [vi.spyOn(console, 'error'), vi.spyOn(console, 'warn'), vi.spyOn(console, 'log')]
    const broken = new Error('no connection')
    const errors = createCalendar({
      run: () => {
        throw broken
      },
    })

    calendar.start()
    await vi.advanceTimersByTimeAsync(2 * MINUTE_MS)

    expect(errors).toEqual([broken, broken])
    for (const print of printed) expect(print).not.toHaveBeenCalled()
  })

  it('reports the runs that came due while the process was held up, and runs again', async () => {
    const run = vi.fn()
    const errors = createCalendar({ run })

    calendar.start()
    vi.setSystemTime(Date.UTC(2024, 0, 1, 0, 2, 30))
    await vi.advanceTimersByTimeAsync(2 * MINUTE_MS)

    const missed = expect.stringMatching(/missed execution/)
    expect(errors).toEqual([missed, missed, missed])
    expect(run).toHaveBeenCalledTimes(1)
  })
})
