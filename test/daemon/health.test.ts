import { expect, test } from 'vitest'
import { addFill, type FillMoney } from '../../src/domain/fill-money.ts'
import { Health } from '../../src/daemon/reporting/health.ts'
import { RunStatistics } from '../../src/views/run-statistics.ts'
import { type PositionReading } from '../../src/domain/position.ts'
import { TickerTable } from '../../src/domain/ticker-table.ts'
import {
  ACCOUNT,
  type Restriction,
  type Scope,
  MODE_REASONS,
} from '../../src/domain/trading-mode.ts'
import { createBook } from '../../src/engine/book/book.ts'
import { type Engine } from '../../src/engine/engine.ts'
import { type EngineEvent } from '../../src/engine/event.ts'
import { type StaleReading } from '../../src/engine/state/readings.ts'
import { mutable } from '../../src/lib/mutable.ts'
import { ManualTime } from '../support/manual-time.ts'

const START = Date.UTC(2026, 10, 23)

interface FakeEngine extends Pick<Engine, 'book' | 'staleReadings' | 'restrictions'> {
  /** What the engine measures itself, and no book keeps. */
  volatile: Restriction[]
  phase: Engine['phase']
  unproved: string[]
  stale: StaleReading[]
}

/** An account with two strategies, of which everything is well until the test spoils it. */
function openScene(heartbeatMs = 0) {
  const time = new ManualTime(START)
  const book = createBook('one_way_mode')
  const engine: FakeEngine = {
    book,
    phase: 'running',
    unproved: [],
    stale: [],
    volatile: [],
    get restrictions() {
      return [...book.restrictions.values(), ...engine.volatile]
    },
    staleReadings: () => engine.stale,
  }
  const statistics = new RunStatistics()
  const positions = new Map<string, PositionReading>()
  const paused = new Map<string, string>()
  const pace = { look: () => undefined, late: false }
  const logged: { readonly event: string; readonly fields: Readonly<Record<string, unknown>> }[] =
    []
  const strategy = (id: string, symbol: string) =>
    [
      id as never,
      { id: id as never, symbols: [symbol], limits: new Map(), feeds: new Map() },
    ] as const
  const allRuns = {
    fills: 7,
    net: '11.5',
    netWithUnrealised: '12.5',
    realisedProfit: '12',
    fees: '0.5',
    positions: { 'BTCUSDT long': '0.01' },
  }
  const health = new Health({
    settings: {
      strategies: new Map([strategy('grid', 'BTCUSDT'), strategy('trend', 'ETHUSDT')]),
      limits: { dataAgeMaxMs: 2000, accountAgeMaxMs: 60_000 } as never,
    },
    engine,
    statistics,
    pace,
    positions,
    clock: time,
    heartbeatMs,
    fatal: () => undefined,
    paused: () => paused,
    rounds: { fillsMs: 200, positionsMs: 1000 },
    summary: () => ({ allRuns }),
    logger: { log: (_level, event, fields = {}) => void logged.push({ event, fields }) },
  })
  const hear = (event: EngineEvent): void => health.hear(event)
  /** All is read, but for the prices of these. */
  const read = (without: readonly string[] = [], absent: readonly string[] = []): void => {
    const tickers = new TickerTable(8)
    for (const symbol of ['BTCUSDT', 'ETHUSDT'].filter((each) => !absent.includes(each))) {
      const age = without.includes(symbol) ? time.now() - START + 5000 : 0
      tickers.columns.ts[tickers.claimRow(symbol)] = time.now() - age
      positions.set(symbol, readingOf(symbol, time.now()))
      hear({ kind: 'positionRead', reading: readingOf(symbol, time.now()) })
    }
    tickers.readAt = time.now()
    hear({ kind: 'clockSynchronised', offsetMs: 0 })
    hear({ kind: 'snapshotTaken', tickers })
    hear({
      kind: 'fillsRead',
      reading: { fills: [], sinceAt: 0, requestedAt: time.now(), exchangeTime: 0 },
    })
  }
  /** Seconds in which everything is read and looked at. */
  const pass = async (seconds: number, without: readonly string[] = []): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      await time.pass(1000)
      read(without)
      health.look()
    }
  }
  const restrict = (
    scope: Scope,
    code: Restriction['code'] = 'operator',
    mode: Restriction['mode'] = MODE_REASONS[code].mode,
  ): void => {
    const restriction: Restriction = {
      scope,
      mode,
      code,
      reason: 'odd',
      by: 'anna',
      at: START,
    }
    mutable(book).restrictions.set(`${scope} ${code}`, restriction)
  }
  read()
  return {
    health,
    time,
    engine,
    book,
    statistics,
    pace,
    positions,
    paused,
    logged,
    hear,
    read,
    pass,
    restrict,
  }
}

