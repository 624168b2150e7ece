import { expect, test } from 'vitest'
import { type AccountStatusView } from '../../../src/control/views.ts'
import { viewEquity } from '../../../src/views/losses-view.ts'
import { ManualTime } from '../../support/manual-time.ts'
import { Metrics } from '../../../src/daemon/control/metrics.ts'
import { RunStatistics } from '../../../src/views/run-statistics.ts'
import { formatSummary } from '../../../src/views/summary-text.ts'
import { buildSummary } from '../../../src/views/summary.ts'
import { toOrderId } from '../../../src/domain/ids.ts'
import { type EngineSettings } from '../../../src/engine/settings.ts'
import { decimal } from '../../../src/lib/decimal.ts'
import { buildAccount } from '../../../src/strategy/views/account-view.ts'
import { EngineBench, SYMBOL } from '../engine-bench.ts'

const NOTHING_MEASURED = { count: 0, meanMs: 0, p50Ms: 0, p90Ms: 0, p99Ms: 0, maxMs: 0 }
const CAPITAL = 1000
const FEE = 0.25
const LIMITED: EngineSettings['losses'] = {
  timeZone: 'UTC',
  coolDownMs: 0,
  limits: new Map([['*', { drawdown: { reducing: 0.5 } }]]),
}
const NOTHING_MADE = {
  fills: 0,
  realised: '0',
  fees: '0',
  funding: '0',
  unrealised: '0',
  net: '0',
  netWithUnrealised: '0',
  uncounted: null,
}

/** Whatever Prometheus is shown of an account of which only this is known. */
function scrape(shown: Pick<AccountStatusView, 'equity' | 'peak' | 'drawdown'>): string {
  const account: AccountStatusView = {
    name: 'test',
    journal: { run: 1, sequence: 9 },
    coin: 'USDT',
    phase: 'running',
    mode: 'active',
    isTrading: true,
    unknownSince: null,
    hindrances: [],
    warnings: [],
    waits: [],
    pauses: [],
    restrictions: [],
    kill: null,
    positions: [],
    losses: [],
    isLossLimited: false,
    worstCase: null,
    equityBefore: { day: null, week: null },
    disputes: [],
    unattended: [],
    limiter: [],
    strategies: [],
    openOrders: {},
    ages: {
      tickersMs: {},
      positionsMs: {},
      fillsMs: 0,
    },
    limits: {
      dataAgeMaxMs: 1,
      accountAgeMaxMs: 1,
    },
    clock: {
      isSynchronised: true,
      offsetMs: 0,
      publicMs: null,
      machineMs: 0,
    },
    profit: {
      today: NOTHING_MADE,
      week: NOTHING_MADE,
      total: NOTHING_MADE,
      strategies: {},
      instruments: {},
    },
    ...shown,
  }
  const status = {
    name: 'test',
    version: '1',
    environment: 'simulator',
    exchange: '',
    configOption: '',
    speed: 1,
    isReadOnly: false,
    pid: 1,
    processStartedAt: 0,
    startedAt: 0,
    now: 0,
    accounts: [account],
    off: [],
  }
  const metrics = new Metrics(new ManualTime(0))
  const polls = { polls: 0, lateness: NOTHING_MEASURED }
  const text = metrics.render({ status, accounts: [], isReady: true, polls })
  metrics.stop()
  return text
}

/** Ten lots long, for a fee. */
function holding(losses: EngineSettings['losses']): EngineBench {
  const bench = new EngineBench({
    capital: decimal(String(CAPITAL)),
    ...(losses && { losses }),
  }).start()
  bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
  const batch = bench.grantBatch()
  bench.accept(batch)
  const orderId = toOrderId(`${batch.batchId}001`)
  const fill = bench.fill({
    orderId,
    side: 'buy',
    lots: 10,
    ticks: 100_000,
    scope: 'taker',
    fee: String(FEE),
  })
  const reading = { fills: [fill], sinceAt: 0, requestedAt: bench.now, exchangeTime: bench.now }
  bench.step({ kind: 'fillsRead', reading })
  return bench
}

