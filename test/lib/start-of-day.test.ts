import { expect, test } from 'vitest'
import { dateOf, startOfDate, weekOf } from '../../src/lib/start-of-day.ts'

test.each([
  ['UTC', '2025-06-02', '2025-06-02T00:00:00Z'],
  ['America/New_York', '2025-06-02', '2025-06-02T04:00:00Z'],
  ['Pacific/Kiritimati', '2025-06-02', '2025-06-01T10:00:00Z'],
  ['Pacific/Pago_Pago', '2025-06-02', '2025-06-02T11:00:00Z'],
  // The clocks were changed on these days.
  ['Europe/Berlin', '2025-03-30', '2025-03-29T23:00:00Z'],
  ['Europe/Berlin', '2025-03-31', '2025-03-30T22:00:00Z'],
  ['Europe/Berlin', '2025-10-26', '2025-10-25T22:00:00Z'],
  ['Europe/Berlin', '2025-10-27', '2025-10-26T23:00:00Z'],
  // There was no midnight, and no 30th.
  ['America/Santiago', '2024-09-08', '2024-09-08T04:00:00Z'],
  ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00Z'],
])('in %s %s begins at %s', (timeZone, date, begin) => {
  expect(new Date(startOfDate(date, timeZone)).toISOString()).toBe(begin.replace('Z', '.000Z'))
})

test.each(['Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Europe/Berlin', 'Asia/Kathmandu'])(
  'every date in %s begins with itself',
  (timeZone) => {
    for (let day = 0; day < 366; day += 1) {
      const date = new Date(Date.UTC(2024, 0, 1 + day)).toISOString().slice(0, 10)
      const begin = startOfDate(date, timeZone)
      expect([dateOf(begin, timeZone), dateOf(begin - 1, timeZone) < date]).toEqual([date, true])
    }
  },
)

test.each([
  ['2025-06-02', '2025-W23'],
  ['2025-06-08', '2025-W23'],
  ['2025-06-09', '2025-W24'],
  // A week belongs to the year of its Thursday.
  ['2024-12-30', '2025-W01'],
  ['2026-12-31', '2026-W53'],
  ['2027-01-03', '2026-W53'],
  ['2027-01-04', '2027-W01'],
])('%s is in the week %s', (date, week) => {
  expect(weekOf(date)).toBe(week)
})
