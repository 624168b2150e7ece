import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Deposit } from '../../src/domain/deposit.ts'
import { JournalReader } from '../../src/journal/journal-reader.ts'
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts'
import { type Decimal, decimal, sumDecimals } from '../../src/lib/decimal.ts'
import { startOfDate } from '../../src/lib/start-of-day.ts'
import type { LedgerStatement } from '../../src/simulator/futures/accounts/ledger-view.ts'
import { buildStatement } from '../../src/views/statement/build-statement.ts'
import type { LineName, Statement, StatementRow } from '../../src/views/statement/statement.ts'
import { START_AT } from '../backtest/paper-account.ts'
import { playMonth, type PlayedMonth } from './played-month.ts'

const DAYS = 31
const ZONES = ['UTC', 'America/New_York', 'Asia/Kolkata'] as const
const DATES = ['2025-06-10', '2025-06-20', '2025-07-01'] as const

/** A boundary belongs to what begins there, so the ledger before it counts. */
const before = (date: string, zone: string): number => startOfDate(date, zone) - 1
const at = (date: string): number => startOfDate(date, 'UTC')

function depositOf(id: string, amount: string, date: string, enteredLaterMs = 0): Deposit {
  const movedAt = at(date) + 3_600_000
  const enteredAt = movedAt + enteredLaterMs
  const key = `deposit-${id}`
  const common = { coin: 'USDT', isCapital: true, note: 'test', by: 'anna', key }
  return { id, amount, movedAt, enteredAt, ...common }
}

/** The last one is entered when the next span has begun. */
const DEPOSITS: readonly Deposit[] = [
  depositOf('1', '500.25', '2025-06-12'),
  depositOf('2', '-120', '2025-06-15'),
  depositOf('3', '33', '2025-06-19', 3 * 86_400_000),
]

let folder: string
let played: PlayedMonth
let reader: JournalReader

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'statement-'))
  const file = join(folder, 'journal.sqlite')
  const journal = openSqliteJournal({ file, identity: 'paper 1', keepSince: () => 0 })
  played = await playMonth(journal, {
    seed: '1',
    days: DAYS,
    timeZone: 'UTC',
    ledgersAt: ZONES.flatMap((zone) => DATES.map((date) => before(date, zone))),
    deposits: DEPOSITS,
  })
  journal.close()
  reader = new JournalReader(file)
}, 600_000)

afterAll(() => {
  reader.close()
  rmSync(folder, { recursive: true })
})

function statementOf(from: string, to: string, zone: string): Statement {
  const account = { positionMode: 'one_way_mode', marginCoin: 'USDT' }
  const config = { name: 'paper', environment: 'simulator', account, calendar: { timezone: zone } }
  return buildStatement(reader, {
    config: config as never,
    since: startOfDate(from, zone),
    until: startOfDate(to, zone),
    now: played.endAt,
  })
}

const lineOf = ({ lines }: Statement, name: LineName): string =>
  lines.find((line) => line.name === name)?.amount ?? 'none'

/** What the exchange's own ledger says happened between two of its states. */
function changesOf(from: LedgerStatement | undefined, to: LedgerStatement | undefined) {
  const [one, other] = [from?.coins[0], to?.coins[0]]
  if (one === undefined || other === undefined) throw new Error('no ledger was written down')
  const change = (name: 'realisedProfit' | 'fees' | 'funding'): string =>
    decimal(other[name]).minus(decimal(one[name])).toString()
  return {
    realised: change('realisedProfit'),
    fees: change('fees'),
    funding: change('funding'),
  }
}

const sumOf = (rows: readonly StatementRow[], name: 'realised' | 'fees' | 'funding' | 'net') =>
  sumDecimals(rows.map((row) => decimal(row[name]))).toString()

const negated = (text: string): string => decimal('0').minus(decimal(text)).toString()

