import { expect, test } from 'vitest'
import { createLocalClock, isBetween, toMinute } from '../../src/alerts/delivery/local-time.ts'

test('the day and the minute are those of the time zone, in summer and in winter', () => {
  const clock = createLocalClock('Europe/Berlin')

  expect(clock(Date.UTC(2026, 0, 31, 23, 30))).toEqual({ day: '2026-02-01', minute: 30 })
  expect(clock(Date.UTC(2026, 6, 1, 5, 59))).toEqual({ day: '2026-07-01', minute: 7 * 60 + 59 })
  expect(createLocalClock('UTC')(Date.UTC(2026, 6, 1))).toEqual({ day: '2026-07-01', minute: 0 })
})

test('quiet hours may lie over midnight, begin with their first minute and end before their last', () => {
  const night = { from: '22:00', to: '07:00' }
  const noon = { from: '12:00', to: '13:00' }
  const at = (time: string) => [isBetween(toMinute(time), night), isBetween(toMinute(time), noon)]

  expect(['21:59', '22:00', '00:00', '06:59', '07:00'].map((time) => at(time)[0])).toEqual([
    false,
    true,
    true,
    true,
    false,
  ])
  expect(['11:59', '12:00', '12:59', '13:00'].map((time) => at(time)[1])).toEqual([
    false,
    true,
    true,
    false,
  ])
})
