import { describe, expect, test } from 'vitest'
import { accepted, EngineBench, refused, SYMBOL, TIMED_OUT } from '../engine-bench.ts'

const BID = { side: 'buy', ticks: 99_990, lots: 10 } as const
const GTC = {
  kind: 'place',
  symbol: SYMBOL,
  action: 'openLong',
  lots: 10,
  ticks: 99_990,
  force: 'gtc',
} as const
const EMPTY = refused('22001', 'definite')

/** A core with one bid out whose answer was lost. */
function lostBid(): EngineBench {
  const bench = new EngineBench().start()
  bench.quote(BID)
  bench.answer(bench.grantBatch().batchId, TIMED_OUT)
  return bench
}

describe('an order of a lost answer', () => {
  test('[ORD3] [ORD4] is unknown until its acceptance deadline has passed; only then the cancel-all leaves', () => {
    const bench = lostBid()

    bench.pass(9_900)
    expect([bench.states(), bench.take('askGrant')]).toEqual([['unknown'], []])
    bench.pass(200)
    expect(bench.take('askGrant')).toMatchObject([
      { endpoint: 'cancelAllOrders', priority: 'reduce' },
    ])
  })

  test('[ORD4] halts its instrument when the reads that would show it are refused for good', () => {
    const bench = lostBid()
    bench.pass(10_050)
    bench.answerCancel(bench.grantCancel().cancelId, EMPTY)

    for (const endAt = bench.now + 70_000; bench.now < endAt; bench.now += 500) {
      bench.step({ kind: 'timePassed' })
      if (bench.take('readFills').length === 0) continue
      const failed = {
        kind: 'readFailed',
        what: 'fills',
        reason: 'refused 40018: Invalid IP',
      } as const
      bench.step({ ...failed, isRefused: true })
    }

    const [halt] = bench.book.restrictions.values()
    expect(halt).toMatchObject({ scope: SYMBOL, code: 'refused' })
    expect(halt?.reason).toMatch(
      /^fills and position cannot be read \(refused 40018: Invalid IP\): /,
    )
  })

  test('[ORD4] is absent after an empty cancel-all and two reads that show nothing', () => {
    const bench = lostBid()
    bench.pass(10_050)
    bench.answerCancel(bench.grantCancel().cancelId, EMPTY)

    bench.pass(1_300)
    expect(bench.states()).toEqual(['unknown'])
    bench.pass(700)
    expect(bench.states()).toEqual(['absent'])
  })

  test('[RUN1] is warned of, and whoever was warned hears the end of it', () => {
    const bench = lostBid()
    bench.pass(10_050)
    bench.answerCancel(bench.grantCancel().cancelId, EMPTY)
    bench.pass(2_000)

    const said = bench.take('announce').filter(({ event }) => event.startsWith('instrument.resol'))
    expect(said.map(({ event, level }) => [event, level])).toEqual([
      ['instrument.resolving', 'warn'],
      ['instrument.resolved', 'info'],
    ])
  })

  test('[ORD5] that rested and was filled is found by its fills', () => {
    const bench = lostBid()
    bench.pass(10_050)
    bench.answerCancel(bench.grantCancel().cancelId, EMPTY)

    const fills = [bench.fill({ lots: 10, filledAt: bench.now - 5000 })]
    bench.pass(2_500, { fills, holding: { longLots: 10, shortLots: 0 } })

    expect(bench.states()[0]).toBe('filled')
    expect(bench.book.holdings.get(`s|${SYMBOL}`)).toEqual({ longLots: 10, shortLots: 0 })
  })

  test('[ORD4] that never ends halts its instrument, with a reason, and goes on being looked for', () => {
    const bench = lostBid()

    bench.pass(71_000)

    expect(bench.halts.get(SYMBOL)).toMatch(/unknown/)
  })
})

