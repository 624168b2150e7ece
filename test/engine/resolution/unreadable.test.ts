import { expect, test, describe } from 'vitest'
import { type UnreadableFill } from '../../../src/domain/fill.ts'
import { manyInstruments, SYMBOLS } from '../many-instruments.ts'
import { accepted, type EngineBench, TIMED_OUT } from '../engine-bench.ts'

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
  bench.decide({
    kind: 'place',
    symbol,
    key,
    action: 'openLong',
    lots: 10,
    ticks: 99_990,
    force: 'ioc',
  })
}

function poll(bench: EngineBench): void {
  bench.step({ kind: 'pollDue', what: 'fills' })
}

/** What restricts, recorded or not: scope and words. */
function held(bench: EngineBench): readonly (readonly [string, string])[] {
  return bench.engine.restrictions.map(({ scope, reason }) => [scope, reason])
}

function stop(bench: EngineBench, policy: 'leave' | 'cancel' | 'flatten'): void {
  bench.step({ kind: 'commanded', command: { kind: 'stop', policy } })
}

const EMPTY = accepted({ successList: [], failureList: [] })

/** Grants every cancel-all that was asked for, and lets it find nothing. */
function answerCancels(bench: EngineBench): void {
  for (const { endpoint } of bench.take('askGrant'))
    if (endpoint === 'cancelAllOrders') bench.step({ kind: 'granted', endpoint })
  for (const { cancelId } of bench.take('sendCancelAll')) bench.answerCancel(cancelId, EMPTY)
}

describe('[MKT4] a fill that cannot be read', () => {
  test('halts its instrument at once and says why, and others go on', () => {
    const bench = manyInstruments()

    readFills(bench)
    place(bench, DARK, 'a')
    place(bench, LIT, 'b')

    expect(held(bench)).toEqual([[DARK, `fill 77 of order 1001 cannot be read: ${ROW.problem}`]])
    expect(bench.halts.size).toBe(0)
    expect(bench.grantBatch().symbol).toBe(LIT)
    expect([...bench.engine.denied.keys()]).toEqual(['TRADING_HALTED'])
  })

  test('halts all instruments where it names none', () => {
    const bench = manyInstruments()
    readFills(bench, [
      { tradeId: '', orderId: '', symbol: '*', problem: 'expected object, received null' },
    ])
    place(bench, DARK, 'a')
    place(bench, LIT, 'b')
    bench.step({ kind: 'granted', endpoint: 'batchPlaceOrder' })
    expect(bench.take('sendBatch')).toEqual([])
    expect(held(bench)).toEqual([['*', expect.stringContaining('received null')]])
  })

  test('heals with the second whole reading in a row, not with the first, and says so', () => {
    const bench = manyInstruments()
    for (let round = 0; round < 5; round++) readFills(bench)
    readFills(bench, [])
    expect(held(bench).length).toBe(1)
    readFills(bench)
    readFills(bench, [])
    expect(held(bench).length).toBe(1)
    bench.take('announce')
    readFills(bench, [])
    expect([held(bench), bench.take('announce').map(({ event }) => event)]).toEqual([
      [],
      ['rows.readable'],
    ])

    place(bench, DARK, 'a')
    expect(bench.grantBatch().symbol).toBe(DARK)
  })

  test('is read again, whatever was filled and read after it, until it has healed, and over a restart', () => {
    const bench = manyInstruments()
    bench.pass(2000)
    const sinceAt = bench.now - 1000
    const times = { requestedAt: bench.now, exchangeTime: bench.now }
    place(bench, LIT, 'a')
    bench.accept(bench.grantBatch())
    const later = bench.fill({ symbol: LIT, lots: 10, filledAt: bench.now + 60_000 })
    const sinceOfNext = (): number => {
      poll(bench)
      return bench.take('readFills').at(-1)?.sinceAt ?? Number.NaN
    }

    bench.step({
      kind: 'fillsRead',
      reading: { fills: [later], unreadable: [ROW], sinceAt, ...times },
    })
    bench.now += 600_000
    expect(sinceOfNext()).toBeLessThanOrEqual(sinceAt)
    expect(bench.book.fillsThroughAt).toBeLessThanOrEqual(sinceAt)
    readFills(bench, [])
    expect(sinceOfNext()).toBeLessThanOrEqual(sinceAt)
    readFills(bench, [])
    expect(sinceOfNext()).toBeGreaterThan(sinceAt)

    const again = manyInstruments()
    again.step({
      kind: 'fillsRead',
      reading: { fills: [later], unreadable: [ROW], sinceAt, ...times },
    })
    expect(again.restart().book.fillsThroughAt).toBeLessThanOrEqual(sinceAt)
  })

  test('and comes for a quarter of an hour halts its instrument until an operator has looked', () => {
    const bench = manyInstruments()
    for (let minute = 0; minute < 15; minute++) {
      readFills(bench)
      expect(bench.halts.size).toBe(0)
      bench.now += 60_000
    }
    readFills(bench)
    expect([...bench.halts.keys()]).toEqual([DARK])
    expect(bench.restart().book.restrictions.get(`${DARK}|unreadable`)?.mode).toBe('halted')

    bench.step({
      kind: 'commanded',
      command: { kind: 'release', scope: DARK, reason: 'seen', by: 'anna' },
    })
    expect(bench.halts.size).toBe(0)
  })

  test('is not held against its instrument for the time in which nothing was read', () => {
    const bench = manyInstruments()
    readFills(bench)
    for (const hours of [1, 24]) {
      bench.now += hours * 3_600_000
      readFills(bench)
      expect(bench.halts.size).toBe(0)
    }
    bench.now += 1000
    readFills(bench, [])
    bench.now += 1000
    readFills(bench, [])
    expect(held(bench).map(([scope]) => scope)).not.toContain(DARK)
  })

  test('[ORD3] proves of no order of its instrument that it is over, before it has healed', () => {
    const bench = manyInstruments()
    place(bench, DARK, 'a')
    bench.accept(bench.grantBatch())
    poll(bench)

    passInTheDark(bench, 10_000)
    expect(bench.states()).toEqual(['live'])
    for (let round = 0; round < 3; round++) {
      poll(bench)
      bench.pass(1000)
    }
    expect(bench.states()).toEqual(['done'])
  })

  test('gives no second reason to halt, however long an order stays unproved', () => {
    const bench = manyInstruments()
    place(bench, DARK, 'a')
    const { batchId } = bench.grantBatch()
    bench.answer(batchId, TIMED_OUT)

    passInTheDark(bench, 110_000)
    expect([bench.halts.size, bench.states()]).toEqual([0, ['unknown']])
  })

  test('holds up no start but that of its own instrument', () => {
    const bench = manyInstruments()
    bench.restart()
    bench.step({ kind: 'clockSynchronised', offsetMs: 0 })
    bench.step({ kind: 'started' })
    passInTheDark(bench, 10_000)

    expect([bench.engine.phase, held(bench).map(([scope]) => scope)]).toEqual(['running', [DARK]])
  })
})

