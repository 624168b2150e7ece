import { expect, test, describe } from 'vitest'
import { type UnreadableFill } from '../../../src/domain/fill.ts'
import { manyInstruments, SYMBOLS } from '../many-instruments.ts'
import { accepted, type EngineBench } from '../engine-bench.ts'

const [DARK, LIT] = SYMBOLS
const ROW: UnreadableFill = {
  tradeId: '77',
  orderId: '1001',
  symbol: DARK,
  problem: 'price "1.23" is off the grid of 0.1',
}

function readFills(bench: EngineBench, unreadable: readonly UnreadableFill[] = [ROW]): void {
  const times = { sinceAt: 0, requestedAt: bench.now, exchangeTime: bench.now }
  bench.step({ kind: 'fillsRead', reading: { fills: [], unreadable, ...times } })
}

/** Time passes in which every reading of the fills has the row in it. */
function passInTheDark(bench: EngineBench, ms: number): void {
  for (const endAt = bench.now + ms; bench.now < endAt;) {
    bench.now += 50
    bench.price()
    bench.step({ kind: 'timePassed' })
    poll(bench)
    if (bench.take('readFills').length > 0) readFills(bench)
    bench.read()
  }
}

function place(bench: EngineBench, symbol: string, key: string): void {
  bench.decide({ kind: 'place', symbol, key, action: 'openLong', lots: 10, ticks: 99_990, force: 'ioc' })
}

function poll(bench: EngineBench): void {
  bench.step({ kind: 'pollDue', what: 'fills' })
}

describe('[MKT4] a fill that cannot be read', () => {
  test('halts its instrument when it is seen again, and others go on', () => {
    const bench = manyInstruments()

    readFills(bench)
    expect(bench.halts.size).toBe(0)
    readFills(bench)
    place(bench, DARK, 'a')
    place(bench, LIT, 'b')

    expect([...bench.halts]).toEqual([[DARK, expect.stringContaining(ROW.problem)]])
    expect(bench.grantBatch().symbol).toBe(LIT)
    expect([...bench.engine.denied.keys()]).toEqual(['TRADING_HALTED'])
  })

  test('is read again, whatever was filled and read after it, and over a restart', () => {
    const bench = manyInstruments()
    bench.pass(2000)
    const sinceAt = bench.now - 1000
    const times = { requestedAt: bench.now, exchangeTime: bench.now }
    place(bench, LIT, 'a')
    bench.accept(bench.grantBatch())
    const later = bench.fill({ symbol: LIT, lots: 10, filledAt: bench.now + 60_000 })

    bench.step({ kind: 'fillsRead', reading: { fills: [later], unreadable: [ROW], sinceAt, ...times } })
    bench.now += 600_000
    poll(bench)

    expect(bench.take('readFills').at(-1)?.sinceAt).toBeLessThanOrEqual(sinceAt)
    expect(bench.restart().book.fillsThroughAt).toBeLessThanOrEqual(sinceAt)
  })

  test('that was spoilt on its way once halts nothing', () => {
    const bench = manyInstruments()

    readFills(bench)
    readFills(bench, [])
    readFills(bench)

    expect(bench.halts.size).toBe(0)
  })

  test('[ORD3] proves of no order of its instrument that it is over, before it was released', () => {
    const bench = manyInstruments()
    place(bench, DARK, 'a')
    bench.accept(bench.grantBatch())
    poll(bench)

    passInTheDark(bench, 10_000)
    expect(bench.states()).toEqual(['live'])
    // The row is not read any more, and nothing has been explained.
    bench.pass(10_000)
    poll(bench)
    bench.pass(5000)
    expect(bench.states()).toEqual(['live'])

    bench.step({ kind: 'commanded', command: { kind: 'release', scope: DARK, reason: 'seen', by: 'anna' } })
    poll(bench)
    bench.pass(5000)
    expect(bench.states()).toEqual(['done'])
  })

  test('[RSK2] has what adds risk cancelled, and gives no second reason however long that stays unproved', () => {
    const bench = manyInstruments()
    bench.decide({ kind: 'quote', symbol: DARK, levels: [{ side: 'buy', ticks: 99_990, lots: 10 }] })
    bench.accept(bench.grantBatch())
    readFills(bench)
    readFills(bench)

    bench.answerCancel(bench.grantCancel().cancelId, accepted({ successList: [], failureList: [] }))
    passInTheDark(bench, 70_000)
    const codes = [...bench.book.restrictions.values()].map(({ code }) => code)
    expect([codes, bench.states()]).toEqual([['unreadable'], ['live']])

    bench.step({ kind: 'commanded', command: { kind: 'release', scope: DARK, reason: 'seen', by: 'anna' } })
    poll(bench)
    bench.pass(5000)
    expect([bench.halts.size, bench.states()]).toEqual([0, ['done']])
  })

  test('halts no more in this run, once it was released', () => {
    const bench = manyInstruments()
    readFills(bench)
    readFills(bench)

    bench.step({ kind: 'commanded', command: { kind: 'release', scope: DARK, reason: 'seen', by: 'anna' } })
    readFills(bench)
    readFills(bench)

    expect(bench.halts.size).toBe(0)
  })

  test('holds up no start but that of its own instrument', () => {
    const bench = manyInstruments()
    bench.restart()
    bench.step({ kind: 'clockSynchronised', offsetMs: 0 })
    bench.step({ kind: 'started' })
    passInTheDark(bench, 10_000)

    expect([bench.engine.phase, [...bench.halts.keys()]]).toEqual(['running', [DARK]])
  })
})

describe('[MKT4] a position that cannot be read', () => {
  const event = { kind: 'positionUnreadable', symbol: DARK, problem: 'total "1.23"' } as const

  test('halts its instrument when it is seen again', () => {
    const bench = manyInstruments()

    bench.step(event)
    expect(bench.halts.size).toBe(0)
    bench.step(event)

    expect([...bench.halts.keys()]).toEqual([DARK])
    expect(bench.book.restrictions.get(`${DARK}|unreadable`)?.mode).toBe('halted')
  })

  test('halts nothing when it can be read in between', () => {
    const bench = manyInstruments()

    bench.step(event)
    bench.step({ kind: 'pollDue', what: 'positions' })
    bench.read()
    bench.step(event)

    expect(bench.halts.size).toBe(0)
    expect(bench.engine.denied.size).toBe(0)
  })
})