describe('a cancel-all', () => {
  /** A core that has a bid resting and does not want it any more. */
  function unwantedBid(): EngineBench {
    const bench = new EngineBench().start()
    bench.quote(BID)
    bench.accept(bench.grantBatch())
    bench.quote()
    bench.pass(1000)
    return bench
  }

  test.each([
    ['429', refused('429', 'retry')],
    ['a lost answer', TIMED_OUT],
    [
      'a failure of one order',
      accepted({
        successList: [],
        failureList: [{ clientOid: 'x', orderId: '1', errorCode: '40725', errorMsg: 'busy' }],
      }),
    ],
  ])('is repeated after %s, a second later', (_, answer) => {
    const bench = unwantedBid()
    bench.take('askGrant')
    bench.answerCancel(bench.grantCancel().cancelId, answer)

    bench.pass(900)
    expect(bench.take('askGrant')).toEqual([])
    bench.pass(150)
    expect(bench.take('askGrant')).toMatchObject([{ endpoint: 'cancelAllOrders' }])
  })

  test('is repeated after a minute at most while it is refused, and a refused key halts the account alone', () => {
    const bench = unwantedBid()
    const askedAt: number[] = []
    for (const endAt = bench.now + 300_000; bench.now < endAt; bench.pass(50)) {
      if (!bench.take('askGrant').some(({ endpoint }) => endpoint === 'cancelAllOrders')) continue
      askedAt.push(bench.now)
      bench.answerCancel(bench.grantCancel().cancelId, refused('40006', 'definite'))
    }

    const pauses = askedAt
      .slice(1)
      .map((at, index) => Math.round((at - (askedAt[index] ?? 0)) / 1000))
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60])
    expect([...bench.halts]).toEqual([['*', 'the exchange refuses the key: 40006']])
  })

  test('[ORD4] that is refused for good halts the instrument as refused, with what the exchange says', () => {
    const bench = unwantedBid()
    for (const endAt = bench.now + 90_000; bench.now < endAt; bench.pass(50)) {
      if (bench.take('askGrant').some(({ endpoint }) => endpoint === 'cancelAllOrders'))
        bench.answerCancel(bench.grantCancel().cancelId, refused('40034', 'definite'))
    }

    const [halt] = bench.book.restrictions.values()
    expect(halt).toMatchObject({ scope: SYMBOL, code: 'refused' })
    expect(halt?.reason).toMatch(/^the cancel-all is refused \(40034 \).*release the instrument$/)
  })

  test.each([
    ['a kill', { kind: 'kill', reason: 'drill', by: 'a test' }],
    ['a stop', { kind: 'stop', policy: 'cancel' }],
  ] as const)('that was refused does not wait longer than a second during %s', (_, command) => {
    const bench = unwantedBid()
    for (let refusals = 0; refusals < 6; refusals++) {
      bench.answerCancel(bench.grantCancel().cancelId, refused('40006', 'definite'))
      bench.pass(2 ** refusals * 1000)
    }
    bench.answerCancel(bench.grantCancel().cancelId, refused('40006', 'definite'))
    bench.pass(1000)
    bench.take('askGrant')

    bench.step({ kind: 'commanded', command })
    bench.pass(50)
    expect(bench.take('askGrant')).toMatchObject([{ endpoint: 'cancelAllOrders' }])
    bench.answerCancel(bench.grantCancel().cancelId, refused('40006', 'definite'))
    bench.take('askGrant')
    bench.pass(1050)
    expect(bench.take('askGrant')).toMatchObject([{ endpoint: 'cancelAllOrders' }])
  })

  test('[ORD5] that got no answer closes the instrument until it cannot arrive any more', () => {
    const bench = unwantedBid()
    bench.answerCancel(bench.grantCancel().cancelId, TIMED_OUT)
    bench.pass(1_100)
    bench.answerCancel(bench.grantCancel().cancelId, EMPTY)

    bench.pass(3_500)
    expect(bench.states()).toEqual(['live'])
    bench.pass(2_000)
    expect(bench.states()).toEqual(['done'])
  })

  test('[ORD5] says how long it is good for, and is durable before it leaves', () => {
    const bench = unwantedBid()
    bench.step({ kind: 'granted', endpoint: 'cancelAllOrders' })

    const kinds = bench.effects.map((effect) =>
      effect.kind === 'record' ? `${effect.durable}` : effect.kind,
    )
    expect(kinds.lastIndexOf('sendCancelAll')).toBeGreaterThan(kinds.lastIndexOf('true'))
    expect(JSON.parse(bench.take('sendCancelAll')[0]?.body ?? '')).toMatchObject({
      symbol: SYMBOL,
      requestTime: String(bench.now),
      receiveWindow: '5000',
    })
  })

  test('[ORD5] of a run that ended is settled by the next one, though it adopts what rests', () => {
    const bench = unwantedBid()
    bench.grantCancel()

    bench.restart().start()
    bench.pass(100)

    expect(bench.take('askGrant')).toMatchObject([{ endpoint: 'cancelAllOrders' }])
  })

  test('[ORD8] brings back what was placed by name, as far as it is not filled', () => {
    const bench = new EngineBench().start()
    bench.decide({ ...GTC, key: 'a' })
    bench.answer(bench.grantBatch().batchId, TIMED_OUT)
    bench.pass(10_050)
    const fills = [bench.fill({ orderId: '77' as never, lots: 4, filledAt: bench.now - 3000 })]
    bench.answerCancel(bench.grantCancel().cancelId, EMPTY)

    bench.pass(2_500, { fills, holding: { longLots: 4, shortLots: 0 } })

    expect(bench.recordsOf('settle').at(-1)?.orders).toMatchObject([
      { state: 'done', orderId: '77', replacement: { key: 'a', lots: 6 } },
    ])
    expect(bench.grantBatch().body).toContain('"size":"0.006"')
  })

  test('[ORD8] does not bring back what its strategy withdrew', () => {
    const bench = new EngineBench().start()
    bench.decide({ ...GTC, key: 'a' })
    bench.accept(bench.grantBatch())
    bench.decide({ kind: 'cancelAll', symbol: SYMBOL })
    bench.answerCancel(bench.grantCancel().cancelId, EMPTY)
    bench.pass(2_000)

    expect(bench.states()).toEqual(['done'])
    expect(bench.book.places.size).toBe(0)
  })
})

describe('a waiting order', () => {
  test('[ORD7] that was never written and is no longer wanted expires', () => {
    const bench = new EngineBench().start()
    bench.quote(BID)
    bench.answer(bench.grantBatch().batchId, refused('STALE', 'notSent'))

    bench.quote()

    expect(bench.states()).toEqual(['expired'])
  })

  test('[ORD2] that was never written leaves as the same item', () => {
    const bench = new EngineBench().start()
    bench.quote(BID)
    const first = bench.grantBatch()
    bench.answer(first.batchId, refused('CONNECT_FAILED', 'notSent'))

    expect(bench.grantBatch().body).toBe(first.body)
  })

  test('[MKT1] leaves no later than the prices allow, however long it is wanted', () => {
    const bench = new EngineBench().start()
    bench.decide({ ...GTC, key: 'a', ttlMs: 60_000 })

    expect(bench.grantBatch().validUntilAt).toBe(bench.now + 1000)
  })
})
