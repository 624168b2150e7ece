import { describe, expect, test } from 'vitest'
import { type ClientOid } from '../../../src/domain/ids.ts'
import { type Intent } from '../../../src/domain/intent.ts'
import type { OrderTerms } from '../../../src/domain/order.ts'
import { accepted, EngineBench, STRATEGY, SYMBOL } from '../engine-bench.ts'

/** What an exchange says of an order: the code and message of a refusal, or undefined to accept it. */
type Judge = (terms: OrderTerms) => readonly [code: string, message: string] | undefined

const STEP_MESSAGE = 'The price you enter should be a multiple of 1'

/** An exchange that takes multiples of 1, where the configuration says 0.1. */
const coarse: Judge = ({ ticks }) =>
  ticks === undefined || ticks % 10 === 0 ? undefined : ['45115', STEP_MESSAGE]

/** Ten rungs below the market, a tick apart: one of them is a multiple of 1. */
function ladder(topTicks: number, lots = 10): Intent {
  const levels = Array.from({ length: 10 }, (_, index) => ({
    side: 'buy' as const,
    ticks: topTicks - index,
    lots,
  }))
  return { kind: 'quote', symbol: SYMBOL, levels }
}

/** Every order of the batch is answered as the exchange judges it. Returns what was refused. */
function answerBatch(bench: EngineBench, judge: Judge): OrderTerms[] {
  const batch = bench.grantBatch()
  const judged = batch.clientOids.map((clientOid, index) => {
    const terms = bench.book.orders.get(clientOid)?.terms
    if (!terms) throw new Error(`no order ${clientOid}`)
    return { terms, clientOid, orderId: `${batch.batchId}00${index + 1}`, refusal: judge(terms) }
  })
  const successList = judged.flatMap(({ refusal, clientOid, orderId }) =>
    refusal ? [] : [{ clientOid, orderId }],
  )
  const failureList = judged.flatMap(({ refusal, clientOid }) =>
    refusal ? [{ clientOid, orderId: '', errorCode: refusal[0], errorMsg: refusal[1] }] : [],
  )
  bench.answer(batch.batchId, accepted({ successList, failureList }))
  return judged.flatMap(({ terms, refusal }) => (refusal ? [terms] : []))
}

interface Played {
  readonly sent: OrderTerms[]
  readonly refused: OrderTerms[]
}

/** Time passes, the strategy decides each 50 ms, and whatever leaves is answered. */
function play(bench: EngineBench, ms: number, judge: Judge, decide: () => Intent[]): Played {
  const [sent, refused]: [OrderTerms[], OrderTerms[]] = [[], []]
  for (const endAt = bench.now + ms; bench.now < endAt;) {
    bench.pass(50)
    bench.decide(...decide())
    if (bench.take('askGrant').some(({ endpoint }) => endpoint === 'cancelAllOrders')) {
      const { cancelId } = bench.grantCancel()
      bench.answerCancel(cancelId, accepted({ successList: [], failureList: [] }))
    } else if (bench.engine.instrument(SYMBOL)?.wantsBatchSince !== undefined) {
      const before = bench.book.orders.size
      refused.push(...answerBatch(bench, judge))
      sent.push(...[...bench.book.orders.values()].slice(before).map(({ terms }) => terms))
    }
  }
  return { sent, refused }
}

const logged = (bench: EngineBench, event: string) =>
  bench.take('announce').filter((one) => one.event === event)

