import { describe, expect, test } from 'vitest'
import { type StrategyId, toOrderId } from '../../../src/domain/ids.ts'
import { type QuoteLevel } from '../../../src/domain/intent.ts'
import { toBookRows, rebuildBook } from '../../../src/engine/book/book-rows.ts'
import { accepted, type EngineBench, refused, STRATEGY, TIMED_OUT } from '../engine-bench.ts'
import { manyInstruments, OTHER, SYMBOLS } from '../many-instruments.ts'

const [A, B, C] = SYMBOLS
const EMPTY = refused('22001', 'definite')
const AT_TOUCH: QuoteLevel = { side: 'buy', ticks: 99_990, lots: 10 }
const FAR: QuoteLevel = { side: 'buy', ticks: 96_000, lots: 1 }

/** A ladder of a strategy that rests. */
function rest(
  bench: EngineBench,
  symbol: string,
  { as = STRATEGY, levels = [AT_TOUCH] } = {},
): void {
  bench.decideAs(as, { kind: 'quote', symbol, levels })
  bench.accept(bench.grantBatch())
}

function withdraw(bench: EngineBench, symbol: string, as: StrategyId = STRATEGY): void {
  bench.decideAs(as, { kind: 'cancelAll', symbol })
}

function listed(bench: EngineBench, ...symbols: string[]) {
  return [...bench.book.orders.values()]
    .filter(({ terms }) => symbols.includes(terms.symbol))
    .map(({ terms, orderId = '' }) => ({
      clientOid: String(terms.clientOid),
      orderId: String(orderId),
    }))
}

function logged(bench: EngineBench, event: string): Readonly<Record<string, unknown>>[] {
  return bench
    .take('announce')
    .filter((one) => one.event === event)
    .map(({ fields }) => fields)
}

/** The instrument that a cancel-all names; undefined when it takes the product. */
function named({ body }: { readonly body: string }): unknown {
  return (JSON.parse(body) as { readonly symbol?: string }).symbol
}

function asked(bench: EngineBench): string[] {
  return bench.take('askGrant').map(({ endpoint }) => endpoint)
}

/** The instruments on which a batch could leave. */
function sentOn(bench: EngineBench): string[] {
  const sent: string[] = []
  for (let tries = 0; tries < 5; tries++) {
    bench.step({ kind: 'granted', endpoint: 'batchPlaceOrder' })
    sent.push(...bench.take('sendBatch').map(({ batch }) => batch.symbol))
  }
  return sent
}

/** Fills are readable after 1 s here, and nothing unwanted rests for longer than 5 s. */
describe('what nobody wants any more', () => {
  /** So many orders of another strategy, which are wanted, beside one that is not. */
  function beside(wanted: number): EngineBench {
    const bench = manyInstruments()
    rest(bench, A)
    const levels = Array.from({ length: wanted }, (_, rung) => ({
      ...FAR,
      ticks: FAR.ticks - rung,
    }))
    rest(bench, A, { as: OTHER, levels })
    bench.decide({ kind: 'quote', symbol: A, levels: [] })
    bench.take('askGrant')
    return bench
  }

  test.each([
    ['as long as a cancel-all takes to be proved, where nothing else rests', 0, 900],
    ['as long beside one wanted order', 1, 900],
    ['three times as long beside three, which would be missing as long', 3, 2900],
    ['no longer than unwantedMsMax beside many', 9, 4900],
  ])('rests for %s', (_, wanted, restsMs) => {
    const bench = wanted === 0 ? alone() : beside(wanted)

    bench.pass(restsMs)
    expect(asked(bench)).toEqual([])
    bench.pass(200)
    expect(asked(bench)).toEqual(['cancelAllOrders'])
    expect(JSON.parse(bench.grantCancel().body)).toMatchObject({ symbol: A })
  })

  test('rests for a shorter time the more of it there is', () => {
    const bench = manyInstruments()
    rest(bench, A, {
      levels: [AT_TOUCH, FAR, { ...FAR, ticks: 96_001 }, { ...FAR, ticks: 96_002 }],
    })
    bench.decide({ kind: 'quote', symbol: A, levels: [AT_TOUCH] })
    bench.take('askGrant')

    bench.pass(200)
    expect(asked(bench)).toEqual([])
    bench.pass(200)
    expect(asked(bench)).toEqual(['cancelAllOrders'])
  })

  test('does not hold up what is missing while it is kept', () => {
    const bench = manyInstruments()
    rest(bench, A, { levels: [AT_TOUCH, FAR] })
    bench.decide({ kind: 'quote', symbol: A, levels: [AT_TOUCH, { ...AT_TOUCH, ticks: 99_980 }] })

    expect(bench.grantBatch().clientOids).toHaveLength(1)
  })
})

