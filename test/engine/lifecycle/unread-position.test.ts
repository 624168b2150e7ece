import { describe, expect, test } from 'vitest'
import { type StrategyId, toOrderId, toStrategyId } from '../../../src/domain/ids.ts'
import { type LossLimits } from '../../../src/domain/loss-limits.ts'
import { type Fill } from '../../../src/domain/fill.ts'
import { type Scope, strategyScope } from '../../../src/domain/trading-mode.ts'
import { TickerTable } from '../../../src/domain/ticker-table.ts'
import {
  type DepositCommand,
  type EngineCommand,
  type EngineEvent,
} from '../../../src/engine/event.ts'
import { decimal } from '../../../src/lib/decimal.ts'
import { makeLimits, makeOwnLimits } from '../../support/made-limits.ts'
import { madeInstrument } from '../../support/market-moment.ts'
import { EngineBench } from '../engine-bench.ts'

const A = 'BTCUSDT'
const B = 'ETHUSDT'
const ownerOf = (symbol: string): StrategyId => toStrategyId(symbol === A ? 'a' : 'b')
/** 100 lots of 0.001 are worth 1000 then, as much as the capital. */
const ENTRY = 10_000
const AGE_MS = 5000
const WEEK_MS = 7 * 86_400_000
const LIMITS: LossLimits = { daily: 200, drawdown: { warn: 0.05, reducing: 0.1, flatten: 0.3 } }
const BY_ANNA = { reason: 'savings', by: 'anna' } as const

/** Two instruments of one account, whose readings may fail one by one. */
class Account extends EngineBench {
  readonly prices: Record<string, number> = { [A]: ENTRY, [B]: ENTRY }
  readonly held: Record<string, number> = { [A]: 0, [B]: 0 }
  readonly unread = new Set<string>()
  isSilent = false
  isPriced = true
  /** How long an answer about a position takes; the next is asked for once it has come. */
  delayMs = 0
  /** Factor of the mark price that is stated. */
  lag = 1
  readonly #asked = new Map<string, { readonly dueAt: number; readonly event: EngineEvent }>()
  /** Every answer about fills has them again. */
  repeated: readonly Fill[] = []
  readonly fills: Fill[] = []
  readonly said: { event: string; fields: unknown }[] = []

  hear(): void {
    this.step({ kind: 'clockSynchronised', offsetMs: 0 })
    const tickers = new TickerTable(2)
    tickers.readAt = this.now
    tickers.requestTime = this.now
    for (const symbol of [A, B]) {
      const row = tickers.claimRow(symbol)
      const price = this.prices[symbol] ?? Number.NaN
      const { bidPr, askPr, lastPr, indexPrice, ts } = tickers.columns
      bidPr[row] = price
      askPr[row] = price + 0.1
      lastPr[row] = price
      indexPrice[row] = price
      ts[row] = this.now
    }
    this.step({ kind: 'snapshotTaken', tickers })
  }