describe('back-off by cause', () => {
  test('a tick size that changed at the exchange: the acceptance of one rung clears nothing', () => {
    const bench = new EngineBench().start()

    const { refused } = play(bench, 90_000, coarse, () => [ladder(99_985)])

    // All nine at once, one at the next decision, and one each after 0.25, 0.5, 1 … 32 s.
    expect(refused.length).toBe(18)
    expect(bench.states().filter((state) => state === 'live')).toHaveLength(1)
  })

  test('what it is, and which setting it contradicts, is said at once, in the log and by the core', () => {
    const bench = new EngineBench().start()
    play(bench, 50, coarse, () => [ladder(99_985)])

    const reason =
      'refused 45115 9 times: tickSize 0.1 of the configuration, the exchange takes multiples of 1; change instruments.BTCUSDT.tickSize'
    expect(logged(bench, 'orders.refused')).toMatchObject([
      {
        level: 'error',
        fields: { strategy: STRATEGY, symbol: SYMBOL, cause: 'priceStep', lasts: true, reason },
      },
    ])
    expect(bench.engine.refusals).toMatchObject([{ strategyId: STRATEGY, symbol: SYMBOL, reason }])

    play(bench, 60_000, coarse, () => [ladder(99_985)])
    expect(logged(bench, 'orders.refused')).toEqual([])
    expect(bench.engine.refusals[0]?.reason).toMatch(/^refused 45115 17 times in 32 s: /)
  })

  test('rungs that accepted ones prove to be on the grid of the exchange go on', () => {
    const bench = new EngineBench().start()
    const spread: Intent = {
      kind: 'quote',
      symbol: SYMBOL,
      levels: [99_980, 99_970, 99_961].map((ticks) => ({ side: 'buy', ticks, lots: 10 })),
    }
    play(bench, 5000, coarse, () => [spread])
    const moved: Intent = {
      kind: 'quote',
      symbol: SYMBOL,
      levels: [99_990, 99_980, 99_970, 99_961].map((ticks) => ({ side: 'buy', ticks, lots: 10 })),
    }

    const { sent } = play(bench, 200, coarse, () => [moved])

    expect(sent.map(({ ticks }) => ticks)).toEqual([99_990])
  })

  test('once the grid is as configured, single orders prove it, and everything goes at once again', () => {
    const bench = new EngineBench().start()
    play(bench, 10_000, coarse, () => [ladder(99_985)])
    logged(bench, 'orders.refused')

    play(
      bench,
      10_000,
      () => undefined,
      () => [ladder(99_985)],
    )

    expect(bench.states().filter((state) => state === 'live')).toHaveLength(10)
    expect(bench.engine.refusals).toEqual([])
    expect(logged(bench, 'orders.refusedNoMore')).toMatchObject([
      { fields: { cause: 'priceStep' } },
    ])
  })

  test('a smaller order that is accepted does not disprove that a larger one is too dear', () => {
    const bench = new EngineBench().start()
    const poor: Judge = ({ lots }) =>
      lots > 5 ? ['40762', 'The order amount exceeds the balance'] : undefined
    const levels = [10, 10, 5].map((lots, index) => ({
      side: 'buy' as const,
      ticks: 99_980 - index,
      lots,
    }))

    const { refused } = play(bench, 90_000, poor, () => [{ kind: 'quote', symbol: SYMBOL, levels }])

    expect(refused.length).toBe(11)
  })

  test('orders by name wait for the same cause, whatever their key', () => {
    const bench = new EngineBench().start()
    let key = 0
    const place = (): Intent => ({
      kind: 'place',
      symbol: SYMBOL,
      key: `k${key++}`,
      action: 'openLong',
      lots: 10,
      ticks: 99_985,
      force: 'gtc',
    })

    const { refused } = play(bench, 20_000, coarse, () => [place()])

    expect(refused.length).toBe(8)
  })

  test('what reduces does not wait because something that adds was refused', () => {
    const bench = new EngineBench().start()
    bench.buy(20)
    play(
      bench,
      100,
      () => ['40762', 'balance'],
      () => [ladder(99_985)],
    )
    bench.decide(
      { kind: 'quote', symbol: SYMBOL, levels: [] },
      { kind: 'target', symbol: SYMBOL, lots: 0 },
    )

    const [order] = bench
      .grantBatch()
      .clientOids.map((oid: ClientOid) => bench.book.orders.get(oid)?.terms)
    expect(order).toMatchObject({ purpose: 'target', action: 'closeLong', lots: 20 })
  })

  test('a target that only reduces names no price where the configured grid is refused', () => {
    const bench = new EngineBench().start()
    bench.buy(20)
    const holding = { longLots: 20, shortLots: 0 }
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 0 })
    expect(answerBatch(bench, () => ['45115', STEP_MESSAGE])).toMatchObject([{ ticks: 99_900 }])
    bench.pass(50, { holding })
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 0 })

    answerBatch(bench, coarse)

    expect([...bench.book.orders.values()].at(-1)).toMatchObject({
      state: 'live',
      terms: { action: 'closeLong' },
    })
    expect([...bench.book.orders.values()].at(-1)?.terms.ticks).toBeUndefined()
  })

  test('what the market causes is logged when it goes on, and ends when such an order is accepted', () => {
    const bench = new EngineBench().start()
    const high: Judge = ({ ticks = 0 }) =>
      ticks > 99_980 ? ['43039', 'Maximum price limit exceeded 9998'] : undefined
    play(bench, 1000, high, () => [ladder(99_985)])
    expect(logged(bench, 'orders.refused')).toEqual([])

    play(bench, 20_000, high, () => [ladder(99_985)])
    expect(logged(bench, 'orders.refused')).toMatchObject([
      { level: 'warn', fields: { cause: 'priceHigh' } },
    ])
    // The rungs below stand: what is too high does not concern them.
    expect(bench.states().filter((state) => state === 'live')).toHaveLength(5)

    play(
      bench,
      70_000,
      () => undefined,
      () => [ladder(99_985)],
    )
    expect(bench.states().filter((state) => state === 'live')).toHaveLength(10)
    expect(logged(bench, 'orders.refusedNoMore')).toHaveLength(1)
  })

  test('[BND1] what nothing wants any more is forgotten', () => {
    const bench = new EngineBench().start()
    play(bench, 100, coarse, () => [ladder(99_985)])
    bench.now += 3_600_100
    bench.step({ kind: 'timePassed' })

    expect(bench.engine.refusals).toEqual([])
  })
})
