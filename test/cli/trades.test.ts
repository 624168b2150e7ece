import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type JournalRecord } from '../../src/domain/record.ts'
import { type BookedFill, type Booking } from '../../src/journal/booking.ts'
import { JournalReader } from '../../src/journal/journal-reader.ts'
import { type OpenedJournal } from '../../src/journal/journal.ts'
import { readClosedTrades, TradeHistory } from '../../src/views/closed-trades.ts'
import { WrittenJournal } from './written-journal.ts'

/** Monday, the second of June, 23:00 in New York. */
const AT = Date.UTC(2025, 5, 3, 3)
const HOUR_MS = 3_600_000

let written: WrittenJournal
beforeEach(() => {
  written = new WrittenJournal('America/New_York')
})
afterEach(() => written.remove())

const run = (...words: readonly string[]) => written.run(...words)

let rows = 0
function fill(parts: Partial<BookedFill> & Pick<BookedFill, 'side' | 'price'>): BookedFill {
  rows += 1
  return {
    kind: 'fill',
    tradeId: `t${String(rows).padStart(4, '0')}`,
    at: AT + rows * 1000,
    orderId: `o${rows}`,
    clientOid: `c${rows}`,
    strategyId: 'grid',
    owner: 'strategy',
    symbol: 'BTCUSDT',
    tradeSide: 'open',
    size: '0.01',
    profit: '',
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

const DENIAL: JournalRecord = {
  kind: 'denial',
  at: AT,
  strategyId: 'grid',
  symbol: 'BTCUSDT',
} as never

/** One record for each booking. The book of the journal holds nothing, as after every trade. */
function append(journal: OpenedJournal, bookings: readonly Booking[]): void {
  for (const booking of bookings) journal.append(DENIAL, [booking])
  journal.commit(() => undefined)
}

function writeJournal(bookings: readonly Booking[], records: readonly JournalRecord[] = []): void {
  const journal = written.begin()
  for (const record of records) journal.append(record)
  append(journal, bookings)
  void journal.close()
}

/** Three trades: one by an order, one by a flatten on the day after, one of another strategy. */
function threeTrades(): readonly BookedFill[] {
  const day = 24 * HOUR_MS
  return [
    fill({ side: 'buy', price: '60000', at: AT }),
    fill({ side: 'sell', price: '60100', at: AT + HOUR_MS / 2 }),
    fill({ side: 'sell', price: '60000', at: AT + HOUR_MS }),
    fill({ side: 'buy', price: '60200', at: AT + day, clientOid: 'flat' }),
    fill({ side: 'buy', price: '3000', at: AT + day, strategyId: 'trend', symbol: 'ETHUSDT' }),
    fill({ side: 'sell', price: '3100', at: AT + 2 * day, strategyId: 'trend', symbol: 'ETHUSDT' }),
  ]
}

const FLATTEN: JournalRecord = {
  kind: 'send',
  at: AT,
  batchId: 1,
  again: [],
  requestAt: AT,
  orders: [
    { clientOid: 'flat', strategyId: 'grid', symbol: 'BTCUSDT', purpose: 'flatten', key: 'k:1' },
  ],
} as never

describe('intentd trades', () => {
  test('shows closed trades with what ended them, and their sum', async () => {
    writeJournal(threeTrades(), [FLATTEN])

    const { code, out, aside } = await run('trades')

    expect(code).toBe(0)
    expect(out).toBe(
      [
        'closed, UTC       strategy  instrument  side   held for    net  net %  coin',
        '2025-06-03 03:30  grid      BTCUSDT     long     30 min   0.80   0.13  USDT  0.01 from 60000 to 60100: 1.00 gross, 0.20 fees, 2 fills; ended by: order',
        '2025-06-04 03:00  grid      BTCUSDT     short      23 h  -2.20  -0.37  USDT  0.01 from 60000 to 60200: -2.00 gross, 0.20 fees, 2 fills; ended by: flatten',
        '2025-06-05 03:00  trend     ETHUSDT     long       24 h   0.80   2.67  USDT  0.01 from 3000 to 3100: 1.00 gross, 0.20 fees, 2 fills; ended by: order',
        '',
        '3 trades, 2 won; net -0.60 USDT',
        '',
      ].join('\n'),
    )
    expect(aside).toBe(`from ${written.file}, journal record 8 of run 1\n`)
  })

  test('says of a trade of several entries that its size is the largest, and its prices are means', async () => {
    writeJournal([
      fill({ side: 'buy', price: '60000', at: AT }),
      fill({ side: 'buy', price: '60200', at: AT + 60_000 }),
      fill({ side: 'sell', price: '60100', at: AT + 120_000 }),
      fill({ side: 'sell', price: '60300', at: AT + 180_000 }),
    ])

    expect((await run('trades')).out).toContain(
      'at most 0.02, in the mean from 60100 to 60200: 2.00 gross, 0.40 fees, 4 fills',
    )
  })

  test('cites with its figures up to where the journal was read, as do profit and fills', async () => {
    writeJournal(threeTrades(), [FLATTEN])
    const journal = { run: 1, sequence: 8 }

    for (const words of [['trades'], ['profit'], ['profit', '--by', 'strategy']]) {
      const { out } = await run(...words, '--json')
      const shown = JSON.parse(out) as readonly unknown[]
      expect(shown.length).toBeGreaterThan(1)
      expect(shown).toEqual(shown.map(() => expect.objectContaining({ journal }) as unknown))
    }
    for (const words of [['profit'], ['fills'], ['trades', '--csv']])
      expect((await run(...words)).aside).toContain(
        `from ${written.file}, journal record 8 of run 1`,
      )
    const { out } = await run('trades', '--course', '1')
    const course = JSON.parse(out) as { readonly fills: unknown }
    expect(course).toMatchObject({ journal })
    expect(course.fills).toEqual([
      expect.objectContaining({ tradeId: expect.any(String) as string, isEntry: true }),
      expect.objectContaining({ tradeId: expect.any(String) as string, isEntry: false }),
    ])
  })

  test('shows tags and the reasons that were booked, and so do the fills', async () => {
    writeJournal([
      fill({ side: 'buy', price: '60000', at: AT, tag: 'breakout' }),
      fill({ side: 'sell', price: '60100', at: AT + 1, reason: 'takeProfit', tag: '=half' }),
    ])

    expect((await run('trades')).out.replaceAll(/\s+/g, ' ')).toContain(
      '2 fills; entered as breakout; ended by: take profit, as =half ',
    )
    expect((await run('trades', '--csv')).out).toContain(",takeProfit,,breakout,'=half\n")
    const fills = (await run('fills')).out
    expect(fills).toContain('as breakout\n')
    expect(fills).toContain('take profit, as =half\n')
    expect((await run('fills', '--csv')).out).toContain(",takeProfit,'=half\n")
  })

  test.each([
    [['--strategy', 'trend'], ['0.8']],
    [
      ['--symbol', 'BTCUSDT'],
      ['0.8', '-2.2'],
    ],
    [['--limit', '1'], ['0.8']],
    // The first one ended on the second of June in New York, the next on the third.
    [['--from', '2025-06-03', '--to', '2025-06-03'], ['-2.2']],
    [['--to', '2025-06-02'], ['0.8']],
    [
      ['--since', '2025-06-04T00:00Z'],
      ['-2.2', '0.8'],
    ],
  ])('%j shows only these', async (words, nets) => {
    writeJournal(threeTrades())
    const { out } = await run('trades', '--json', ...words)
    expect((JSON.parse(out) as { net: string }[]).map(({ net }) => net)).toEqual(nets)
  })

  test('writes CSV', async () => {
    writeJournal(threeTrades().slice(0, 2))
    const { out } = await run('trades', '--csv')
    expect(out.split('\n')).toEqual([
      'strategyId,symbol,side,openedAt,closedAt,heldMs,size,entryPrice,exitPrice,gross,fees,otherFees,funding,net,coin,share,fills,reason,uncounted,entryTag,exitTag',
      'grid,BTCUSDT,long,2025-06-03T03:00:00.000Z,2025-06-03T03:30:00.000Z,1800000,0.01,60000,60100,1,0.2,,0,0.8,USDT,0.00133333333333,2,order,,,',
      '',
    ])
  })

  test('says where the fills do not explain what is held', async () => {
    writeJournal([
      ...threeTrades().slice(0, 2),
      fill({ side: 'buy', price: '60000', at: AT + HOUR_MS }),
    ])
    const { aside } = await run('trades')
    expect(aside).toContain('do not explain what grid holds of BTCUSDT')
  })

  test('says that there is none, and refuses a day that is none', async () => {
    writeJournal([])
    expect((await run('trades')).out).toBe('no trade was closed\n')
    const { code, aside } = await run('trades', '--from', '2025-02-30')
    expect([code, aside]).toEqual([64, expect.stringContaining('there is no day 2025-02-30')])
  })
})

test('says which strategy nobody knows, and that fewer trades were closed', async () => {
  writeJournal(threeTrades())
  const unknown = await run('trades', '--strategy', 'trent')
  const course = await run('trades', '--course', '4')
  const fills = await run('fills', '--strategy', 'trent')
  expect([fills.code, fills.aside]).toEqual([
    1,
    expect.stringContaining('knows trent; did you mean trend?'),
  ])
  expect((await run('fills', '--symbol', 'BTCUSDT')).code).toBe(0)

  expect([unknown.code, unknown.aside]).toEqual([
    1,
    expect.stringContaining('knows trent; did you mean trend?'),
  ])
  expect([course.code, course.out, course.aside]).toEqual([
    1,
    'null\n',
    'fewer than 4 trades were closed\n',
  ])
})

test.each([
  ['day', ['2025-06-02', '2025-06-03', '2025-06-04']],
  ['week', ['2025-W23']],
  ['month', ['2025-06']],
])('fills and profit have a row for each %s of the configured zone', async (by, names) => {
  writeJournal(threeTrades())
  const profit = await run('profit', '--by', by, '--json')
  const fills = await run('fills', '--by', by, '--json')

  for (const { out } of [profit, fills])
    expect((JSON.parse(out) as { name: string }[]).map(({ name }) => name)).toEqual(names)
})

test('fills by strategy sum up what was bought and sold', async () => {
  writeJournal(threeTrades())
  const { out } = await run('fills', '--by', 'strategy', '--to', '2025-06-03')
  expect(out).toBe(
    [
      'strategy  fills  maker %    bought      sold  fees',
      'grid          4        0  1,202.00  1,201.00  0.40  USDT',
      'trend         1        0     30.00      0.00  0.10  USDT',
      '',
    ].join('\n'),
  )
})

test('a fee that is not known is said, and counts nowhere as zero', async () => {
  const [first, second] = threeTrades()
  if (!first || !second) throw new Error('two fills')
  writeJournal([first, { ...second, fee: '' }])
  const fills = await run('fills', '--by', 'strategy')
  const json = await run('fills', '--by', 'strategy', '--json')
  const trades = await run('trades')

  expect(fills.out).toContain('+ the fee of 1 fill not counted')
  expect(JSON.parse(json.out)).toMatchObject([
    { fees: '0.1', uncounted: '+ the fee of 1 fill not counted' },
  ])
  expect(trades.out.replaceAll(/\s+/g, ' ')).toContain('+ the fee of 1 fill not counted')
  expect(trades.out).toContain('net 0.90 USDT; in 1 of them not everything is counted')
})

test('a strategy or an instrument that nothing knows is an error; one that the journal knows is not', async () => {
  writeJournal([fill({ side: 'buy', price: '60000', strategyId: 'former', symbol: 'OLDUSDT' })])
  const wrong = await run('trades', '--strategy', 'gird', '--symbol', 'BTCUSD')
  expect(wrong.code).toBe(1)
  expect(wrong.aside).toContain('nor the journal knows gird; did you mean grid?; strategies: grid,')
  expect(wrong.aside).toContain('nor the journal knows BTCUSD; did you mean BTCUSDT?; instruments')
  const before = await run('trades', '--strategy', 'former', '--symbol', 'OLDUSDT')
  expect(before).toMatchObject({ code: 0, out: 'no trade was closed\n' })
  expect((await run('trades', '--strategy', 'trend')).code).toBe(0)
})

describe('a history of trades that is read again and again', () => {
  let scannedBehind: readonly unknown[] = []
  const read = (history: TradeHistory): readonly string[] => {
    const reader = new JournalReader(written.file)
    try {
      const scans = vi.spyOn(reader, 'records')
      const { trades } = history.read(reader, { limit: 10 })
      scannedBehind = scans.mock.calls.map(([query]) => query?.behind)
      const anew = readClosedTrades(reader, 'one_way_mode', { limit: 10 })
      expect(trades).toEqual(anew.trades)
      return trades.map(({ net }) => net)
    } finally {
      reader.close()
    }
  }

  test('goes on with what is new, and begins anew where something behind it has changed', () => {
    const [first, second, third, fourth] = threeTrades()
    if (!first || !second || !third || !fourth) throw new Error('four fills')
    writeJournal([first, second])
    const history = new TradeHistory('one_way_mode')
    expect([read(history), scannedBehind]).toEqual([['0.8'], [0, 0, 0]])
    // No record is read a second time.
    expect([read(history), scannedBehind]).toEqual([['0.8'], [3, 3, 3]])

    const journal = written.open()
    append(journal, [third, { ...fourth, owner: 'waiting', strategyId: '' }])
    expect(read(history)).toEqual(['0.8', '-2.2'])

    // A fill of before becomes known late: the first trade ends later, and for less.
    append(journal, [fill({ side: 'buy', price: '60000', at: first.at + 1, fee: '0' })])
    append(journal, [{ ...fourth, kind: 'owner', owner: 'strategy', strategyId: 'grid' }])
    void journal.close()
    expect(read(history)).toEqual(['0.7'])
  })
})
