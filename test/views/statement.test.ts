import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { JournalRecord } from '../../src/domain/record.ts'
import { buildInstrument } from '../../src/domain/instrument.ts'
import type { BookedFill, BookedFunding, Booking } from '../../src/journal/booking.ts'
import { MARK_SERIES, toMarkValue } from '../../src/journal/curves.ts'
import { JournalReader } from '../../src/journal/journal-reader.ts'
import type { BookRow, OpenedJournal } from '../../src/journal/journal.ts'
import type { PostgresPlace } from '../../src/journal/postgres/connection.ts'
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts'
import { buildStatement } from '../../src/views/statement/build-statement.ts'
import {
  compareStatement,
  type ComparedExchange,
} from '../../src/views/statement/compare-statement.ts'
import { type Statement } from '../../src/views/statement/statement.ts'
import { renderStatement } from '../../src/views/statement/statement-page.ts'
import { toStatementCsv, toTaxCsv } from '../../src/views/statement/statement-tables.ts'
import { createBook } from '../../src/engine/book/book.ts'
import { Machine } from '../journal/postgres/scene.ts'
import { postgresMissing, postgresServer } from '../support/postgres-server.ts'

const SINCE = Date.UTC(2026, 9, 1)
const UNTIL = Date.UTC(2026, 10, 1)
const HOUR_MS = 3_600_000

let folder: string
let fills = 0
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'statement-'))
  fills = 0
})
afterEach(() => rmSync(folder, { recursive: true }))

function fill(at: number, parts: Partial<BookedFill>): BookedFill {
  fills += 1
  return {
    kind: 'fill',
    tradeId: `t${fills}`,
    at,
    orderId: `o${fills}`,
    clientOid: `c${fills}`,
    strategyId: 'turn',
    owner: 'strategy',
    symbol: 'BTCUSDT',
    side: 'buy',
    tradeSide: 'open',
    price: '100',
    size: '1',
    profit: '0',
    fee: '0.1',
    coin: 'USDT',
    scope: 'taker',
    source: 'API',
    fillKind: 'trade',
    otherFees: '',
    reason: '',
    tag: '',
    ...parts,
  }
}

function funding(at: number, amount: string): BookedFunding {
  return {
    kind: 'funding',
    id: `f${at}`,
    at,
    symbol: 'BTCUSDT',
    side: 'long',
    amount,
    coin: 'USDT',
  }
}

const BOOT: Extract<JournalRecord, { kind: 'boot' }> = {
  kind: 'boot',
  at: SINCE - 9 * HOUR_MS,
  exchangeAt: SINCE - 9 * HOUR_MS,
  epoch: 1,
  version: '0',
  environment: 'simulator',
  positionMode: 'one_way_mode',
  configHash: '',
  strategies: [],
  grids: { BTCUSDT: { tick: '0.1', lot: '0.001' } },
}

interface Mark {
  readonly at: number
  readonly capital: string | null
  readonly made: string
  readonly unrealised: string
}

/** The account buys before the month, turns its position as the month begins, and holds on at its end. */
const ROWS = (): readonly Booking[] => [
  fill(SINCE - HOUR_MS, { price: '100' }),
  fill(SINCE, { side: 'sell', size: '2', price: '110', profit: '10', fee: '0.22' }),
  funding(SINCE + HOUR_MS, '-0.05'),
  fill(SINCE + 2 * HOUR_MS, {
    side: 'buy',
    price: '105',
    profit: '5',
    fee: '',
    otherFees: 'BGB 0.2 at 0.5;BNB 0.01',
  }),
  fill(UNTIL - 1, { price: '106', fee: '-0.03' }),
  fill(UNTIL, { price: '107', fee: '0.4' }),
]

const MARKS: readonly Mark[] = [
  // The fill that turned it is counted already.
  { at: SINCE + 4000, capital: '1000', made: '9.68', unrealised: '1.5' },
  { at: SINCE + HOUR_MS * 5, capital: '1000', made: '14.53', unrealised: '0' },
  // The first fill of the next month is not.
  { at: UNTIL + 2000, capital: '1000', made: '14.56', unrealised: '-0.25' },
]

function write(journal: OpenedJournal, marks: readonly Mark[], rows: readonly Booking[]): void {
  journal.append(BOOT)
  // Whatever the record says, its bookings are what a statement reads.
  journal.append({ ...BOOT, at: BOOT.at + 1 }, rows)
  journal.notePoints(
    marks.map(({ at, ...parts }) => ({ series: MARK_SERIES, at, value: toMarkValue(parts) })),
  )
  journal.flush()
}

