import { describe, expect, test } from 'vitest'
import { RunStatistics } from '../../src/views/run-statistics.ts'
import { decimal } from '../../src/lib/decimal.ts'
import { formatSummary } from '../../src/views/summary-text.ts'
import { buildSummary, type ExchangeLedger, type RunSummary } from '../../src/views/summary.ts'
import { toOrderId } from '../../src/domain/ids.ts'
import { type PositionReading, type PositionRow } from '../../src/domain/position.ts'
import { EngineBench, SYMBOL } from '../engine/engine-bench.ts'

const NOTHING_MEASURED = { count: 0, meanMs: 0, p50Ms: 0, p90Ms: 0, p99Ms: 0, maxMs: 0 }

/** Ten lots long. */
function holding(capital = {}): EngineBench {
  const bench = new EngineBench(capital).start()
  bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
  const batch = bench.grantBatch()
  bench.accept(batch)
  const orderId = toOrderId(`${batch.batchId}001`)
  const fill = bench.fill({ orderId, side: 'buy', lots: 10, ticks: 100_000, scope: 'taker' })
  const reading = { fills: [fill], sinceAt: 0, requestedAt: bench.now, exchangeTime: bench.now }
  bench.step({ kind: 'fillsRead', reading })
  return bench
}

const ROW: PositionRow = {
  lots: 10,
  openPriceAvg: 1,
  unrealisedProfit: '0.1',
  fundingFee: '',
  markPrice: 1,
  liquidationPrice: 0,
  holdSide: 'long',
  positionMode: 'one_way_mode',
}
const ASKED = { isSilent: false, requestedAt: 0, exchangeTime: 0 }

function summarise(
  { settings, engine, now }: EngineBench,
  read: readonly PositionReading[] = [],
  fatal?: Error,
  marks: ExchangeLedger['marks'] = {},
): RunSummary {
  const { book } = engine
  const [money] = book.money.values()
  const exchange: ExchangeLedger = {
    fills: money?.fills ?? 0,
    fees: String(money?.fees ?? 0),
    realisedProfit: String(money?.profit ?? 0),
    unrealisedProfit: '0.2282',
    marks,
    positions: book.account.size > 0 ? { [`${SYMBOL} long`]: '0.01' } : {},
    balance: '1000',
    openOrders: 0,
  }
  return buildSummary({
    settings,
    engine,
    book,
    exchange,
    configured: [],
    clean: true,
    isDry: false,
    fatal,
    durationMs: now,
    limiter: [],
    grids: settings.instruments,
    statistics: new RunStatistics(),
    polls: {
      polls: 0,
      lateness: NOTHING_MEASURED,
    },
    positions: new Map(read.map((reading) => [reading.symbol, reading])),
  })
}

function linesOf(summary: RunSummary): string {
  return formatSummary(summary).replaceAll(/\s+/g, ' ')
}

