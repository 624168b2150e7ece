import { describe, expect, test } from 'vitest'
import { type Fill } from '../../../src/domain/fill.ts'
import { type EngineEvent } from '../../../src/engine/event.ts'
import { EngineBench, refused, SYMBOL, TIMED_OUT } from '../engine-bench.ts'

/** Longer than the acceptance window, what fills need, and two reads of them. */
const PROVED_MS = 13_000
const RESUME: EngineEvent = {
  kind: 'commanded',
  command: { kind: 'release', scope: SYMBOL, reason: 'looked at', by: 'a test' },
}
const EMPTY = refused('22001', 'definite')

function take(bench: EngineBench, orderId: string, lots: number): Fill {
  return bench.fill({ orderId: orderId as Fill['orderId'], lots, scope: 'taker', ticks: 100_001 })
}

/** An order of ten lots whose answer was lost, and fills that are too many for it. */
function contradicted(make: (bench: EngineBench) => Fill[]) {
  const bench = new EngineBench().start()
  bench.decide({ kind: 'place', symbol: SYMBOL, key: 'a', action: 'openLong', lots: 10 })
  bench.answer(bench.grantBatch().batchId, TIMED_OUT)
  const fills = make(bench)
  const held = { longLots: fills.reduce((sum, { lots }) => sum + lots, 0), shortLots: 0 }
  bench.pass(PROVED_MS, { fills, holding: held })
  return { bench, account: { fills, holding: held } }
}

const twoOrders = (bench: EngineBench): Fill[] => [take(bench, '77', 10), take(bench, '78', 10)]
const tooLarge = (bench: EngineBench): Fill[] => [take(bench, '77', 6), take(bench, '77', 6)]

describe('[ORD4] evidence that contradicts itself', () => {
  test.each([
    [
      'two orders where one was sent',
      twoOrders,
      /orderId 78 beside 77 has fills that it could have made, and an order has one orderId: another program/,
    ],
    [
      'more lots than the order has',
      tooLarge,
      /orderId 77 has its terms, and fills of more than its size/,
    ],
  ])(
    '%s: the order is in quarantine and its instrument halted, with what to do',
    (_, make, why) => {
      const { bench } = contradicted(make)

      expect(bench.states()).toEqual(['quarantined'])
      expect([...bench.halts.keys()]).toEqual([SYMBOL])
      expect(bench.halts.get(SYMBOL)).toMatch(/order t\w+-0 is in quarantine.*7[78].*release/)
      expect(bench.halts.get(SYMBOL)).toMatch(why)
    },
  )

  test('[ORD5] is logged again after a restart, and nothing is disowned before somebody looked', () => {
    const { bench, account } = contradicted(twoOrders)

    bench.restart().start(account)
    bench.pass(30_000, account)

    expect(bench.states()).toEqual(['quarantined'])
    expect([bench.recordsOf('foreign'), bench.halts.size]).toEqual([[], 1])
  })

  test('a crash between the quarantine and its halt does not lose the halt', () => {
    const { bench, account } = contradicted(twoOrders)
    const halted = bench.records.findLastIndex(({ kind }) => kind === 'restricted')
    bench.records.splice(halted)

    bench.restart().start(account)

    expect(bench.halts.has(SYMBOL)).toBe(true)
  })

  test('a release resolves, then ends the order with what fits it; what is too much is nobody’s', () => {
    const { bench, account } = contradicted(twoOrders)

    bench.step(RESUME)
    bench.answerCancel(bench.grantCancel().cancelId, EMPTY)
    bench.pass(3_000, account)

    expect(bench.states()).toEqual(['filled'])
    expect(bench.book.holdings.get(`s|${SYMBOL}`)).toEqual({ longLots: 10, shortLots: 0 })
    expect(bench.book.account.get(SYMBOL)).toEqual({ longLots: 20, shortLots: 0 })
    expect([bench.book.orphans.size, bench.halts.size]).toEqual([0, 0])
  })

  test('[ORD5] nothing is placed between the release and the proof', () => {
    const { bench } = contradicted(twoOrders)
    bench.step(RESUME)

    bench.decide({
      kind: 'place',
      symbol: SYMBOL,
      key: 'b',
      action: 'openLong',
      lots: 5,
      ttlMs: 60_000,
    })
    bench.step({ kind: 'granted', endpoint: 'batchPlaceOrder' })

    expect(bench.take('sendBatch')).toEqual([])
  })
})

describe('[ORD5] an order that is filled beyond its size', () => {
  test('is in quarantine, and ends when it is released', () => {
    const bench = new EngineBench().start()
    bench.quote({ side: 'buy', ticks: 99_990, lots: 10 })
    bench.accept(bench.grantBatch())
    const account = { fills: [bench.fill({ lots: 11 })], holding: { longLots: 11, shortLots: 0 } }
    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.read(account)
    expect([bench.states(), bench.halts.has(SYMBOL)]).toEqual([['quarantined'], true])

    bench.quote()
    bench.step(RESUME)
    bench.answerCancel(bench.grantCancel().cancelId, EMPTY)
    bench.pass(3_000, account)

    expect(bench.states()).toEqual(['done'])
    expect(bench.book.holdings.get(`s|${SYMBOL}`)).toEqual({ longLots: 11, shortLots: 0 })
  })
})