function readingOf(symbol: string, requestedAt: number, longLots = 0): PositionReading {
  const row = {
    holdSide: 'long',
    lots: longLots,
    openPriceAvg: 1,
    unrealisedProfit: '0',
    fundingFee: '',
  } as const
  const rest = { markPrice: 1, liquidationPrice: 0, positionMode: undefined } as const
  return {
    symbol,
    isSilent: false,
    requestedAt,
    exchangeTime: requestedAt,
    rows: longLots === 0 ? [] : [{ ...row, ...rest }],
  }
}

test('with fresh data, nothing held back and books that agree there is no obstacle', async () => {
  const { health, pass } = openScene()
  await pass(20)

  expect(health.obstacle()).toBeUndefined()
})

test('each obstacle is named', async () => {
  const { health, engine, pace, hear, read, pass, time } = openScene()
  engine.phase = 'starting'
  expect(health.obstacle()).toBe('the run is starting')
  engine.phase = 'running'
  hear({ kind: 'clockUnsynchronised', reason: 'moved' })
  expect(health.obstacle()).toBe("the exchange's clock is not known")
  read()
  hear({ kind: 'spaceMeasured', isLow: true, freeBytes: 1 })
  expect(health.obstacle()).toBe('the disk is nearly full')
  hear({ kind: 'spaceMeasured', isLow: false, freeBytes: 1e9 })
  pace.late = true
  expect(health.obstacle()).toBe('orders are dropped, since the journal takes too long')
  pace.late = false
  await pass(1, ['ETHUSDT'])
  expect(health.obstacle()).toBe('the prices of ETHUSDT are stale')
  await time.pass(3000)
  expect(health.obstacle()).toBe('the prices of BTCUSDT, ETHUSDT are stale')
})

test('strategies whose threads were lost are an obstacle once no other is asked', () => {
  const { health, paused, restrict } = openScene()
  paused.set('grid', 'no answer within 500 ms')
  expect(health.obstacle()).toBeUndefined()
  restrict('strategy:trend')
  expect(health.obstacle()).toBe('trading is halted for strategy:trend (operator)')
  paused.set('trend', 'no answer within 500 ms')
  expect(health.obstacle()).toBe(
    'grid, trend lost the thread to be asked in: a new one comes after a pause',
  )
})

test('the line says that a part is traded where one instrument is in the way', async () => {
  const { pass, book, logged } = openScene(1000)
  const order = { state: 'live' } as never
  mutable(book).open.set('BTCUSDT', new Map([['c-1' as never, order]]))
  await pass(3)
  await pass(3, ['ETHUSDT'])
  await pass(3, ['ETHUSDT', 'BTCUSDT'])
  const lines = logged.filter(({ event }) => event === 'daemon.heartbeat')
  expect([
    ...new Set(
      lines.map(({ fields }) => `${String(fields['state'])} ${String(fields['because'])}`),
    ),
  ]).toEqual([
    'trading undefined',
    'trading in part the prices of ETHUSDT are stale',
    'not trading the prices of BTCUSDT, ETHUSDT are stale',
  ])
})

const REFUSED = 'refused 40018: Invalid IP'

test('readings that are too old are an obstacle, named with since when and why', () => {
  const { health, engine } = openScene()
  engine.stale = [
    { what: 'fills', readAt: START - 3500, reason: REFUSED },
    { what: 'position ETHUSDT', readAt: START - 4000, reason: REFUSED },
    { what: 'position BTCUSDT', readAt: 0, reason: 'no answer' },
  ]

  expect(health.obstacle()).toBe(
    `fills and the position of ETHUSDT: last read 4.0 s ago, at 23:59:56 UTC: ${REFUSED}; ` +
      'the position of BTCUSDT: not read yet: no answer',
  )
})

test('an old position of what a start has yet to prove, or of what nobody trades, is none', () => {
  const { health, engine } = openScene()
  engine.stale = [{ what: 'position XRPUSDT', readAt: 0, reason: 'no answer' }]
  expect(health.obstacle()).toBeUndefined()

  engine.unproved = ['ETHUSDT']
  engine.stale = [{ what: 'position ETHUSDT', readAt: 0, reason: 'no answer' }]
  expect(health.obstacle()).toBe('the start has yet to prove 1 instruments')
})