interface Written {
  readonly more?: readonly JournalRecord[]
  readonly now?: number
  /** Of an earlier version, before all records. */
  readonly checkpoint?: readonly BookRow[]
}

function inFile(
  marks = MARKS,
  rows = ROWS(),
  { more = [], now, checkpoint }: Written = {},
): Statement {
  const file = join(folder, 'journal.sqlite')
  const journal = openSqliteJournal({ file, identity: 'paper 1', keepSince: () => 0 })
  if (checkpoint !== undefined) journal.saveCheckpoint(checkpoint)
  write(journal, marks, rows)
  for (const record of more) journal.append(record)
  journal.close()
  return read(file, now)
}

function read(file: string, now = UNTIL + HOUR_MS): Statement {
  const account = { positionMode: 'one_way_mode', marginCoin: 'USDT' }
  const config = { name: 'a&b', environment: 'simulator', account, calendar: { timezone: 'UTC' } }
  const reader = new JournalReader(file)
  try {
    return buildStatement(reader, { config: config as never, since: SINCE, until: UNTIL, now })
  } finally {
    reader.close()
  }
}

const EXPECTED = {
  opening: { equity: '1001.4', capital: '1000', made: '-0.1', unrealised: '1.5' },
  closing: { equity: '1014.31', capital: '1000', made: '14.56', unrealised: '-0.25' },
  difference: '0',
} as const

