import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { showAlerts } from '../../src/cli/fleet/fleet.ts'

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
  id: 7,
  at: 0,
  holder: 'live on a',
  schema: 's',
  urgency: 'urgent',
  event: 'e',
  title: 'odd',
  lines: [],
}

function readerOf(alerts: readonly object[]) {
  return {
    readAlerts: () => Promise.resolve(alerts as never),
    assertVersion: () => Promise.resolve(),
  }
}

test('fleet alerts names the database of each line where there are several', async () => {
  const database = { name: 'db.example/base', reader: readerOf([one]) }
  await showAlerts(database, { limit: 50 })
  await showAlerts(database, { limit: 50, json: true })

  expect(printed).toEqual([
    'db.example/base: 1970-01-01 00:00:00 UTC  ! odd (live on a)\n',
    expect.stringMatching(/^{"database":"db.example\/base","id":7,/),
  ])
})

test.each<[string, object[], object, string]>([
  [
    'says so where there is none',
    [],
    { limit: 50 },
    'no account of this database has raised an alert within a month\n',
  ],
  ['prints nothing for a program where there is none', [], { limit: 50, json: true }, ''],
  ['prints nothing of before where none is asked for', [one], { limit: 0 }, ''],
  [
    'prints one a line',
    [one, one],
    { limit: 50 },
    '1970-01-01 00:00:00 UTC  ! odd (live on a)\n'.repeat(2),
  ],
])('fleet alerts %s', async (_, alerts, options, text) => {
  const reader = readerOf(alerts)
  expect(await showAlerts({ name: undefined, reader }, options as never)).toBe(0)
  expect(printed.join('')).toBe(text)
})