describe('the closing summary', () => {
  test('[RSK2] says what trading is held by, why, and how that ends', () => {
    const bench = new EngineBench().start()
    const ordered = { reason: 'odd prices', by: 'anna' }
    bench.step({
      kind: 'commanded',
      command: { kind: 'restrict', scope: SYMBOL, mode: 'reducing', ...ordered },
    })
    bench.step({ kind: 'commanded', command: { kind: 'flatten', scope: '*', ...ordered } })
    const summary = summarise(bench)

    expect(summary.restrictions).toMatchObject([
      {
        scope: SYMBOL,
        mode: 'reducing',
        code: 'operator',
        ...ordered,
        ends: 'an operator releases it',
      },
      { scope: '*', mode: 'halted', code: 'flatten', ...ordered },
    ])
    expect(linesOf(summary)).toContain(
      'in good order REDUCING BTCUSDT (operator): odd prices; until an operator releases it ' +
        'HALTED the account (flatten): odd prices; until an operator releases it, once everything is closed',
    )
  })

  test('says what became of the orders, and why wishes were denied, in words', () => {
    const summary = {
      ...summarise(new EngineBench().start()),
      ordersSent: 8,
      orders: { done: 4, filled: 2, live: 1, rejected: 1 },
      denials: { PRICE_COLLAR: 2, POSITION_LIMIT: 27_171 },
    }

    expect(linesOf(summary)).toContain(
      'orders 8 sent: 2 filled whole, 4 cancelled (all of it, or what was not filled), 1 open, 1 rejected by the exchange ' +
        'denials 27171 POSITION_LIMIT: the position could grow beyond risk.positionMax of the strategy; ' +
        '2 PRICE_COLLAR: a price of the order is further from the market than risk.priceCollarRatio ' +
        '(an order that is wanted counts again at each snapshot while it is denied)',
    )
  })

  test('says what broke the account', () => {
    const fatal = new Error('CREDENTIALS_REFUSED: the exchange refuses the key\n  hint  mend it')

    expect(linesOf(summarise(new EngineBench().start(), [], fatal))).toContain(
      'ended CREDENTIALS_REFUSED: the exchange refuses the key ',
    )
  })

  test('names what this run has made and what all runs have, each with and without what is unrealised', () => {
    const bench = holding()
    const fees = bench.book.money.values().next().value?.fees.toString() ?? ''
    bench.price(10_050)
    const summary = summarise(bench)

    expect(summary.thisRun).toMatchObject({ fills: 0, net: '0' })
    expect(summary.thisRun).not.toHaveProperty('netWithUnrealised')
    const made = decimal('0').minus(decimal(fees))
    const [net, netWithUnrealised] = [made.toString(), made.plus(decimal('0.5')).toString()]
    expect(summary.allRuns).toMatchObject({ fills: 1, net, netWithUnrealised })
    expect(linesOf(summary)).toContain(
      `this run 0 net: 0 realised, 0 fees, 0 funding all runs ${net} net: 0 realised, ${fees} fees, 0 funding; ${netWithUnrealised} with unrealised`,
    )
    expect(summarise(bench.restart()).allRuns).not.toHaveProperty('netWithUnrealised')
  })

  test('shows one unrealised profit, also in the equity, where positions stated another', () => {
    const bench = holding({ capital: decimal('1000') })
    bench.price(10_050)
    const rows = [{ ...ROW, unrealisedProfit: '0.4' }]
    const summary = summarise(bench, [{ symbol: SYMBOL, rows, ...ASKED }])

    const { netWithUnrealised } = summary.allRuns
    expect([netWithUnrealised, summary.unrealisedProfit]).toEqual(['0.49', '0.5'])
    expect(summary.equity?.equity).toBe(1000.49)
    expect(linesOf(summary)).toContain('(the capital 1,000 + 0.49 of all runs, unrealised too)')
    expect(summary.exchange?.differences).toEqual([
      'unrealisedProfit: positions stated 0.4, the exchange counts 0.2282',
    ])
  })

  test('compares no unrealised profit of a position that was not read in this run', () => {
    const summary = summarise(holding().restart())

    expect(summary.unrealisedProfit).toBeUndefined()
    expect(summary.exchange).toMatchObject({ agrees: true, differences: [] })
    expect(linesOf(summary)).toMatch(
      /funding; not known with unrealised unrealised not known: no fresh price, or a position was not read in this run .* yes, unrealised profit not/,
    )
  })

  test('compares that of one that was read', () => {
    const reading = { symbol: SYMBOL, rows: [ROW], ...ASKED }

    expect(summarise(holding(), [reading]).exchange?.differences).toEqual([
      'unrealisedProfit: positions stated 0.1, the exchange counts 0.2282',
    ])
  })

  test('but not one whose price has moved since', () => {
    const reading = { symbol: SYMBOL, rows: [ROW], ...ASKED }
    const at = (mark: number) =>
      summarise(holding(), [reading], undefined, { [SYMBOL]: mark }).exchange

    expect(at(ROW.markPrice)?.differences).toHaveLength(1)
    expect(at(ROW.markPrice + 1)).toMatchObject({ agrees: true, differences: [] })
    expect(at(ROW.markPrice)).not.toHaveProperty('marks')
  })
})