/** New prices come, at which ten lots of 0.001 are worth so much, and the exchange says the same of the position. */
function worth(bench: EngineBench, unrealised: number): void {
  bench.now += 100
  const price = 10_000 + unrealised / 0.01
  bench.price(price)
  const row = {
    holdSide: 'long',
    lots: 10,
    openPriceAvg: 10_000,
    fundingFee: '',
    markPrice: price,
    liquidationPrice: 0,
    positionMode: 'one_way_mode',
    unrealisedProfit: String(unrealised),
  } as const
  const at = { requestedAt: bench.now, exchangeTime: bench.now }
  bench.step({
    kind: 'positionRead',
    reading: { symbol: SYMBOL, rows: [row], isSilent: false, ...at },
  })
}

test.each([
  ['limited', LIMITED],
  ['not limited', undefined],
])('equity, peak and drawdown are one number wherever they are shown: losses %s', (_, losses) => {
  const bench = holding(losses)
  worth(bench, 20)
  worth(bench, 20)
  worth(bench, -30.5)
  const equity = CAPITAL - FEE - 30.5
  const peak = CAPITAL - FEE + 20

  expect(bench.engine.equity).toEqual({ equity, peak, drawdown: peak - equity })
  bench.take('decide')
  bench.price(10_000 - 3050)
  const [decide] = bench.take('decide')
  expect(buildAccount(decide?.snapshot.account).equity).toBe(equity)
  const { settings, engine, book } = bench
  const view = viewEquity({ settings, engine, book, state: 'begun' }, { total: NOTHING_MADE })
  expect(view).toEqual({ equity: '969.25', peak: '1019.75', drawdown: '50.5' })
  const shown = scrape(view).match(/^intentd_(?:equity|equity_peak|drawdown)\b.*$/gm)
  expect(shown).toEqual([
    'intentd_equity 969.25',
    'intentd_equity_peak 1019.75',
    'intentd_drawdown 50.5',
  ])
  const summary = buildSummary({
    settings,
    book,
    configured: [],
    clean: true,
    isDry: false,
    fatal: undefined,
    durationMs: 0,
    limiter: [],
    exchange: undefined,
    grids: settings.instruments,
    statistics: new RunStatistics(),
    engine,
    positions: new Map(),
    polls: {
      polls: 0,
      lateness: NOTHING_MEASURED,
    },
  })
  expect(formatSummary(summary)).toMatch(
    /equity +969\.25 \(the capital 1,000 - 30\.75 of all runs,\s+unrealised too\),\s+50\.50 below its peak of 1,019\.75/,
  )
  const used = engine.losses.get('*')
  expect(used?.drawdown).toBe(losses && peak - equity)
  expect(used?.drawdownShare).toBe(losses && (peak - equity) / peak)
})

test('equity is not known before every position was read, nor where nobody says what the account began with', () => {
  expect(new EngineBench({ capital: decimal('1000') }).engine.equity).toBeUndefined()
  expect(new EngineBench().start().engine.equity).toBeUndefined()
})

test('a fill of no order of ours counts at once, whosever it turns out to be', () => {
  const bench = holding(LIMITED)
  worth(bench, 0)
  const orderId = toOrderId('777')
  const fill = bench.fill({
    orderId,
    side: 'sell',
    lots: 10,
    ticks: 96_000,
    scope: 'taker',
    fee: '1',
    profit: '-4',
  })
  const at = { requestedAt: bench.now, exchangeTime: bench.now }
  bench.step({ kind: 'fillsRead', reading: { fills: [fill], sinceAt: 0, ...at } })
  bench.step({
    kind: 'positionRead',
    reading: { symbol: SYMBOL, rows: [], isSilent: false, ...at },
  })

  // No order of ours can have made it, so it is foreign at once.
  expect(bench.book.orphans.size).toBe(0)
  expect(bench.halts.get(SYMBOL)).toMatch(/not ours/)
  expect(bench.engine.equity?.equity).toBe(CAPITAL - FEE - 4 - 1)
  expect(bench.engine.losses.get('*')?.dayLoss).toBe(FEE + 5)
})