/** One order rests on A, and nobody wants it. */
function alone(): EngineBench {
  const bench = manyInstruments()
  rest(bench, A)
  bench.decide({ kind: 'quote', symbol: A, levels: [] })
  bench.take('askGrant')
  return bench
}

describe('while a cancel-all that is due is waited for', () => {
  function waiting(): EngineBench {
    const bench = alone()
    bench.pass(1100)
    return bench
  }

  test('nothing that could rest is placed', () => {
    const bench = waiting()
    bench.decide({ kind: 'quote', symbol: A, levels: [{ ...FAR, lots: 2 }] })

    expect(sentOn(bench)).toEqual([])
  })

  test('[LIM2] what takes is placed', () => {
    const bench = waiting()
    bench.decide({ kind: 'target', symbol: A, lots: 3 })

    expect(sentOn(bench)).toEqual([A])
  })

  test('and the order is wanted again, the call is given back', () => {
    const bench = waiting()
    bench.decide({ kind: 'quote', symbol: A, levels: [AT_TOUCH] })
    bench.step({ kind: 'granted', endpoint: 'cancelAllOrders' })

    expect([bench.take('sendCancelAll'), bench.take('returnGrant')]).toMatchObject([
      [],
      [{ endpoint: 'cancelAllOrders' }],
    ])
  })

  test('and a stop leaves what rests, the call is given back', () => {
    const bench = waiting()
    bench.step({ kind: 'commanded', command: { kind: 'stop', policy: 'leave' } })
    bench.step({ kind: 'granted', endpoint: 'cancelAllOrders' })

    expect([bench.take('sendCancelAll'), bench.take('returnGrant')]).toMatchObject([
      [],
      [{ endpoint: 'cancelAllOrders' }],
    ])
  })

  test('and a batch is out, the call is given back and asked for after its answer', () => {
    const bench = waiting()
    bench.decide({ kind: 'target', symbol: A, lots: 3 })
    const batch = bench.grantBatch()
    bench.step({ kind: 'granted', endpoint: 'cancelAllOrders' })
    expect([bench.take('sendCancelAll'), bench.take('returnGrant')]).toMatchObject([[], [{}]])

    bench.accept(batch)
    expect(asked(bench)).toContain('cancelAllOrders')
  })

  test('the instrument is resolved when it is granted, and the order is logged', () => {
    const bench = waiting()
    bench.take('announce')
    bench.grantCancel()

    expect(logged(bench, 'cancel.planned')).toEqual([{ order: [A] }])
    expect(sentOn(bench)).toEqual([])
  })
})