  poll(): void {
    const at = { requestedAt: this.now, exchangeTime: this.now }
    this.step({ kind: 'pollDue', what: 'fills' })
    this.step({ kind: 'pollDue', what: 'positions' })
    const asked = this.take('readFills')
    for (const { sinceAt } of this.isSilent ? [] : asked)
      this.step({ kind: 'fillsRead', reading: { fills: this.repeated, sinceAt, ...at } })
    for (const { symbol } of this.take('readPosition')) {
      if (this.isSilent || this.unread.has(symbol)) {
        this.step({
          kind: 'readFailed',
          what: `position ${symbol}`,
          reason: '503',
          isRefused: false,
        })
        continue
      }
      if (this.#asked.has(symbol)) continue
      const lots = this.held[symbol] ?? 0
      const price = this.lag * (this.prices[symbol] ?? Number.NaN)
      const row = {
        holdSide: 'long',
        lots,
        openPriceAvg: ENTRY,
        unrealisedProfit: String(((price - ENTRY) * lots) / 1000),
        fundingFee: '',
        markPrice: price,
        liquidationPrice: 0,
        positionMode: 'one_way_mode',
      } as const
      const rows = lots > 0 ? [row] : []
      const reading = { symbol, rows, isSilent: false, ...at }
      this.#asked.set(symbol, {
        dueAt: this.now + this.delayMs,
        event: { kind: 'positionRead', reading },
      })
    }
    this.#answer()
  }

  #answer(): void {
    for (const [symbol, { dueAt, event }] of this.#asked) {
      if (dueAt > this.now) continue
      this.#asked.delete(symbol)
      this.step(event)
    }
  }

  /** Prices come four times a second, and everything is read once a second. */
  override pass(ms: number): this {
    for (const endAt = this.now + ms; this.now < endAt;) {
      this.now += 250
      if (this.isPriced && !this.isSilent) this.hear()
      this.step({ kind: 'timePassed' })
      if (this.now % 1000 < 250) this.poll()
      else this.#answer()
    }
    this.said.push(...this.take('announce').map(({ event, fields }) => ({ event, fields })))
    return this
  }

  trade(symbol: string, lots: number): this {
    const before = this.held[symbol] ?? 0
    const price = this.prices[symbol] ?? Number.NaN
    this.decideAs(ownerOf(symbol), { kind: 'target', symbol, lots })
    const batch = this.grantBatch()
    this.accept(batch)
    this.held[symbol] = lots
    const fill = this.fill({
      symbol,
      side: lots > before ? 'buy' : 'sell',
      lots: Math.abs(lots - before),
      orderId: toOrderId(`${batch.batchId}001`),
      ticks: price * 10,
      profit: String(lots < before ? ((price - ENTRY) * (before - lots)) / 1000 : 0),
      fee: '0',
      scope: 'taker',
      filledAt: this.now,
    })
    this.fills.push(fill)
    this.repeated = [fill]
    this.poll()
    this.repeated = []
    return this.pass(3000)
  }

  get codes(): readonly string[] {
    return this.engine.restrictions.map(({ code }) => code)
  }

  give(command: DepositCommand | Extract<EngineCommand, { kind: 'release' }>): void {
    this.step({ kind: 'commanded', command })
  }

  heard(event: string): readonly unknown[] {
    this.said.push(
      ...this.take('announce').map(({ event: name, fields }) => ({ event: name, fields })),
    )
    return this.said.flatMap((one) => (one.event === event ? [one.fields] : []))
  }
}

function holding(limits = LIMITS, scope: Scope = '*'): Account {
  const own = makeOwnLimits({ positionMax: 100_000, orderSizeMax: 10_000, openOrdersMax: 100 })
  const strategies = [A, B].map((symbol) => {
    const id = ownerOf(symbol)
    const settings = { id, symbols: [symbol], limits: new Map([[symbol, own]]), feeds: new Map() }
    return [id, settings] as const
  })
  const bench = new Account({
    capital: decimal('1000'),
    strategies: new Map(strategies),
    instruments: new Map([A, B].map((symbol) => [symbol, madeInstrument({ symbol })])),
    losses: { timeZone: 'UTC', coolDownMs: 0, limits: new Map([[scope, limits]]) },
    limits: makeLimits({ dataAgeMaxMs: 1000, accountAgeMaxMs: AGE_MS, leverageMax: 3 }),
  })
  bench.step({ kind: 'clockSynchronised', offsetMs: 0 })
  bench.step({ kind: 'started' })
  for (let tries = 0; tries < 60 && bench.engine.phase === 'starting'; tries++) bench.pass(250)
  bench.pass(3000).trade(A, 100).pass(5000)
  expect(bench.engine.equity?.equity).toBeCloseTo(1000, 6)
  bench.said.length = 0
  return bench
}

const withdrawal = (amount: number): DepositCommand => ({
  kind: 'deposit',
  amount: `-${amount}`,
  key: `withdrawal of ${amount}`,
  ...BY_ANNA,
})