describe('a statement', () => {
  test('adds up where a position turned and a mark came as the month began', () => {
    const statement = inFile()
    expect(statement).toMatchObject(EXPECTED)
    expect(statement.lines).toEqual([
      { name: 'deposits', amount: '0' },
      { name: 'withdrawals', amount: '0' },
      { name: 'realised', amount: '15' },
      { name: 'fees', amount: '-0.29' },
      { name: 'funding', amount: '-0.05' },
      { name: 'unrealised', amount: '-1.75' },
    ])
    expect(statement.trades).toMatchObject([
      { side: 'long', openedAt: SINCE - HOUR_MS, closedAt: SINCE, gross: '10' },
      { side: 'short', openedAt: SINCE, gross: '5' },
    ])
    expect(statement.fees).toEqual([
      { coin: 'USDT', paid: '0.19', worth: '0.19', uncounted: '0' },
      { coin: 'BGB', paid: '0.2', worth: '0.1', uncounted: '0' },
      { coin: 'BNB', paid: '0.01', worth: '0', uncounted: '0.01' },
    ])
    expect(statement.days.map(({ name, net }) => [name, net])).toEqual([
      ['2026-10-01', '14.63'],
      ['2026-10-31', '0.03'],
    ])
    expect(statement.remarks.join(' ')).toContain('0.01 BNB, the fee of 1 fill not counted')
  })

  test('says by how much it does not add up', () => {
    const [first, second, last] = MARKS as [Mark, Mark, Mark]
    const marks = [first, second, { ...last, made: '13.06' }]
    const statement = inFile(marks, ROWS().slice(0, -1))
    expect(statement.difference).toBe('-1.5')
    expect(renderStatement(statement)).toContain('It does not add up')
    expect(toStatementCsv(statement)).toMatch(/^difference,.*-1\.5,USDT,$/m)
  })

  test('names a capital that was changed in the configuration', () => {
    const [first, second, last] = MARKS as [Mark, Mark, Mark]
    const statement = inFile([first, second, { ...last, capital: '1500' }])
    expect(statement.difference).toBe('0')
    expect(statement.lines).toContainEqual({ name: 'capitalChange', amount: '500' })
    expect(statement.closing?.equity).toBe('1514.31')
  })

  test('[MON2] without a capital compares what was made, and calls the equity not known', () => {
    const statement = inFile(MARKS.map((mark) => ({ ...mark, capital: null })))
    expect(statement.opening).toMatchObject({ equity: null, made: '-0.1' })
    expect(statement.difference).toBe('0')
    expect(statement.remarks.join(' ')).toContain('account.capital was not set')
  })

  test('of a journal without marks has its lines, and no opening and closing', () => {
    const statement = inFile([])
    expect(statement).toMatchObject({ opening: null, closing: null, difference: null })
    expect(statement.lines).toContainEqual({ name: 'realised', amount: '15' })
    expect(statement.remarks.join(' ')).toContain(
      'wrote down no figures of the account in this time',
    )
  })

  test('[MON2] whose end is not known yet says when it will be, and where the equity of now is', () => {
    const marks = MARKS.slice(0, 1)
    const running = inFile(marks, ROWS(), { now: SINCE + HOUR_MS / 2 })
    expect(running).toMatchObject({ opening: { equity: '1001.4' }, closing: null })
    expect(running.remarks).toContain(
      'The closing equity is not known yet: the daemon wrote down what the account is worth only once in this time, at 2026-10-01 00:00:04. It does so again at 2026-10-01 01:00:00: let it run, and ask again then. Until then `intentd status` shows the equity of now, and the lines are right without it.',
    )
    const over = read(join(folder, 'journal.sqlite'))
    expect(over.remarks.join(' ')).toContain(
      'and not again since. It does so as each hour begins: start it',
    )
  })

  test('that ends before its time says since when nothing is in it, and what to do', () => {
    const marks = MARKS.slice(0, 2)
    const { until, remarks } = inFile(marks, ROWS(), { now: SINCE + 6 * HOUR_MS })
    expect(until).toBe(SINCE + 5 * HOUR_MS)
    expect(remarks).toContain(
      'It ends at 2026-10-01 05:00:00 instead of 2026-11-01 00:00:00: that is when the daemon last wrote down what the account is worth. What happened later is in no line. It does so as it has started, and then as each hour begins. Ask again after that for what is newer.',
    )
  })

  test('says that a deposit older than the first figures is not checked', () => {
    const deposit = {
      id: '1',
      movedAt: SINCE + 1000,
      enteredAt: SINCE + 9000,
      amount: '50',
      coin: 'USDT',
      isCapital: true,
      note: '',
      by: 'anna',
      key: 'key-0001',
    }
    const entered = { kind: 'deposit', at: SINCE + 9000, deposit } as const
    const scalars = JSON.stringify({ positionMode: 'one_way_mode', epoch: 1 })
    const checkpoint = [{ name: 'scalars', key: '', value: scalars }]
    const remark =
      /Entry 1 is dated before the first figures .*: not checked is whether account.capital/
    const earlier = inFile(MARKS, ROWS(), { more: [entered], checkpoint })
    expect(earlier.remarks.join(' ')).toMatch(remark)
    expect(earlier.journal.run).toBe(1)
  })

  test('cites the newest record of the journal, in each of its forms', () => {
    const statement = inFile()
    expect(statement.journal).toEqual({ run: 1, sequence: 2 })
    expect(renderStatement(statement)).toContain('from journal record 2 of run 1.')
    expect(toStatementCsv(statement)).toMatch(/^source,.*journal record 2 of run 1$/m)
  })

  test('says which part was archived, also long after the record of it is dropped', () => {
    const at = UNTIL
    const archived = {
      kind: 'archived',
      at,
      before: SINCE + 1,
      fills: 2,
      fundings: 0,
      file: 'x',
    } as const
    const statement = inFile(MARKS, ROWS().slice(2), { more: [archived] })
    expect(statement.remarks.join(' ')).toContain('before 2026-10-01 00:00:00 UTC were archived')
    expect(statement.lines).toContainEqual({ name: 'realised', amount: '5' })
  })

  test('names as an estimate what no reading showed of funding, and adds it to nothing', () => {
    const paid = { at: UNTIL, symbol: 'BTCUSDT', holdSide: 'long', paidAt: SINCE + 1 } as const
    const unseen = { kind: 'unseenFunding', ...paid, change: '-18.66' } as const
    const statement = inFile(MARKS, ROWS(), { more: [unseen, { ...unseen, change: '-0.34' }] })
    expect(statement).toMatchObject(EXPECTED)
    expect(statement.remarks.join(' ')).toContain('have paid -19 since the journal began, as')
  })

  test.skipIf(postgresMissing !== undefined)(
    'is the same from a journal on PostgreSQL',
    async () => {
      const place: PostgresPlace = (await postgresServer()).newPlace()
      const machine = new Machine('a', place)
      try {
        const { journal } = await machine.open()
        write(journal, MARKS, ROWS())
        await journal.close()
        expect(read(machine.file)).toMatchObject(EXPECTED)
      } finally {
        machine.remove()
      }
    },
  )
})