describe.each(ZONES)('a month of an account, in %s', (zone) => {
  const ledgerAt = (date: string) => played.ledgers.get(before(date, zone))
  const spans = [
    ['2025-06-01', '2025-07-01', () => played.ledgers.get(START_AT), () => ledgerAt('2025-07-01')],
    ['2025-06-10', '2025-06-20', () => ledgerAt('2025-06-10'), () => ledgerAt('2025-06-20')],
    ['2025-06-20', '2025-07-01', () => ledgerAt('2025-06-20'), () => ledgerAt('2025-07-01')],
  ] as const

  test.each(spans)('from %s to %s is the ledger of the exchange to the last digit', (...span) => {
    const [from, to, first, last] = span
    const statement = statementOf(from, to, zone)
    const expected = changesOf(first(), last())
    expect(Number(expected.fees)).toBeGreaterThan(1)

    expect(lineOf(statement, 'realised')).toBe(expected.realised)
    expect(lineOf(statement, 'fees')).toBe(negated(expected.fees))
    expect(lineOf(statement, 'funding')).toBe(expected.funding)
    for (const rows of [statement.days, statement.instruments, statement.strategies]) {
      expect(sumOf(rows, 'realised')).toBe(expected.realised)
      expect(sumOf(rows, 'fees')).toBe(expected.fees)
      expect(sumOf(rows, 'funding')).toBe(expected.funding)
    }
  })

  test.each(spans)('from %s to %s adds up, and what was made is the balance', (...span) => {
    const [from, to, , last] = span
    const statement = statementOf(from, to, zone)
    const { opening, closing, lines, difference } = statement
    expect(difference).toBe('0')
    const all = sumDecimals([
      decimal(opening?.equity ?? ''),
      ...lines.map(({ amount }): Decimal => decimal(amount)),
    ])
    expect(closing?.equity).toBe(all.toString())
    const coin = last()?.coins[0]
    const made = decimal(coin?.balance ?? '').minus(decimal(coin?.opening ?? ''))
    expect(closing?.made).toBe(made.toString())
  })

  test('two spans that meet are one', () => {
    const [whole, first, second] = [
      statementOf('2025-06-10', '2025-07-01', zone),
      statementOf('2025-06-10', '2025-06-20', zone),
      statementOf('2025-06-20', '2025-07-01', zone),
    ]
    expect(first.closing).toEqual(second.opening)
    expect([whole.opening, whole.closing]).toEqual([first.opening, second.closing])
    expect(whole.trades).toEqual([...first.trades, ...second.trades])
    for (const name of ['realised', 'fees', 'funding', 'unrealised', 'deposits'] as const) {
      const sum = decimal(lineOf(first, name)).plus(decimal(lineOf(second, name)))
      expect(lineOf(whole, name)).toBe(sum.toString())
    }
  })
})

test('a deposit counts when it was moved, also where it was entered in the next span', () => {
  const first = statementOf('2025-06-10', '2025-06-20', 'UTC')
  expect(lineOf(first, 'deposits')).toBe('533.25')
  expect(lineOf(first, 'withdrawals')).toBe('-120')
  expect(first.deposits.map(({ id }) => id)).toEqual(['1', '2', '3'])
  const second = statementOf('2025-06-20', '2025-07-01', 'UTC')
  expect(lineOf(second, 'deposits')).toBe('0')
  expect(second.opening?.capital).toBe(
    decimal(first.opening?.capital ?? '')
      .plus(decimal('413.25'))
      .toString(),
  )
})

test('a trade that is open at a boundary belongs to the span in which it was closed', () => {
  const border = at('2025-06-20')
  const { trades } = statementOf('2025-06-20', '2025-07-01', 'UTC')
  const across = trades.filter(({ openedAt }) => openedAt < border)
  expect(across.length).toBeGreaterThan(0)
  expect(trades.every(({ closedAt }) => closedAt >= border)).toBe(true)
})

test('a time that is not over ends where the account was noted last, and says so', () => {
  const { until, difference, closing, remarks } = statementOf('2025-06-20', '2025-08-01', 'UTC')
  expect(until).toBe(closing?.notedAt)
  expect(until).toBeGreaterThan(played.endAt - 2 * 3_600_000)
  expect(difference).toBe('0')
  expect(remarks.join(' ')).toContain('when the daemon last wrote down what the account is worth')
})
