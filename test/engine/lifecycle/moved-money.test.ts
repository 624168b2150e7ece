import { describe, expect, test } from 'vitest'
import { toOrderId } from '../../../src/domain/ids.ts'
import type { LossLimits } from '../../../src/domain/loss-limits.ts'
import { capitalOf } from '../../../src/engine/book/book.ts'
import type { DepositCommand } from '../../../src/engine/event.ts'
import type { EngineSettings } from '../../../src/engine/settings.ts'
import { decimal } from '../../../src/lib/decimal.ts'
import { EngineBench, SYMBOL } from '../engine-bench.ts'

const BY_ANNA = { reason: 'savings', by: 'anna' } as const
const RELEASE = { kind: 'release', scope: '*', ...BY_ANNA } as const
const ENTRY = 10_000
const LOTS = 100
const SIZE = 0.1

function holding(drawdown: NonNullable<LossLimits['drawdown']>): EngineBench {
  const losses = { timeZone: 'UTC', coolDownMs: 0, limits: new Map([['*', { drawdown }]]) }
  return bought({ losses })
}

/** A capital of 1,000, and all lots bought at 10,000. */
function bought(change: Partial<EngineSettings>): EngineBench {
  const bench = new EngineBench({ capital: decimal('1000'), ...change }).start()
  bench.decide({ kind: 'target', symbol: SYMBOL, lots: LOTS })
  const batch = bench.grantBatch()
  bench.accept(batch)
  const orderId = toOrderId(`${batch.batchId}001`)
  const fill = bench.fill({ orderId, lots: LOTS, ticks: ENTRY * 10, fee: '0' })
  const reading = { fills: [fill], sinceAt: 0, requestedAt: bench.now, exchangeTime: bench.now }
  bench.step({ kind: 'fillsRead', reading })
  for (let count = 0; count < 3; count++) read(bench, 0)
  return bench
}

/** By new prices and a reading of the position it is worth so much; the exchange may state another profit. */
function read(bench: EngineBench, unrealised: number, stated = unrealised): void {
  bench.now += 100
  const markPrice = ENTRY + unrealised / SIZE
  bench.price(markPrice)
  const row = {
    holdSide: 'long',
    lots: LOTS,
    openPriceAvg: ENTRY,
    fundingFee: '',
    markPrice,
    liquidationPrice: 0,
    positionMode: 'one_way_mode',
    unrealisedProfit: String(stated),
  } as const
  const reading = { symbol: SYMBOL, rows: [row], isSilent: false, requestedAt: bench.now }
  bench.step({ kind: 'positionRead', reading: { ...reading, exchangeTime: bench.now } })
}

/** Two readings, of different answers, say so. */
function fallTo(bench: EngineBench, unrealised: number): void {
  read(bench, unrealised)
  read(bench, unrealised)
}

function enter(bench: EngineBench, amount: string) {
  const key = `key-${bench.book.deposits.size + 1}`
  return give(bench, { kind: 'deposit', amount, key, ...BY_ANNA })
}

function give(bench: EngineBench, command: DepositCommand) {
  const plan = bench.engine.planByHand(command)
  bench.step({ kind: 'commanded', command })
  return plan
}

const capital = (bench: EngineBench) => capitalOf(bench)?.toString()
const codes = (bench: EngineBench) => [...bench.book.restrictions.values()].map(({ code }) => code)

const TIERS = [{ notionalMax: 1_000_000, rate: 0.004 }]

describe('after money was moved the drawdown of the account is of that moment', () => {
  test('before the next reading: a release shows the share of what is left', () => {
    const bench = holding({ reducing: 0.1, flatten: 0.3 })
    fallTo(bench, -120)
    enter(bench, '-500')
    expect(bench.engine.losses.get('*')).toMatchObject({
      drawdown: 120,
      drawdownShare: 0.24,
      lastDrawdown: 0.24,
    })
    expect(bench.engine.planPeakRelease(RELEASE)).toMatchObject({
      from: '500.00',
      to: '380.00',
      below: '24.00 %',
      limits: 'reducing at 342.00, flatten at 350.00',
      lastUsed: '80.0 %',
    })
  })

  test('before the next reading: a deposit that lifts it above the last step lets it be released', () => {
    const bench = holding({ reducing: 0.1, flatten: 0.3 })
    fallTo(bench, -320)
    expect(codes(bench)).toContain('drawdownFlatten')
    expect(bench.engine.planPeakRelease(RELEASE)?.closesBelow).toBe('700.00')
    enter(bench, '2000')
    const plan = bench.engine.planPeakRelease(RELEASE)
    expect(plan).toMatchObject({ to: '2680.00', below: '10.67 %' })
    expect(plan).not.toHaveProperty('closesBelow')
    bench.step({ kind: 'commanded', command: RELEASE })
    expect(codes(bench)).toEqual([])
    fallTo(bench, -320)
    expect(codes(bench)).toEqual([])
  })

  test('a step that it reaches holds at once', () => {
    const bench = holding({ reducing: 0.1, flatten: 0.3 })
    fallTo(bench, -60)
    expect(codes(bench)).toEqual([])
    enter(bench, '-500')
    expect(codes(bench)).toEqual(['drawdown'])
  })
})