describe('[MON2] a position that is not read', () => {
  test('counts at the prices of now: it reduces, shows, and denies by our own figure', () => {
    const bench = holding()
    bench.unread.add(A)
    bench.prices[A] = 1000

    bench.pass(60_000)

    expect(bench.engine.equity?.equity).toBeCloseTo(100, 6)
    expect(bench.engine.losses.get('*')?.dayLoss).toBeCloseTo(900, 6)
    expect(bench.engine.disputes.get(`unrealised|${A}`)).toMatchObject({ theirs: 'not known' })
    expect(bench.codes).toContain('equityDisputed')
    // MON1: prices alone close nothing.
    expect(bench.book.restrictions.size).toBe(0)
    expect(bench.engine.planByHand(withdrawal(800)).refusal).toMatch(/would leave nothing/)

    bench.unread.delete(A)
    bench.pass(3000)
    expect(bench.codes).toContain('drawdownFlatten')
  })

  test('is logged once, and not for a late reading', () => {
    const bench = holding()
    for (let times = 0; times < 5; times++) {
      bench.unread.add(A)
      bench.pass(AGE_MS + 2000)
      expect(bench.engine.disputes.size).toBe(1)
      bench.unread.delete(A)
      bench.pass(3000)
      expect(bench.engine.disputes.size).toBe(0)
    }
    expect(bench.heard('equity.disputed')).toEqual([])

    bench.unread.add(A)
    bench.pass(10 * 60_000)
    bench.unread.delete(A)
    bench.pass(3000)
    expect(bench.heard('equity.disputed')).toHaveLength(1)
    expect(bench.heard('equity.agreed')).toHaveLength(1)
  })

  test('switches no limit of the account off that other positions reach', () => {
    const bench = holding()
    bench.trade(B, 100)
    bench.unread.add(A)
    bench.pass(AGE_MS + 2000)
    expect(bench.codes).toEqual([])

    bench.prices[B] = 6000
    bench.pass(4000)

    expect(bench.codes).toEqual(expect.arrayContaining(['dailyLoss', 'drawdownFlatten']))
  })

  test('raises no peak, and begins no day', () => {
    const bench = holding()
    const before = bench.book.watermarks.get('*')
    bench.unread.add(A)
    bench.prices[A] = 12_000

    bench.pass(60_000)

    expect(bench.engine.equity?.equity).toBeCloseTo(1200, 6)
    expect(bench.engine.equity?.peak).toBeCloseTo(1000, 6)
    expect(bench.book.watermarks.get('*')).toEqual(before)
  })

  test('is not judged alone, also while old fills are read again', () => {
    const bench = holding()
    bench.repeated = bench.fills
    expect(bench.repeated).toHaveLength(1)
    bench.unread.add(A)
    bench.pass(2000)

    // The tickers lie, for long.
    bench.prices[A] = 5000
    bench.pass(5 * 60_000)

    expect(bench.codes).toEqual(['equityDisputed'])
    expect(bench.book.restrictions.size).toBe(0)
  })

  test('takes part in no order that a limit on leverage allows', () => {
    const bench = holding()
    bench.unread.add(A)
    bench.pass(2000)
    bench.prices[A] = 1000
    bench.pass(AGE_MS + 2000)

    bench.decideAs(ownerOf(B), { kind: 'target', symbol: B, lots: 250 })

    expect(bench.take('askGrant')).toEqual([])
  })

  test('holds its strategy in reducing, and is flattened once it is read twice', () => {
    const bench = holding({ drawdown: { reducing: 100, flatten: 300 } }, strategyScope(ownerOf(A)))
    bench.unread.add(A)
    bench.prices[A] = 5000
    bench.pass(60_000)
    expect(bench.engine.losses.get(strategyScope(ownerOf(A)))?.drawdown).toBeCloseTo(500, 6)
    expect(bench.codes).toEqual(['equityDisputed'])

    bench.unread.delete(A)
    bench.pass(3000)
    expect(bench.codes).toContain('drawdownFlatten')
  })

  test('is worth what it has settled once it is closed', () => {
    const bench = holding()
    bench.unread.add(A)
    bench.prices[A] = 9900
    bench.pass(AGE_MS + 2000)
    bench.trade(A, 0)

    bench.prices[A] = 20_000
    bench.pass(AGE_MS)

    expect(bench.engine.equity?.equity).toBeCloseTo(990, 6)
    expect(bench.engine.disputes.size).toBe(0)
  })
})

