import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { showAlerts } from '../../src/cli/fleet.ts'

const printed: string[] = []

beforeEach(() => {
  printed.length = 0
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed.push(String(text))
    return true
  })
})
afterEach(() => vi.restoreAllMocks())

const one = {
  ...{
    id: 7,
    at: 0,
    holder: 'live on a',
    schema: 's',
    urgency: 'urgent',
    event: 'e',
    title: 'odd',
    lines: [],
  },
}

test.each<[string, object[], object, string]>([
  [
    'says so where there is none',
    [],
    { limit: 50 },
    'no account of this database has raised an alert within a month\n',
  ],
  ['prints nothing for a program where there is none', [], { limit: 50, json: true }, ''],
  ['prints nothing of before where none is asked for', [one], { limit: 0 }, ''],
  ['prints one a line', [one, one], { limit: 50 }, '1970-01-01 00:00:00 UTC  ! odd (live on a)\n'.repeat(2)],
])('fleet alerts %s', async (_, alerts, options, text) => {
  const reader = { readAlerts: () => Promise.resolve(alerts as never) }
  expect(await showAlerts(reader, options as never)).toBe(0)
  expect(printed.join('')).toBe(text)
})