describe('a withdrawal that brings the drawdown to a step', () => {
  test('is refused where that is the last one, says how much may be entered, and what to do', () => {
    const bench = holding({ warn: 0.05, reducing: 0.1, flatten: 0.3 })
    fallTo(bench, -120)
    expect(enter(bench, '-700').refusal).toBe(
      "the withdrawal of 700 USDT would bring the drawdown of the account from 12.00 % to 40.00 %, and at 30.00 % its last step closes everything: enter less than 600.00 USDT, or let every step count from now with `intentd release '*' --new-peak` and enter it again",
    )
    expect(enter(bench, '-600').refusal).toContain('to 30.00 %')
    expect(capital(bench)).toBe('1000')
    expect(enter(bench, '-599').refusal).toBeUndefined()
    fallTo(bench, -120)
    expect(codes(bench)).toEqual(['drawdown'])
  })

  test('is taken once every step counts from now', () => {
    const bench = holding({ reducing: 0.1, flatten: 0.3 })
    fallTo(bench, -120)
    bench.step({ kind: 'commanded', command: { ...RELEASE, newPeak: true } })
    expect(enter(bench, '-700').refusal).toBeUndefined()
    for (let count = 0; count < 3; count++) read(bench, -120)
    expect(codes(bench)).toEqual([])
    expect(capital(bench)).toBe('300')
  })

  test('is refused too where it takes back a deposit', () => {
    const bench = holding({ flatten: 0.3 })
    enter(bench, '1000')
    fallTo(bench, -400)
    const command = { kind: 'correctDeposit', id: '1', key: 'key-back', ...BY_ANNA } as const
    expect(give(bench, command).refusal).toContain('from 20.00 % to 40.00 %')
    expect(capital(bench)).toBe('2000')
  })

  test('is refused by the worse of two figures that differ', () => {
    const bench = holding({ flatten: 0.3 })
    read(bench, -20, -120)
    expect(enter(bench, '-700').refusal).toContain('from 12.00 % to 40.00 %')
    expect(enter(bench, '-500').refusal).toBeUndefined()
  })

  test('names the earlier step in its plan; no deposit reaches any', () => {
    const bench = holding({ warn: 0.05, reducing: 0.1, flatten: 0.3 })
    fallTo(bench, -40)
    const plan = enter(bench, '-500')
    expect(plan.detail).toContain(
      'the drawdown of the account is 8.00 % then instead of 4.00 %, and reaches its step warn (5.00 %)',
    )
    expect(plan.change).not.toContain('drawdown')
    const next = enter(bench, '-120')
    expect(next.detail).toContain(
      'and reaches its step reducing (10.00 %), after which only orders that reduce leave',
    )
    expect(codes(bench)).toEqual(['drawdown'])
    expect(enter(bench, '500').detail).not.toContain('drawdown')
    expect(enter(holding({ warn: 0.5 }), '-100').detail).not.toContain('drawdown')
  })

  test('is taken where everything was closed already', () => {
    const bench = holding({ flatten: 0.3 })
    fallTo(bench, -320)
    expect(codes(bench)).toEqual(['drawdownFlatten', 'flatten'])
    expect(enter(bench, '-300').refusal).toBeUndefined()
  })
})

test('[RSK1] an order has to survive the worst case with what a withdrawal has left', () => {
  const moves = new Map([[SYMBOL, 0.5]])
  const bench = bought({
    liquidation: { rules: new Map([[SYMBOL, { tiers: TIERS, takerFeeRate: 0.0006 }]]) },
    survives: { moves, jointMoves: moves, isGap: true },
  })
  const order = { kind: 'target', symbol: SYMBOL, lots: LOTS + 20 } as const
  const need = bench.engine.worstCase?.need ?? Number.NaN
  expect(need).toBeGreaterThan(500)
  enter(bench, '-480')
  expect(bench.engine.worstCase).toMatchObject({ equity: 520, used: need / 520 })
  bench.decide(order)
  expect(bench.engine.denied.get('WORST_CASE')).toBe(1)
  enter(bench, '480')
  bench.decide(order)
  expect(bench.grantBatch().clientOids).toHaveLength(1)
})