describe('[LIM2] of several instruments that need a cancel-all', () => {
  test('the one that has waited longest goes first, by name where others may use the account', () => {
    const bench = manyInstruments()
    rest(bench, A)
    rest(bench, B)
    withdraw(bench, B)
    bench.pass(100)
    withdraw(bench, A)

    expect(named(bench.grantCancel())).toBe(B)
    expect(named(bench.grantCancel())).toBe(A)
  })

  test('none waits behind one that came later, withdrawn or not', () => {
    const bench = manyInstruments()
    rest(bench, A)
    rest(bench, B)
    bench.decide({ kind: 'quote', symbol: B, levels: [] })
    bench.pass(1100)
    withdraw(bench, A)

    expect(named(bench.grantCancel())).toBe(B)
  })

  test('one call takes all where the account is ours alone', () => {
    const bench = exclusive()

    const { body } = bench.grantCancel()

    expect(JSON.parse(body)).not.toHaveProperty('symbol')
    expect(JSON.parse(body)).toMatchObject({ productType: 'USDT-FUTURES', receiveWindow: '5000' })
    expect(asked(bench)).toEqual([])
  })

  test('it is by name all the same when as many would lose what is wanted', () => {
    const bench = manyInstruments({ isExclusive: true })
    rest(bench, A)
    rest(bench, C)
    withdraw(bench, A)

    expect(named(bench.grantCancel())).toBe(A)
  })

  test('it is by name where a halt lets exits stay that could not be placed again', () => {
    const bench = manyInstruments({ isExclusive: true })
    bench.decide({ kind: 'target', symbol: C, lots: 10 })
    const batch = bench.grantBatch()
    bench.accept(batch)
    const orderId = toOrderId(`${batch.batchId}001`)
    const fill = bench.fill({ symbol: C, orderId, lots: 10, ticks: 100_000, scope: 'taker' })
    const times = { sinceAt: bench.now, requestedAt: bench.now, exchangeTime: bench.now }
    bench.step({ kind: 'fillsRead', reading: { fills: [fill], ...times } })
    rest(bench, A)
    rest(bench, B)
    rest(bench, C, { levels: [{ side: 'sell', ticks: 100_010, lots: 10 }] })
    const halt = {
      kind: 'restrict',
      scope: '*',
      mode: 'halted',
      reason: 'drill',
      by: 'anna',
    } as const
    bench.step({ kind: 'commanded', command: halt })

    expect([named(bench.grantCancel()), named(bench.grantCancel())]).toEqual([A, B])
  })

  test('it is by name for one, though nothing else rests', () => {
    const bench = manyInstruments({ isExclusive: true })
    rest(bench, A)
    withdraw(bench, A)

    expect(named(bench.grantCancel())).toBe(A)
  })
})

/** Ladders rest on A and B and are withdrawn; C is empty. */
function exclusive(): EngineBench {
  const bench = manyInstruments({ isExclusive: true })
  rest(bench, A)
  rest(bench, B)
  withdraw(bench, A)
  withdraw(bench, B)
  bench.take('askGrant')
  return bench
}

