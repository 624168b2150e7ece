import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Calendar, type CalendarJob } from '../../src/market/calendar.ts'

const MINUTE_MS = 60_000

let calendar: Calendar

/** Jobs that run each minute unless told otherwise; answers what went wrong with them. */
function createCalendar(...jobs: readonly Partial<CalendarJob>[]): unknown[] {
  const errors: unknown[] = []
  const onError: CalendarJob['onError'] = (error) => errors.push(error)
  const ordinary = {
    name: 'funding',
    pattern: '* * * * *',
    timeZone: 'UTC',
    run: () => undefined,
    onError,
  }
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
    const note = (name: string) => () =>
      void runs.push(`${name} ${new Date().toISOString().slice(11, 19)}`)
    createCalendar(
      { name: 'funding', pattern: '5 0 */8 * * *', run: note('funding') },
      { name: 'day roll', pattern: '0 0 * * *', timeZone: 'Asia/Tokyo', run: note('day roll') },
    )

    calendar.start()
    await vi.advanceTimersByTimeAsync(24 * 60 * MINUTE_MS)

    expect(runs).toEqual([
      'funding 00:00:05',
      'funding 08:00:05',
      'day roll 15:00:00',
      'funding 16:00:05',
    ])
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
    const printed = [
      vi.spyOn(console, 'error'),
      vi.spyOn(console, 'warn'),
      vi.spyOn(console, 'log'),
    ]
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

/** Runs of one day, in UTC. */
async function runsOf(
  timeZone: string,
  pattern: string,
  from: string,
  hours: number,
): Promise<string[]> {
  vi.setSystemTime(new Date(from))
  const runs: string[] = []
  const errors = createCalendar({
    timeZone,
    pattern,
    run: () => void runs.push(new Date().toISOString().slice(0, 19)),
  })
  calendar.start()
  await vi.advanceTimersByTimeAsync(hours * 60 * MINUTE_MS)
  expect(errors).toEqual([])
  return runs
}

describe('where a zone skips an hour in spring', () => {
  it.each([
    // 02:00 becomes 03:00 at 01:00 UTC.
    [
      'Europe/Berlin',
      '30 2 * * *',
      '2024-03-30T12:00:01Z',
      ['2024-03-31T01:00:00', '2024-04-01T00:30:00'],
    ],
    [
      'Europe/Berlin',
      '5 0 2 * * *',
      '2024-03-30T12:00:01Z',
      ['2024-03-31T01:00:00', '2024-04-01T00:00:05'],
    ],
    [
      'Europe/Berlin',
      '0 3 * * *',
      '2024-03-30T12:00:01Z',
      ['2024-03-31T01:00:00', '2024-04-01T01:00:00'],
    ],
    [
      'America/New_York',
      '15 2 * * *',
      '2024-03-09T18:00:01Z',
      ['2024-03-10T07:00:00', '2024-03-11T06:15:00'],
    ],
    // Midnight does not exist: 00:00 becomes 01:00 at 04:00 UTC.
    [
      'America/Santiago',
      '0 0 * * *',
      '2024-09-07T12:00:01Z',
      ['2024-09-08T04:00:00', '2024-09-09T03:00:00'],
    ],
    // Half an hour: 02:00 becomes 02:30 at 15:30 UTC.
    [
      'Australia/Lord_Howe',
      '10 2 * * *',
      '2024-10-05T02:00:01Z',
      ['2024-10-05T15:30:00', '2024-10-06T15:10:00'],
    ],
    [
      'Australia/Lord_Howe',
      '40 2 * * *',
      '2024-10-05T02:00:01Z',
      ['2024-10-05T15:40:00', '2024-10-06T15:40:00'],
    ],
  ])('%s runs %s when that is over, and once', async (timeZone, pattern, from, expected) => {
    expect(await runsOf(timeZone, pattern, from, 42)).toEqual(expected)
  })

  it('runs once what is due each minute, and what is due after it anyway', async () => {
    const each = await runsOf('Europe/Berlin', '*/30 * * * *', '2024-03-31T00:10:01Z', 2)

    expect(each).toEqual([
      '2024-03-31T00:30:00',
      '2024-03-31T01:00:00',
      '2024-03-31T01:30:00',
      '2024-03-31T02:00:00',
    ])
  })

  it('runs it also when the machine slept over it', async () => {
    const runs = await runsOf('Europe/Berlin', '30 2 * * *', '2024-03-31T00:50:01Z', 0)
    vi.setSystemTime(new Date('2024-03-31T04:20:30Z'))
    await vi.advanceTimersByTimeAsync(2 * MINUTE_MS)

    expect(runs).toHaveLength(1)
  })
})

describe('where a zone repeats an hour in autumn', () => {
  it.each([
    [
      'Europe/Berlin',
      '30 2 * * *',
      '2024-10-26T12:00:01Z',
      ['2024-10-27T01:30:00', '2024-10-28T01:30:00'],
    ],
    [
      'America/Santiago',
      '30 23 * * *',
      '2024-04-06T12:00:01Z',
      ['2024-04-07T02:30:00', '2024-04-08T03:30:00'],
    ],
    [
      'Australia/Lord_Howe',
      '45 1 * * *',
      '2024-04-06T02:00:01Z',
      ['2024-04-06T15:15:00', '2024-04-07T15:15:00'],
    ],
  ])('%s runs %s once', async (timeZone, pattern, from, expected) => {
    expect(await runsOf(timeZone, pattern, from, 42)).toEqual(expected)
  })
})
