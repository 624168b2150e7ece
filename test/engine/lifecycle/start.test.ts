import { describe, expect, test } from 'vitest'
import { EngineBench, refused, SYMBOL } from '../engine-bench.ts'
import { manyInstruments, SYMBOLS } from '../many-instruments.ts'

const BID = { side: 'buy', ticks: 99_990, lots: 10 } as const
const EMPTY = refused('22001', 'definite')

/** A run that ended with its batch on the wire, and the next one. */
function crashed(): EngineBench {
  const bench = new EngineBench().start()
  bench.quote(BID)
  bench.grantBatch()
  return bench.restart().start()
}

describe('[ORD5] a start after a crash', () => {
  test('lets no strategy run before the unknown orders are resolved', () => {
    const bench = crashed()

    bench.pass(3_000)

    expect([bench.engine.phase, bench.states(), bench.take('decide')]).toEqual([
      'starting',
      ['unknown'],
      [],
    ])
  })

  test('runs once they are, and position and fills agree once more', () => {
    const bench = crashed()
    bench.pass(5_000)
    bench.answerCancel(bench.grantCancel().cancelId, EMPTY)
    bench.pass(1_600)
    expect([bench.engine.phase, bench.states()]).toEqual(['starting', ['absent']])

    bench.pass(3_000)

    expect(bench.engine.phase).toBe('running')
  })

  test('[ORD4] does not wait for an instrument whose resolution never ends: it is halted, the others run', () => {
    const bench = crashed()

    bench.pass(75_000)

    expect([bench.engine.phase, bench.states(), [...bench.halts.keys()]]).toEqual([
      'running',
      ['unknown'],
      [SYMBOL],
    ])
  })

  test('[ORD8] waits until a cancel-all that was never recorded cannot arrive any more', () => {
    const bench = new EngineBench({ onRestart: 'cancel', hasRetreated: true }).start()
    bench.answerCancel(bench.grantCancel().cancelId, EMPTY)

    bench.pass(4_000)
    expect([bench.engine.phase, bench.engine.isRetreatSettled]).toEqual(['starting', false])
    bench.pass(4_000)
    expect([bench.engine.phase, bench.engine.isRetreatSettled]).toEqual(['running', true])
  })

  test('[ORD8] believes no book again before a halted instrument was released and resolved', () => {
    const bench = new EngineBench({ onRestart: 'cancel', hasRetreated: true }).start()
    const by = { scope: SYMBOL, reason: 'a test', by: 'a test' }
    bench.step({ kind: 'commanded', command: { kind: 'restrict', mode: 'halted', ...by } })
    bench.answerCancel(bench.grantCancel().cancelId, EMPTY)
    bench.pass(20_000)
    expect([bench.engine.phase, bench.engine.isRetreatSettled]).toEqual(['running', false])

    bench.step({ kind: 'commanded', command: { kind: 'release', ...by } })
    bench.pass(20_000)
    expect(bench.engine.isRetreatSettled).toBe(true)
  })

  test('runs at once where there is nothing to resolve', () => {
    const bench = new EngineBench().start()
    bench.quote(BID)
    bench.accept(bench.grantBatch())

    bench.restart().start()

    expect([bench.engine.phase, bench.states()]).toEqual(['running', ['live']])
  })
})

describe('[ORD5] the machine clock is set between two runs', () => {
  test.each([
    ['ahead by minutes', 300_000],
    ['back by minutes', -300_000],
    ['not at all', 0],
  ])(
    '%s: what cannot rest is over once this run could have read its fills, and no sooner',
    (_, byMs) => {
      const bench = new EngineBench().start()
      bench.decide({ kind: 'target', symbol: SYMBOL, lots: 5 })
      bench.accept(bench.grantBatch())
      bench.now += byMs
      const startedAt = bench.now
      bench.restart().start()

      const { fillVisibilityMs, matchingLagMs } = bench.settings.execution
      bench.pass(startedAt + fillVisibilityMs + matchingLagMs - 50 - bench.now)
      bench.step({ kind: 'pollDue', what: 'fills' })
      bench.read()
      expect(bench.states()).toEqual(['live'])
      bench.pass(100)
      bench.step({ kind: 'pollDue', what: 'fills' })
      bench.read()
      expect(bench.states()).toEqual(['done'])
    },
  )
})