describe('a cancel-all of the product', () => {
  test('[ORD1] [DET2] is one durable record before its bytes, and folds into every instrument', () => {
    const bench = exclusive()
    bench.take('record')
    bench.step({ kind: 'granted', endpoint: 'cancelAllOrders' })

    const kinds = bench.effects.map((effect) =>
      effect.kind === 'record' ? `${effect.record.kind} ${effect.durable}` : effect.kind,
    )
    expect(kinds.indexOf('cancel true')).toBeLessThan(kinds.indexOf('sendCancelAll'))
    expect([...bench.book.cancels.keys()]).toEqual([...SYMBOLS])
    const rebuilt = rebuildBook({ checkpoint: undefined, records: bench.records }, 'one_way_mode')
    expect(toBookRows(rebuilt)).toEqual(toBookRows(bench.book))
  })

  test('[ORD5] closes every instrument until its readings prove what happened', () => {
    const bench = exclusive()
    const { cancelId } = bench.grantCancel()
    for (const symbol of [A, B, C]) bench.decideAs(OTHER, { kind: 'quote', symbol, levels: [FAR] })
    expect(sentOn(bench)).toEqual([])

    bench.answerCancel(cancelId, accepted({ successList: listed(bench, A, B), failureList: [] }))
    // Nothing of C was there to be taken: it is free as soon as the call is answered.
    expect(sentOn(bench)).toEqual([C])
    bench.pass(900)
    expect(sentOn(bench)).toEqual([])
    bench.pass(700)
    expect(sentOn(bench).sort()).toEqual([A, B])
    expect(bench.book.cancels.size).toBe(0)
  })

  test('[ORD5] whose answer is lost closes all until it cannot arrive any more, and is repeated', () => {
    const bench = exclusive()
    bench.answerCancel(bench.grantCancel().cancelId, TIMED_OUT)
    bench.decideAs(OTHER, { kind: 'quote', symbol: C, levels: [FAR] })
    bench.pass(1100)
    bench.answerCancel(bench.grantCancel().cancelId, EMPTY)

    bench.pass(3500)
    expect([sentOn(bench), bench.states().slice(0, 2)]).toEqual([[], ['live', 'live']])
    bench.pass(2500)
    expect([sentOn(bench), bench.states().slice(0, 2)]).toEqual([[C], ['done', 'done']])
  })

  test('[ORD8] that failed for an order is repeated for its instrument alone', () => {
    const bench = exclusive()
    const [ofA] = listed(bench, A)
    const failure = {
      ...ofA,
      clientOid: ofA?.clientOid ?? '',
      orderId: '',
      errorCode: '40725',
      errorMsg: 'busy',
    }
    bench.answerCancel(
      bench.grantCancel().cancelId,
      accepted({ successList: listed(bench, B), failureList: [failure] }),
    )
    bench.pass(1600)

    expect(bench.states()).toEqual(['live', 'done'])
    expect(named(bench.grantCancel())).toBe(A)
  })

  test('[ORD5] that failed for an order of somebody else holds nothing up', () => {
    const bench = exclusive()
    const failure = { clientOid: 'not-ours', orderId: '5', errorCode: '40725', errorMsg: 'busy' }
    bench.answerCancel(
      bench.grantCancel().cancelId,
      accepted({ successList: listed(bench, A, B), failureList: [failure] }),
    )
    bench.pass(1600)

    expect(bench.states()).toEqual(['done', 'done'])
  })

  test('[ORD5] that races with a batch is followed by a second one, after the answer', () => {
    const bench = exclusive()
    bench.decideAs(OTHER, { kind: 'quote', symbol: C, levels: [FAR] })
    const batch = bench.grantBatch()
    const cancelAll = bench.grantCancel()
    expect(named(cancelAll)).toBeUndefined()
    bench.accept(batch)
    bench.answerCancel(
      cancelAll.cancelId,
      accepted({ successList: listed(bench, A, B), failureList: [] }),
    )

    bench.decideAs(OTHER, { kind: 'quote', symbol: C, levels: [FAR, { ...FAR, ticks: 95_000 }] })
    expect(sentOn(bench)).toEqual([])
    const second = bench.grantCancel()
    expect(named(second)).toBe(C)
    bench.answerCancel(second.cancelId, EMPTY)
    bench.pass(1600)
    expect(bench.states()).toEqual(['done', 'done', 'done'])
    expect(sentOn(bench)).toContain(C)
  })

  test('[ORD5] that races with a batch that placed nothing needs no second one', () => {
    const bench = exclusive()
    bench.decideAs(OTHER, { kind: 'quote', symbol: C, levels: [FAR] })
    const batch = bench.grantBatch()
    const { cancelId } = bench.grantCancel()
    bench.answer(batch.batchId, refused('40725', 'notSent'))
    expect(sentOn(bench)).toEqual([])

    bench.answerCancel(cancelId, EMPTY)
    expect(sentOn(bench)).toEqual([C])
  })

  test('[ORD5] of a run that ended is settled by the next one on every instrument', () => {
    const bench = exclusive()
    rest(bench, C, { levels: [FAR] })
    expect(named(bench.grantCancel())).toBeUndefined()

    bench.restart().start()
    bench.pass(100)
    const again = bench.grantCancel()
    bench.answerCancel(
      again.cancelId,
      accepted({ successList: listed(bench, A, B, C), failureList: [] }),
    )
    bench.pass(8000)

    expect([named(again), bench.states()]).toEqual([undefined, ['done', 'done', 'done']])
  })

  test('[RSK3] serves a stop: one call for all, and one more that finds nothing', () => {
    const bench = manyInstruments({ isExclusive: true })
    for (const symbol of SYMBOLS) rest(bench, symbol)
    bench.step({ kind: 'commanded', command: { kind: 'stop', policy: 'cancel' } })
    const first = bench.grantCancel()
    bench.answerCancel(
      first.cancelId,
      accepted({ successList: listed(bench, ...SYMBOLS), failureList: [] }),
    )
    bench.pass(1600)
    const second = bench.grantCancel()
    bench.answerCancel(second.cancelId, EMPTY)
    bench.pass(4000)

    expect([named(first), named(second)]).toEqual([undefined, undefined])
    expect(bench.take('stopped')).toMatchObject([{ clean: true }])
  })
})