test('each reading that becomes too old is said once, and once that all have come again', async () => {
  const { engine, logged, pass } = openScene()
  const fills = { what: 'fills', readAt: START - 3500, reason: REFUSED }
  engine.stale = [fills]
  await pass(2)
  engine.stale = [fills, { what: 'position BTCUSDT', readAt: START - 3000, reason: REFUSED }]
  await pass(2)
  engine.stale = [fills]
  await pass(2)
  engine.stale = []
  await pass(2)

  expect(logged).toEqual([
    { event: 'account.stale', fields: { what: 'fills', ageMs: 4500, reason: REFUSED } },
    {
      event: 'account.stale',
      fields: { what: 'the position of BTCUSDT', ageMs: 6000, reason: REFUSED },
    },
    { event: 'account.fresh', fields: { afterMs: 6000 } },
  ])
})

test('trading is possible as long as one strategy may trade one of its instruments', () => {
  const { health, book, restrict } = openScene()
  restrict('BTCUSDT')
  expect(health.obstacle()).toBeUndefined()
  restrict('strategy:trend')
  expect(health.obstacle()).toBe('trading is halted for BTCUSDT, strategy:trend (operator)')
  mutable(book).restrictions.clear()
  restrict(ACCOUNT)
  expect(health.obstacle()).toBe('trading is halted for the account (operator)')
})

test('a position that differs from the fills is an obstacle when it lasts, and none when it is explained', async () => {
  const { health, pass, positions, time, read } = openScene()
  const passDiffering = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      await time.pass(1000)
      read()
      positions.set('BTCUSDT', readingOf('BTCUSDT', time.now(), 5))
      health.look()
    }
  }

  await passDiffering(9)
  expect(health.obstacle()).toBeUndefined()
  await passDiffering(3)
  expect(health.obstacle()).toBe('the position in BTCUSDT is not what the fills explain')
  await pass(1)
  expect(health.obstacle()).toBeUndefined()
})

test('a ticker that stands still is logged once after ten seconds, and so is its end', async () => {
  const { logged, pass } = openScene()
  await pass(9, ['ETHUSDT'])
  expect(logged).toEqual([])
  await pass(30, ['ETHUSDT'])
  expect(logged).toMatchObject([{ event: 'data.stale', fields: { symbol: 'ETHUSDT' } }])
  await pass(3)
  expect(logged.slice(1)).toEqual([{ event: 'data.fresh', fields: { symbol: 'ETHUSDT' } }])
})

test('the line of the heartbeat comes at its interval, and says whether it trades, has nothing to, or why it does not', async () => {
  const { logged, statistics, pass, restrict } = openScene(10_000)
  await pass(10)
  statistics.ordersSent = 3
  await pass(10)
  restrict(ACCOUNT)
  await pass(10)

  expect(logged.map(({ fields }) => [fields['state'], fields['because']])).toEqual([
    ['nothing to trade', undefined],
    ['trading', undefined],
    ['not trading', 'trading is halted for the account (operator)'],
  ])
  expect(logged[2]?.fields).toMatchObject({
    phase: 'running',
    restrictions: ['* halted (operator)'],
    openOrders: 0,
    unknownOrders: 0,
    pricesAgeMs: 0,
    accountAgeMs: 0,
    positions: { 'BTCUSDT long': '0.01' },
  })
})

test('the line of the heartbeat names what holds the account for as long as it is measured, too', async () => {
  const { engine, logged, pass, health } = openScene(10_000)
  engine.volatile.push({
    scope: ACCOUNT,
    mode: 'halted',
    code: 'clockUnsynchronised',
    isVolatile: true,
    reason: 'no answer',
    by: 'intentd',
    at: START,
  })
  await pass(10)

  expect(logged[0]?.fields['restrictions']).toEqual(['* halted (clockUnsynchronised)'])
  expect(health.digest()).toContain(
    'restrictions that began: 0; that stand: * halted (clockUnsynchronised)',
  )
})

function count(statistics: RunStatistics, fill: FillMoney): void {
  statistics.money = addFill(statistics.money, fill)
}