describe('[ORD5] each instrument is traded once its own fills and position are proved', () => {
  const [A, B, C] = SYMBOLS
  const LEVEL = { side: 'buy', ticks: 99_990, lots: 10 } as const

  /** A run whose fills were read, and no position yet. */
  function begun(bench: EngineBench): EngineBench {
    bench.step({ kind: 'clockSynchronised', offsetMs: 0 })
    bench.step({ kind: 'started' })
    bench.price()
    const reading = { fills: [], sinceAt: 0, requestedAt: bench.now, exchangeTime: bench.now }
    bench.step({ kind: 'fillsRead', reading })
    return bench
  }

  function readPosition(bench: EngineBench, symbol: string, longLots = 0, isSilent = false): void {
    const row = {
      holdSide: 'long' as const,
      lots: longLots,
      openPriceAvg: 1,
      unrealisedProfit: '0',
      fundingFee: '',
      markPrice: 1,
      liquidationPrice: 0,
      positionMode: bench.settings.positionMode,
    }
    const rows = longLots > 0 ? [row] : []
    const reading = { symbol, rows, isSilent, requestedAt: bench.now, exchangeTime: bench.now }
    bench.step({ kind: 'positionRead', reading })
  }

  /** The strategy is asked on new prices, and quotes everything. */
  function quoteAll(bench: EngineBench): void {
    bench.now += 50
    bench.price()
    bench.decide(...SYMBOLS.map((symbol) => ({ kind: 'quote', symbol, levels: [LEVEL] }) as const))
  }

  function sentSymbols(bench: EngineBench): string[] {
    bench.take('askGrant')
    for (let grants = 0; grants < 5; grants++)
      bench.step({ kind: 'granted', endpoint: 'batchPlaceOrder' })
    return bench.take('sendBatch').map(({ batch }) => batch.symbol)
  }

  test('and the others are not, whatever is wanted on them', () => {
    const bench = begun(manyInstruments().restart())
    expect(bench.engine.phase).toBe('starting')

    readPosition(bench, B)
    expect([bench.engine.phase, bench.engine.unproved]).toEqual(['running', [A, C]])
    quoteAll(bench)

    expect(sentSymbols(bench)).toEqual([B])
    expect([...bench.engine.denied.keys()]).toEqual([])
  })

  test('nobody is asked before one of its instruments is, and of the others it sees that they are not', () => {
    const bench = begun(manyInstruments().restart())
    bench.price()
    expect(bench.take('decide')).toEqual([])

    readPosition(bench, B)
    bench.now += 50
    bench.price()

    const [asked] = bench.take('decide')
    const readAt = asked?.snapshot.instruments.map(({ positionReadAt }) => positionReadAt > 0)
    expect(readAt).toEqual([false, true, false])
  })

  test('a wish of before its proof waits until its strategy has looked once more', () => {
    const bench = begun(manyInstruments().restart())
    readPosition(bench, B)
    quoteAll(bench)
    expect(sentSymbols(bench)).toEqual([B])

    readPosition(bench, A)
    bench.step({ kind: 'timePassed' })
    expect(sentSymbols(bench)).toEqual([])
    quoteAll(bench)
    expect(sentSymbols(bench)).toEqual([A])
  })

  test('an unknown order holds up its own instrument alone', () => {
    const bench = manyInstruments()
    bench.decide({ kind: 'quote', symbol: A, levels: [LEVEL] })
    bench.grantBatch()
    begun(bench.restart())

    for (const symbol of SYMBOLS) readPosition(bench, symbol)

    expect([bench.engine.phase, bench.engine.unproved]).toEqual(['running', [A]])
    quoteAll(bench)
    expect(sentSymbols(bench).toSorted()).toEqual([B, C])
  })

  test('[RSK1] one that is not read yet counts in the limit of the account with what the book says it holds', () => {
    const first = manyInstruments()
    first.decide({ kind: 'quote', symbol: A, levels: [LEVEL] })
    first.accept(first.grantBatch())
    first.step({ kind: 'pollDue', what: 'fills' })
    first.read({
      holding: { longLots: 10, shortLots: 0 },
      fills: [first.fill({ symbol: A, lots: 10 })],
    })
    // Ten lots are worth 100.
    const { limits } = first.settings
    const bench = manyInstruments({ limits: { ...limits, grossNotionalMax: 150 } })
    bench.records.splice(0, Number.POSITIVE_INFINITY, ...first.records)
    begun(bench.restart())

    readPosition(bench, B)
    quoteAll(bench)

    expect(sentSymbols(bench)).toEqual([])
    expect([...bench.engine.denied.keys()]).toEqual(['GROSS_NOTIONAL_LIMIT'])
  })

  test('what is held or rests is asked for first', () => {
    const bench = manyInstruments()
    bench.decide({ kind: 'quote', symbol: C, levels: [LEVEL] })
    bench.accept(bench.grantBatch())
    bench.restart()
    bench.step({ kind: 'clockSynchronised', offsetMs: 0 })
    bench.step({ kind: 'started' })

    expect(bench.take('readPosition').map(({ symbol }) => symbol)).toEqual([C, A, B])
  })

  test('a position that the fills do not explain yet waits for them, and is adopted, and halted, if they never do', () => {
    const bench = begun(manyInstruments().restart())

    readPosition(bench, A, 7)
    readPosition(bench, B)
    expect(bench.engine.unproved).toEqual([A, C])
    for (let tries = 0; tries < 40; tries++) {
      bench.now += 100
      bench.step({ kind: 'timePassed' })
      if (bench.take('readFills').length > 0) {
        const reading = { fills: [], sinceAt: 0, requestedAt: bench.now, exchangeTime: bench.now }
        bench.step({ kind: 'fillsRead', reading })
      }
      for (const { symbol } of bench.take('readPosition'))
        readPosition(bench, symbol, symbol === A ? 7 : 0)
    }

    expect([bench.engine.unproved, [...bench.halts.keys()]]).toEqual([[], [A]])
  })

  test('a silent answer proves nothing at once where something could have been filled', () => {
    const bench = manyInstruments()
    bench.decide({ kind: 'quote', symbol: A, levels: [LEVEL] })
    bench.accept(bench.grantBatch())
    begun(bench.restart())

    for (const symbol of SYMBOLS) readPosition(bench, symbol, 0, true)

    expect(bench.engine.unproved).toEqual([A])
  })

  test('a call on the account waits for its instrument', () => {
    const bench = begun(manyInstruments().restart())
    readPosition(bench, B)
    bench.now += 50
    bench.price()
    bench.decide({ kind: 'cancelMargin', symbol: A, key: 'a', orderIds: ['1'] } as never)
    expect(bench.recordsOf('decision').at(-1)).toBeDefined()
    expect(bench.take('sendCall')).toEqual([])

    readPosition(bench, A)
    bench.step({ kind: 'timePassed' })
    expect(bench.take('sendCall')).toHaveLength(1)
  })

  test('where losses of the account are limited nothing is traded before what is held was read', () => {
    const bench = manyInstruments()
    bench.decide({ kind: 'quote', symbol: A, levels: [LEVEL] })
    bench.accept(bench.grantBatch())
    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.read({
      holding: { longLots: 10, shortLots: 0 },
      fills: [bench.fill({ symbol: A, lots: 10 })],
    })
    const losses = { timeZone: 'UTC', coolDownMs: 0, limits: new Map([['*', { daily: 5 }]]) }
    const limited = manyInstruments({ losses })
    limited.records.splice(0, Number.POSITIVE_INFINITY, ...bench.records)
    begun(limited.restart())

    readPosition(limited, B)
    expect(limited.engine.phase).toBe('starting')
    readPosition(limited, A, 10)
    expect([limited.engine.phase, limited.engine.unproved]).toEqual(['running', [C]])
  })

  test('[RSK3] a kill is not proved before every position was read', () => {
    const bench = begun(manyInstruments().restart())
    readPosition(bench, B)
    bench.step({ kind: 'commanded', command: { kind: 'kill', reason: 'odd', by: 'anna' } })
    bench.answerCancel(bench.grantCancel().cancelId, EMPTY)
    for (let tries = 0; tries < 100; tries++) {
      bench.now += 500
      bench.step({ kind: 'clockSynchronised', offsetMs: 0 })
      bench.step({ kind: 'timePassed' })
      if (bench.take('askGrant').length > 0) bench.answerCancel(bench.grantCancel().cancelId, EMPTY)
      const reading = { fills: [], sinceAt: 0, requestedAt: bench.now, exchangeTime: bench.now }
      bench.step({ kind: 'fillsRead', reading })
      for (const symbol of [A, B]) readPosition(bench, symbol)
    }
    expect(bench.engine.kill?.phase).not.toBe('clean')

    for (let tries = 0; tries < 10; tries++) {
      bench.pass(1000)
      bench.step({ kind: 'pollDue', what: 'positions' })
      bench.step({ kind: 'pollDue', what: 'fills' })
    }
    expect([bench.engine.kill?.phase, bench.engine.unproved]).toEqual(['clean', []])
  })
})
