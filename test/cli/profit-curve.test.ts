import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { ACCOUNT_SERIES } from '../../src/journal/curves.ts'
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts'
import { MAIN, Workspace } from '../config/workspace.ts'

const AT = Date.UTC(2025, 5, 2, 10)
const HOUR_MS = 3_600_000

let workspace: Workspace
beforeEach(() => {
  workspace = new Workspace()
  workspace.fill({ 'config/main.yaml': MAIN })
  const directory = join(workspace.directory, '.intentd/paper')
  mkdirSync(directory, { recursive: true })
  const journal = openSqliteJournal({
    file: join(directory, 'journal.sqlite'),
    identity: 'paper',
    keepSince: () => 0,
  })
  journal.notePoints(
    ['1000 0 1000', '980.5 -19.5 1000', '1010 10 1010', '1020 ? 1020'].map((value, index) => ({
      series: ACCOUNT_SERIES,
      at: AT + index * 12 * HOUR_MS,
      value,
    })),
  )
  journal.close()
})
afterEach(() => {
  vi.restoreAllMocks()
  workspace.remove()
})

async function run(...words: readonly string[]): Promise<{ code: number; out: string }> {
  let out = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += String(text)
    return true
  })
  const aside = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const code = await main(['profit', ...words, '-c', join(workspace.directory, 'config/main.yaml')])
  if (code !== 0) out += aside.mock.calls.map(([text]) => String(text)).join('')
  vi.restoreAllMocks()
  return { code, out }
}

describe('intentd profit --curve', () => {
  test('shows equity, its change, its ends, what was made with unrealised, and peak of each day', async () => {
    expect((await run('--curve')).out).toBe(
      [
        'day           equity   change    lowest   highest  with unrealised      peak',
        '2025-06-02    980.50             980.50  1,000.00           -19.50  1,000.00  USDT',
        '2025-06-03  1,020.00  +4.03 %  1,010.00  1,020.00                -  1,020.00  USDT',
        '',
      ].join('\n'),
    )
  })

  test('gives every point as CSV and JSON, of a span too', async () => {
    expect((await run('--curve', '--csv', '--since', '2025-06-03T00:00Z')).out).toBe(
      'at,equity,netWithUnrealised,peak\n2025-06-03T10:00:00.000Z,1010,10,1010\n2025-06-03T22:00:00.000Z,1020,,1020\n',
    )
    expect(JSON.parse((await run('--curve', '--json')).out)).toHaveLength(4)
    expect((await run('--curve', '--until', '2025-06-01')).out).toMatch(/^no curve yet/)
  })

  test('[CFG1] refuses rows that a curve does not have', async () => {
    expect(await run('--curve', '--by', 'strategy')).toEqual({
      code: 64,
      out: expect.stringMatching(/PROFIT_CURVE_GROUP[^]*--by day, week or month/),
    })
  })
})
