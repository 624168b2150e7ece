import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemTimers } from '../../src/lib/timers.ts'
import { Calendar, type CalendarJob } from '../../src/market/calendar.ts'

/** 2024-01-01 00:00:00 UTC. */
const NEW_YEAR = Date.UTC(2024, 0, 1)

const MINUTE_MS = 60_000

let stop: (() => Promise<void>) | undefined

function createCalendar(...jobs: readonly Partial<CalendarJob>[]) {
  const errors: [string, unknown][] = []
  const missed: [string, string][] = []
  const calendar = new Calendar({
    jobs: jobs.map((job) => ({
      name: 'funding',
      pattern: '* * * * *',
      timeZone: 'UTC',
      runTimeoutMs: 10 * MINUTE_MS,
      run: async () => undefined,
      ...job,
    })),
    timers: systemTimers,
    onError: (job, error) => errors.push([job, error]),
    onMissed: (job, reason) => missed.push([job, reason]),
  })
  stop = () => calendar.stop()
  return { calendar, errors, missed }
}

// node-cron lives on the system's clock and timers: these are moved by hand.
beforeEach(() => {
  vi.useFakeTimers({ now: NEW_YEAR + 1000 })
})

afterEach(async () => {
  await stop?.()
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
  vi.restoreAllMocks()
})

describe('the calendar', () => {
  it('runs each job by its pattern in its own time zone', async () => {
    const runs: string[] = []
    const note = (name: string) => async () => {
      runs.push(`${name} ${new Date().toISOString().slice(11, 16)}`)
    }
    const { calendar } = createCalendar(
      { name: 'funding', pattern: '0 */8 * * *', run: note('funding') },
      { name: 'day roll', pattern: '0 0 * * *', timeZone: 'Asia/Tokyo', run: note('day roll') },
    )

    calendar.start()
    await vi.advanceTimersByTimeAsync(24 * 60 * MINUTE_MS)

    expect(runs).toEqual(['funding 08:00', 'day roll 15:00', 'funding 16:00', 'funding 00:00'])
  })

  it('does nothing before it is started', async () => {
    const run = vi.fn(async () => undefined)
    createCalendar({ run })

    await vi.advanceTimersByTimeAsync(5 * MINUTE_MS)

    expect(run).not.toHaveBeenCalled()
  })

  it('says when each job runs next, soonest first', () => {
    const { calendar } = createCalendar(
      { name: 'day roll', pattern: '0 0 * * *' },
      { name: 'funding', pattern: '0 */8 * * *' },
    )

    expect(calendar.entries()).toEqual([
      { name: 'funding', nextRunAt: Date.UTC(2024, 0, 1, 8) },
      { name: 'day roll', nextRunAt: Date.UTC(2024, 0, 2) },
    ])
  })

  it('leaves out a run while the last one is still going, and says so', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const run = vi.fn(() => promise)
    const { calendar, missed } = createCalendar({ run })

    calendar.start()
    await vi.advanceTimersByTimeAsync(3 * MINUTE_MS)
    expect(run).toHaveBeenCalledTimes(1)
    expect(missed).toEqual([
      ['funding', 'overlap'],
      ['funding', 'overlap'],
    ])

    resolve()
    await vi.advanceTimersByTimeAsync(MINUTE_MS)
    expect(run).toHaveBeenCalledTimes(2)
  })

  it('reports a run that throws, prints nothing, and runs again', async () => {
    const printed = [vi.spyOn(console, 'error'), vi.spyOn(console, 'warn'), vi.spyOn(console, 'log')]
    const broken = new Error('no connection')
    const { calendar, errors } = createCalendar({ run: () => Promise.reject(broken) })

    calendar.start()
    await vi.advanceTimersByTimeAsync(2 * MINUTE_MS)

    expect(errors).toEqual([
      ['funding', broken],
      ['funding', broken],
    ])
    for (const print of printed) expect(print).not.toHaveBeenCalled()
  })

  it('gives up a run that does not end, so that it holds back no later one', async () => {
    const signals: AbortSignal[] = []
    const { calendar, errors } = createCalendar({
      runTimeoutMs: 30_000,
      run: (signal) => {
        signals.push(signal)
        return new Promise(() => undefined)
      },
    })

    calendar.start()
    await vi.advanceTimersByTimeAsync(2 * MINUTE_MS)

    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
    expect(errors).toEqual([['funding', expect.objectContaining({ code: 'CALENDAR_RUN_TIMEOUT' })]])
    await vi.advanceTimersByTimeAsync(30_000)
  })

  it('tells runs under way to end when it is stopped, and awaits them', async () => {
    let hasEnded = false
    const { calendar } = createCalendar({
      run: (signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            hasEnded = true
            resolve()
          })
        }),
    })
    calendar.start()
    await vi.advanceTimersByTimeAsync(MINUTE_MS)

    await calendar.stop()

    expect(hasEnded).toBe(true)
  })

  it('refuses a wrong pattern, an unknown time zone and a name that is taken', () => {
    expect(() => createCalendar({ pattern: '99 * * * *' })).toThrow(/CALENDAR_PATTERN.*\n.*funding\n.*99/)
    expect(() => createCalendar({ timeZone: 'Mars/Olympus' })).toThrow(/CALENDAR_TIME_ZONE/)
    expect(() => createCalendar({}, {})).toThrow(/CALENDAR_NAME_TAKEN/)
  })
})