describe('[ORD8] what a cancel-all took for another’s sake', () => {
  /** A ladder of one strategy and, of the other, a ladder and an order by name on the same instrument. */
  function shared(bench = manyInstruments()): EngineBench {
    rest(bench, A)
    bench.decideAs(
      OTHER,
      { kind: 'quote', symbol: A, levels: [{ ...AT_TOUCH, ticks: 99_900 }] },
      {
        kind: 'place',
        symbol: A,
        key: 'k',
        action: 'openLong',
        lots: 5,
        ticks: 99_800,
        force: 'gtc',
      },
    )
    bench.accept(bench.grantBatch())
    withdraw(bench, A)
    bench.answerCancel(
      bench.grantCancel().cancelId,
      accepted({ successList: listed(bench, A), failureList: [] }),
    )
    return bench
  }

  test('is placed again in one batch as soon as it is proved', () => {
    const bench = shared()
    bench.pass(1600)
    const batch = bench.grantBatch()
    bench.take('announce')
    bench.accept(batch)
    bench.pass(50)

    expect(batch.clientOids).toHaveLength(2)
    expect(logged(bench, 'orders.restored')).toMatchObject([
      { symbol: A, sinceMs: expect.any(Number) },
    ])
  })

  test('goes before what is new elsewhere', () => {
    const bench = shared()
    bench.pass(1000)
    bench.decideAs(OTHER, { kind: 'quote', symbol: B, levels: [FAR] })
    bench.pass(600)

    expect(bench.grantBatch().symbol).toBe(A)
  })

  test('is reported once when it is not back within its bound', () => {
    const bench = shared()
    bench.pass(8000)

    expect(logged(bench, 'order.displacedLate')).toMatchObject([
      { symbol: A, orders: [{ strategy: OTHER }, { strategy: OTHER, key: 'k' }] },
    ])
    bench.accept(bench.grantBatch())
    bench.pass(50)
    expect(logged(bench, 'orders.restored')).toHaveLength(1)
  })

  test('is reported without denials of earlier wishes', () => {
    const bench = manyInstruments()
    bench.decideAs(OTHER, { kind: 'quote', symbol: A, levels: [{ ...FAR, lots: 1001 }] })
    expect(bench.engine.denied.get('ORDER_SIZE_LIMIT')).toBe(1)
    shared(bench).pass(8000)

    expect(logged(bench, 'order.displacedLate')).toMatchObject([{ symbol: A, denials: [] }])
  })

  test('is not waited for when it is not wanted any more', () => {
    const bench = shared()
    withdraw(bench, A, OTHER)
    bench.pass(8000)

    expect(logged(bench, 'order.displacedLate')).toEqual([])
    expect(sentOn(bench)).toEqual([])
  })
})
