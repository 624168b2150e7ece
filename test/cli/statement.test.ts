import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { MARK_SERIES, toMarkValue } from '../../src/journal/curves.ts'
import { MAIN, SIMULATOR_SECTION } from '../config/workspace.ts'
import { WrittenJournal } from './written-journal.ts'

/** Four hours behind UTC in October. */
const ZONE = 'America/New_York'
const OCTOBER = Date.UTC(2025, 9, 1, 4)
const NOVEMBER = Date.UTC(2025, 10, 1, 4)

let written: WrittenJournal
beforeEach(() => {
  written = new WrittenJournal(ZONE)
})
afterEach(() => written.remove())

const run = (...words: readonly string[]) => written.run(...words)

/** An account that made 7.5 in the first minute of October in New York. */
function writeJournal(closing = '7.5'): void {
  const text = {
    clientOid: '',
    strategyId: '',
    otherFees: '',
    reason: '',
    tag: '',
    tradeSide: 'close',
  }
  const journal = written.begin([
    {
      kind: 'fill',
      tradeId: 't1',
      at: OCTOBER + 60_000,
      orderId: 'o1',
      owner: 'nobody',
      symbol: 'BTCUSDT',
      side: 'sell',
      price: '60000',
      size: '0.01',
      profit: '8',
      fee: '0.5',
      coin: 'USDT',
      scope: 'taker',
      source: 'API',
      fillKind: 'trade',
      ...text,
    },
  ])
  const mark = (at: number, made: string) => ({
    series: MARK_SERIES,
    at,
    value: toMarkValue({ capital: '10000', made, unrealised: '0' }),
  })
  journal.notePoints([mark(OCTOBER + 1000, '0'), mark(NOVEMBER + 1000, closing)])
  journal.flush()
  void journal.close()
}

describe('intentd statement', () => {
  test('shows a month of the configured time zone, line by line', async () => {
    writeJournal()
    const { code, out } = await run('statement', '--month', '2025-10')
    expect(code).toBe(0)
    expect(out).toContain('paper, 2025-10-01 00:00:00 to 2025-11-01 00:00:00 (America/New_York)')
    const lines = out.split('\n').slice(1, 9)
    expect(lines.map((line) => line.split(/ {2,}/))).toEqual([
      ['line', 'USDT'],
      ['Opening equity', '10000'],
      ['Deposits', '0'],
      ['Withdrawals', '0'],
      ['Realised profit', '+8'],
      ['Fees', '-0.5'],
      ['Funding', '0'],
      ['Change of unrealised profit', '0'],
    ])
    expect(out).toMatch(/^Closing equity +10007\.5$/m)
    expect(out).toContain('fills: not checked')
  })

  test('takes days of another zone with --zone', async () => {
    writeJournal()
    const october = await run('statement', '--month', '2025-10', '--zone', 'Pacific/Honolulu')
    expect(october.out).toMatch(/^Realised profit +0$/m)
    const september = await run('statement', '--month', '2025-09', '--zone', 'Pacific/Honolulu')
    expect(september.out).toMatch(/^Realised profit +\+8$/m)
    expect((await run('statement', '--month', '2025-09', '--zone', 'Mars')).code).toBe(64)
  })

  test.each([
    ['--year', '0098'],
    ['--month', '1998-12'],
    ['--month', '2025-13'],
  ])('knows no account of %s %s', async (option, when) => {
    writeJournal()
    expect((await run('statement', option, when)).code).toBe(64)
  })

  test('ends with 75 where --check could not ask the exchange, and shows the rest', async () => {
    const simulator = SIMULATOR_SECTION
    const remote = MAIN.replace(simulator, 'exchange: { baseUrl: "http://127.0.0.1:9" }\n')
    const zone = `calendar:\n  timezone: ${ZONE}\n`
    written.workspace.fill({ 'config/main.yaml': remote + zone })
    for (const part of ['KEY', 'SECRET', 'PASSPHRASE'])
      vi.stubEnv(`INTENTD_API_${part}`, 'x'.repeat(20))
    writeJournal()
    const { code, out } = await run('statement', '--month', '2025-10', '--check')
    vi.unstubAllEnvs()
    expect(out).toMatch(/^Closing equity +10007\.5$/m)
    expect(out).toMatch(/^positions: not checked; not read: CONNECT_FAILED/m)
    expect(code).toBe(75)
  })

  test('ends with 1, and says by how much, where it does not add up', async () => {
    writeJournal('5')
    const { code, out } = await run('statement', '--month', '2025-10')
    expect(code).toBe(1)
    expect(out).toMatch(/^IT DOES NOT ADD UP BY +-2\.5$/m)
  })

  test('writes the files that were asked for, and the same again', async () => {
    writeJournal()
    const books = join(written.workspace.directory, 'books')
    const words = ['statement', '--year', '2025', '--out', books] as const
    expect((await run(...words)).code).toBe(0)
    expect(readdirSync(books).toSorted()).toEqual([
      'statement-paper-2025.csv',
      'statement-paper-2025.html',
      'statement-paper-2025.json',
      'statement-paper-2025.tax.csv',
    ])
    const tax = readFileSync(join(books, 'statement-paper-2025.tax.csv'), 'utf8')
    expect(tax).toContain('2025-10-01 04:01:00 UTC,,,8,USDT,0.5,USDT,,,realized gain')
    expect((await run(...words, '--format', 'tax')).out).toContain('written anew')
    expect(readFileSync(join(books, 'statement-paper-2025.tax.csv'), 'utf8')).toBe(tax)
  })

  test.each([
    [[], 'say which time'],
    [['--month', '2025-10', '--year', '2025'], 'say which time'],
    [['--from', '2999-01-01'], 'has not begun'],
    [['--from', '2025-10-02', '--to', '2025-10-01'], 'ends before it begins'],
    [['--to', '2025-10-01'], 'say where it begins'],
    [['--month', '2025-13'], 'write a month'],
    [['--month', '2025-10', '--format', 'pdf'], 'html, csv, json, tax'],
  ])('refuses %j', async (words, why) => {
    writeJournal()
    const { code, out, aside } = await run('statement', ...words)
    expect(code).toBe(64)
    expect(out + aside).toContain(why)
  })
})

describe('intentd deposit', () => {
  test.each([[[]], [['5', '--list']], [['--correct', '1', '--coin', 'BGB']]])(
    'refuses %j',
    async (words) => {
      expect((await run('deposit', ...words)).code).toBe(64)
    },
  )

  test('enters nothing without a daemon, and lists an empty journal', async () => {
    writeJournal()
    const entered = await run('deposit', '5')
    expect([entered.code, entered.out + entered.aside]).toEqual([
      75,
      expect.stringContaining('no daemon runs'),
    ])
    expect((await run('deposit', '--list')).out).toBe('no deposit and no withdrawal was entered\n')
  })
})