describe('[MON1] answers about positions that take long', () => {
  test.each([0.6, 0.95, 1.2])('reach every limit: %s of the age allowed', (share) => {
    const bench = holding()
    bench.delayMs = share * AGE_MS
    bench.pass(60_000)
    expect(bench.codes).toEqual([])
    expect(bench.heard('equity.disputed')).toEqual([])

    bench.prices[A] = 5000
    bench.pass(30_000)

    expect(bench.codes).toEqual(
      expect.arrayContaining(['dailyLoss', 'drawdown', 'drawdownFlatten']),
    )
  })

  test.each([0.6, 0.95, 1.2])('end a dispute: %s of the age allowed', (share) => {
    const bench = holding()
    bench.delayMs = share * AGE_MS
    bench.pass(20_000)
    bench.lag = 0.85
    bench.pass(9000)
    bench.lag = 1
    bench.pass(30_000)

    expect(bench.heard('equity.disputed')).toHaveLength(1)
    expect(bench.engine.disputes.size).toBe(0)
    expect(bench.codes).toEqual([])
  })

  test('a single one is not confirmed by growing old', () => {
    const bench = holding()
    bench.pass(250)
    bench.prices[A] = 6000
    bench.pass(1000)
    bench.unread.add(A)

    bench.pass(60_000)

    expect(bench.codes).not.toContain('drawdownFlatten')
  })
})

describe('[MON2] while neither prices nor positions are read', () => {
  test('commands on money are refused, and nothing is flattened', () => {
    const bench = holding({ drawdown: { reducing: 0.1, flatten: 0.5 } })
    bench.prices[A] = 8800
    bench.pass(5000)
    expect(bench.codes).toContain('drawdown')
    bench.isSilent = true
    bench.pass(AGE_MS + 2000)

    bench.give(withdrawal(100))
    bench.give({ kind: 'release', scope: '*', newPeak: true, ...BY_ANNA })

    expect(bench.engine.equity).toBeUndefined()
    expect(bench.heard('deposit.refused')).toMatchObject([
      { why: expect.stringContaining('is not known now') },
    ])
    expect(bench.heard('limits.notReleased')).toMatchObject([
      { why: expect.stringContaining('is not known now') },
    ])
    expect(bench.codes).toContain('drawdown')
  })

  test('a warning is not repeated after each silence', () => {
    const bench = holding({ drawdown: { warn: 0.05 } })
    bench.prices[A] = 9400
    bench.pass(3000)
    for (let times = 0; times < 3; times++) {
      bench.isSilent = true
      bench.pass(AGE_MS + 2000)
      expect(bench.engine.equity).toBeUndefined()
      bench.isSilent = false
      bench.pass(3000)
    }

    expect(bench.engine.equity?.equity).toBeCloseTo(940, 6)
    expect(bench.heard('limits.warned')).toHaveLength(1)
  })

  test('a command after a standstill is judged by the time of now', () => {
    const bench = holding()
    bench.now += WEEK_MS

    bench.give(withdrawal(100))

    expect(bench.heard('deposit.refused')).toMatchObject([
      { why: expect.stringContaining('is not known now') },
    ])
  })

  test('nothing that adds risk is approved on other instruments', () => {
    const bench = holding()
    bench.unread.add(A)
    bench.prices[A] = Number.NaN
    bench.pass(AGE_MS + 2000)
    expect(bench.engine.equity).toBeUndefined()

    bench.decideAs(ownerOf(B), { kind: 'target', symbol: B, lots: 10 })

    expect(bench.take('askGrant')).toEqual([])
    expect(bench.engine.denied.get('LEVERAGE_LIMIT')).toBeGreaterThan(0)
  })
})