describe('[MKT4] a position that cannot be read', () => {
  const event = { kind: 'positionUnreadable', symbol: DARK, problem: 'total "1.23"' } as const

  test('halts its instrument, and heals with the second reading in a row that can be read', () => {
    const bench = manyInstruments()
    const readWell = (): void => {
      bench.step({ kind: 'pollDue', what: 'positions' })
      bench.read()
    }

    for (let round = 0; round < 3; round++) bench.step(event)
    expect(held(bench)).toEqual([[DARK, `position ${DARK} cannot be read: total "1.23"`]])
    readWell()
    bench.step(event)
    readWell()
    expect(held(bench).length).toBe(1)
    readWell()
    expect([held(bench), bench.engine.denied.size]).toEqual([[], 0])
  })
})

describe('[RSK3] while rows cannot be read', () => {
  /** A ladder that rests on the instrument whose fills cannot be read. */
  function restInTheDark(): EngineBench {
    const bench = manyInstruments()
    bench.decide({
      kind: 'quote',
      symbol: DARK,
      levels: [{ side: 'buy', ticks: 99_990, lots: 10 }],
    })
    bench.accept(bench.grantBatch())
    readFills(bench)
    return bench
  }

  test.each([
    ['leave', 25_000],
    ['cancel', 25_000],
    ['flatten', 35_000],
  ] as const)(
    'a stop that says %s ends within %i ms, not clean, and says what is not proved',
    (policy, ms) => {
      const bench = restInTheDark()
      stop(bench, policy)
      let cancels = 0
      for (let passed = 0; passed < ms; passed += 1000) {
        passInTheDark(bench, 1000)
        cancels += bench.effects.filter(({ kind }) => kind === 'askGrant').length
        answerCancels(bench)
      }
      expect(bench.take('stopped')).toEqual([{ kind: 'stopped', clean: false }])
      const [said] = bench.take('announce').filter(({ event }) => event === 'daemon.stopped')
      expect(said?.fields).toMatchObject({ clean: false, unproved: [DARK] })
      expect(cancels > 0).toBe(policy !== 'leave')
    },
  )

  test('a stop that was held up is confirmed by a second cancel-all once the rows can be read, and clean', () => {
    const bench = restInTheDark()
    stop(bench, 'cancel')
    passInTheDark(bench, 1000)
    answerCancels(bench)
    passInTheDark(bench, 3000)
    const sent = bench.recordsOf('cancel').length
    for (let passed = 0; passed < 12_000; passed += 500) {
      bench.pass(500)
      answerCancels(bench)
    }
    expect(bench.recordsOf('cancel').length).toBeGreaterThan(sent)
    expect(bench.take('stopped')).toMatchObject([{ clean: true }])
  })

  test('a kill says after some seconds what is not proved, and is clean when the rows can be read', () => {
    const bench = restInTheDark()
    bench.step({ kind: 'commanded', command: { kind: 'kill', reason: 'test', by: 'anna' } })
    for (let passed = 0; passed < 20_000; passed += 500) {
      passInTheDark(bench, 500)
      answerCancels(bench)
    }
    const said = bench.take('announce').filter(({ event }) => event === 'kill.unproved')
    expect(said.map(({ fields }) => fields['unproved'])).toEqual([[DARK]])
    for (let passed = 0; passed < 60_000; passed += 500) {
      for (const what of ['fills', 'positions'] as const) bench.step({ kind: 'pollDue', what })
      bench.pass(500)
      answerCancels(bench)
    }
    expect(bench.engine.kill?.phase).toBe('clean')
  })
})