describe('what a statement is written as', () => {
  test('a page without scripts, in which texts are escaped', () => {
    const page = renderStatement(inFile())
    expect(page).toContain('Statement of a&amp;b')
    expect(page).not.toMatch(/<script|https?:\/\//)
  })

  test('rows for tax programs: profit with its fee, costs alone, refunds, other coins', () => {
    const [header, ...rows] = toTaxCsv(inFile()).trim().split('\n')
    expect(header?.split(',').slice(0, 7)).toEqual([
      'Date',
      'Sent Amount',
      'Sent Currency',
      'Received Amount',
      'Received Currency',
      'Fee Amount',
      'Fee Currency',
    ])
    expect(rows.map((row) => row.split(',').filter(Boolean).slice(0, -2).join(' '))).toEqual([
      '2026-10-01 00:00:00 UTC 10 USDT 0.22 USDT realized gain',
      '2026-10-01 01:00:00 UTC 0.05 USDT realized gain',
      '2026-10-01 02:00:00 UTC 5 USDT realized gain',
      '2026-10-01 02:00:00 UTC 0.2 BGB cost',
      '2026-10-01 02:00:00 UTC 0.01 BNB cost',
      '2026-10-31 23:59:59 UTC 0.03 USDT fee refund',
    ])
  })
})

describe('compared with the exchange', () => {
  const INSTRUMENT = buildInstrument(
    'BTCUSDT',
    { tickSize: '0.1', lotSize: '0.001', minSize: '0.001', minNotional: '5' },
    { productType: 'USDT-FUTURES', marginCoin: 'USDT' },
  )
  const accepted = <Data>(data: Data) => ({ kind: 'accepted', receivedAt: UNTIL, data }) as const

  function exchangeOf(statement: Statement, change: { profit?: string; lots?: number } = {}) {
    const shown = statement.rows
      .filter((row) => row.kind === 'fill')
      .map(({ tradeId, orderId, at, profit, fee }, place) => ({
        tradeId,
        orderId,
        filledAt: at,
        profit: place === 0 ? (change.profit ?? profit) : profit,
        ...(fee !== '' && { fee }),
      }))
    const record = { orderId: '7', ts: String(SINCE + 5), fromCoin: 'USDT', fromAmount: '3' }
    const answers = {
      convertRecords: [
        { ...record, toCoin: 'BGB', toAmount: '2', feeDetail: [{ feeCoin: 'BGB', fee: '0.01' }] },
      ],
      copyOrderTotalDetail: { totalEquity: '1020' },
    }
    const row = { holdSide: 'long', lots: change.lots ?? 0, fundingFee: '' }
    return {
      call: (endpoint: keyof typeof answers) => Promise.resolve(accepted(answers[endpoint])),
      readFills: () => Promise.resolve(accepted({ fills: shown })),
      readPosition: () => Promise.resolve(accepted({ rows: [row] })),
    } as unknown as ComparedExchange
  }

  function compare(statement: Statement, exchange: ComparedExchange, now = UNTIL + HOUR_MS) {
    const instruments = new Map([[INSTRUMENT.symbol, INSTRUMENT]])
    const readBook = () => createBook('one_way_mode')
    return compareStatement(statement, { exchange, instruments, readBook, now })
  }

  const states = ({ checks }: Statement) =>
    Object.fromEntries(checks.map(({ what, state }) => [what, state]))

  test('fills and positions agree, conversions are listed, and the rest is not checked', async () => {
    const statement = inFile()
    const compared = await compare(statement, exchangeOf(statement))
    expect(states(compared)).toEqual({
      fills: 'agrees',
      positions: 'agrees',
      funding: 'notChecked',
      conversions: 'agrees',
      'totalEquity of a copied trader': 'notChecked',
      'opening and closing equity': 'notChecked',
      'deposits and withdrawals': 'notChecked',
      'unrealised profit': 'notChecked',
    })
    expect(compared.conversions).toEqual([
      {
        id: '7',
        at: SINCE + 5,
        fromCoin: 'USDT',
        fromAmount: '3',
        toCoin: 'BGB',
        toAmount: '2',
        fees: [{ coin: 'BGB', amount: '0.01' }],
      },
    ])
    expect(toTaxCsv(compared)).toContain('3,USDT,2,BGB,0.01,BGB')
  })

  test('a fill with another profit, and another position, differ', async () => {
    const statement = inFile()
    const exchange = exchangeOf(statement, { profit: '9', lots: 3 })
    const { checks } = await compare(statement, exchange)
    expect(checks.slice(0, 2)).toEqual([
      { what: 'fills', state: 'differs', found: '1 with another profit or fee' },
      {
        what: 'positions',
        state: 'differs',
        found: 'as of now, BTCUSDT long: 0 here, 0.003 there',
      },
    ])
  })

  test('what the exchange shows no more is not checked', async () => {
    const statement = inFile()
    const later = UNTIL + 100 * 86_400_000
    const compared = await compare(statement, exchangeOf(statement), later)
    expect(states(compared)).toMatchObject({ fills: 'notChecked', conversions: 'notChecked' })
  })
})