test('a digest begins where the last one ended', () => {
  const { health, statistics } = openScene()
  count(statistics, { fee: '0.1', profit: '1' })
  count(statistics, { fee: '3', profit: '0.5', otherFees: [{ coin: 'BGB', amount: '0.011' }] })
  expect(health.digest()).toEqual([
    'orders sent: 0, cancel-alls: 0, fills: 2',
    'made: net -1.6 (realised 1.5, fees 3.1, funding 0) + 0.011 BGB not counted',
    'all runs: net 11.5 (realised 12, fees 0.5), 12.5 with unrealised, fills 7',
    'held: BTCUSDT long 0.01',
    'restrictions that began: 0; that stand: none',
    'trading',
  ])
  count(statistics, { fee: '0', profit: '-0.5' })

  expect(health.digest().slice(0, 2)).toEqual([
    'orders sent: 0, cancel-alls: 0, fills: 1',
    'made: net -0.5 (realised -0.5, fees 0, funding 0)',
  ])
})

test('the line of the heartbeat counts from the roll of the day on', async () => {
  const { health, statistics, logged, pass } = openScene(1000)
  count(statistics, { fee: '1', profit: '1' })
  count(statistics, { fee: '3.55', profit: '0.52' })
  await pass(1)
  health.rollDay()
  count(statistics, { profit: '0' })
  await pass(1)

  const names = ['fills', 'net', 'realisedProfit', 'fees', 'uncounted']
  expect(logged.map(({ fields }) => names.map((name) => fields[name]))).toEqual([
    [2, '-3.03', '1.52', '4.55', undefined],
    [1, '0', '0', '0', '+ the fee of 1 fill not counted'],
  ])
})

test('a ticker that vanishes from the answers is said with since when, and what it was last', async () => {
  const { health, logged, read, pass, time } = openScene()
  await pass(3)
  const seenAt = time.now()

  for (let second = 0; second < 15; second++) {
    await time.pass(1000)
    read([], ['ETHUSDT'])
    health.look()
  }

  expect(health.vanished.get('ETHUSDT')?.seenAt).toBe(seenAt)
  const stale = logged.find(({ event }) => event === 'data.stale')
  expect(stale?.fields).toMatchObject({
    symbol: 'ETHUSDT',
    missingSince: new Date(seenAt).toISOString(),
  })
  expect(stale?.fields['ageMs']).toBeGreaterThan(2000)
  await pass(1)
  expect(health.vanished.size).toBe(0)
})

test('readings that come several times later than polling asks are said once, and so is their end', async () => {
  const { health, time, logged, read } = openScene()
  /** Answers take so long; each begins the next reading. */
  const answerAfter = async (seconds: number, times: number): Promise<void> => {
    for (let round = 0; round < times; round++) {
      for (let second = 0; second < seconds; second++) {
        await time.pass(1000)
        health.look()
      }
      read()
    }
  }
  await answerAfter(1, 5)
  logged.length = 0

  await answerAfter(2, 8)
  await answerAfter(0, 1)
  await time.pass(500)
  health.look()

  expect(logged.map(({ event, fields }) => [event, fields['what'], fields['everyMs']])).toEqual([
    ['readings.late', 'fills', 200],
    ['readings.prompt', 'fills', undefined],
  ])
})

test('where two reasons hold, each is named, the strictest first and with its own scope', () => {
  const { health, restrict } = openScene()
  restrict('BTCUSDT', 'drawdown')
  restrict('BTCUSDT', 'contradiction')
  restrict('ETHUSDT', 'operator')
  expect(health.obstacle()).toBe(
    'trading is halted for BTCUSDT (contradiction, drawdown); ETHUSDT (operator)',
  )

  restrict('*', 'drawdown')
  restrict('*', 'refused')
  expect(health.obstacle()).toBe('trading is halted for the account (refused, drawdown)')
})

test('each scope is named with its own mode, the strictest first', () => {
  const { health, restrict } = openScene()
  restrict('BTCUSDT', 'operator', 'reducing')
  restrict('ETHUSDT', 'contradiction')
  expect(health.obstacle()).toBe(
    'trading is halted for ETHUSDT (contradiction), reducing for BTCUSDT (operator)',
  )
  restrict('strategy:trend', 'operator', 'reducing')
  expect(health.obstacle()).toBe(
    'trading is halted for ETHUSDT (contradiction), reducing for BTCUSDT, strategy:trend (operator)',
  )

  restrict('*', 'operator', 'reducing')
  expect(health.obstacle()).toBe('trading is reducing for the account (operator)')
})

test('a process that stood still leaves a line', async () => {
  const { health, time, logged, pass } = openScene()
  await pass(3)
  logged.length = 0

  await time.pass(30_000)
  health.look()

  expect(logged.filter(({ event }) => event === 'loop.stoodStill')).toEqual([
    { event: 'loop.stoodStill', fields: { forMs: 30_000 } },
  ])
})
