import { expect, test } from 'vitest'
import { parseTime } from '../../src/lib/text/parse-time.ts'

test.each([
  ['2025-02-28', Date.UTC(2025, 1, 28)],
  ['2024-02-29T12:30:00Z', Date.UTC(2024, 1, 29, 12, 30)],
  ['2025-03-01T00:30:00+02:00', Date.UTC(2025, 1, 28, 22, 30)],
  ['2025-02-29', undefined],
  ['2025-02-30T12:00:00Z', undefined],
  ['2025-04-31T12:00:00+02:00', undefined],
  ['2025-13-01', undefined],
  ['2025-06-02T25:00Z', undefined],
  ['now', undefined],
])('%s is %s', (text, at) => {
  expect(parseTime(text)).toBe(at)
})
