import { describe, expect, test } from 'vitest'
import { toOrderId } from '../../../src/domain/ids.ts'
import { deriveClientOid } from '../../../src/execution/batch.ts'
import { accepted, EngineBench, refused, STRATEGY, SYMBOL, TIMED_OUT } from '../engine-bench.ts'
import { OTHER, twoStrategies } from '../traded-account.ts'

const DUPLICATE = '40786'

/** Wants one rung, which is sent for the first time and called a duplicate. */
function sendDuplicate(bench: EngineBench, ticks = 99_990): string {
  bench.quote({ side: 'buy', ticks, lots: 10 })
  const batch = bench.grantBatch()
  bench.refuse(batch, DUPLICATE)
  return batch.clientOids[0] ?? ''
}

/** An operator halts the instrument, which cancels what rests there. */
function halt(bench: EngineBench): void {
  const command = {
    kind: 'restrict',
    scope: SYMBOL,
    mode: 'halted',
    reason: 'drill',
    by: 'anna',
  } as const
  bench.step({ kind: 'commanded', command })
}

/** Answers the cancel-all that looks for it, and lets its resolution come to an end. */
function lookFor(bench: EngineBench, listed: readonly string[], seconds = 60): void {
  bench.take('askGrant')
  const successList = listed.map((clientOid) => ({ clientOid, orderId: '7001' }))
  bench.answerCancel(bench.grantCancel().cancelId, accepted({ successList, failureList: [] }))
  for (let tries = 0; tries < seconds; tries++) {
    bench.pass(1000)
    for (const { endpoint } of bench.take('askGrant'))
      if (endpoint === 'cancelAllOrders') bench.step({ kind: 'granted', endpoint })
    for (const { cancelId } of bench.take('sendCancelAll'))
      bench.answerCancel(cancelId, accepted({ successList: [], failureList: [] }))
  }
}

const isOlder = (bench: EngineBench): boolean =>
  bench.book.restrictions.has('*|olderState') && bench.take('stateOlder').length === 1

describe('[ORD2] a state that is an older copy', () => {
  test('is proved by an order that was sent for the first time, is a duplicate, and neither rests nor was filled', () => {
    const bench = new EngineBench().start()
    const order = { action: 'openLong', lots: 10, ticks: 99_990, force: 'gtc' } as const
    bench.decide({ kind: 'place', symbol: SYMBOL, key: 'in', ...order })
    bench.refuse(bench.grantBatch(), DUPLICATE)
    lookFor(bench, [])

    expect(isOlder(bench)).toBe(true)
  })

  test.each([
    ['one that is lost', TIMED_OUT],
    ['429, which says nothing of what was done', refused('429', 'retry', 'rate')],
  ])(
    'is not proved where the cancel-all that could have listed it had no answer: %s',
    (_, answer) => {
      const bench = new EngineBench().start()
      const order = { action: 'openLong', lots: 10, ticks: 99_990, force: 'gtc' } as const
      bench.decide({ kind: 'place', symbol: SYMBOL, key: 'in', ...order })
      bench.refuse(bench.grantBatch(), DUPLICATE)
      bench.answerCancel(bench.grantCancel().cancelId, answer)
      bench.pass(bench.settings.execution.acceptanceWindowMs)
      lookFor(bench, [])

      expect([bench.states(), isOlder(bench)]).toEqual([['done'], false])
    },
  )

  test('is not proved where such a cancel-all left before the answer to its request', () => {
    const bench = new EngineBench().start()
    const order = { action: 'openLong', lots: 10, ticks: 99_990, force: 'gtc' } as const
    bench.decide({ kind: 'place', symbol: SYMBOL, key: 'in', ...order })
    const batch = bench.grantBatch()
    bench.step({ kind: 'commanded', command: { kind: 'kill', reason: 'drill', by: 'anna' } })
    bench.answerCancel(bench.grantCancel().cancelId, TIMED_OUT)
    bench.refuse(batch, DUPLICATE)
    bench.pass(bench.settings.execution.acceptanceWindowMs)
    lookFor(bench, [])

    expect([bench.states(), isOlder(bench)]).toEqual([['done'], false])
  })

  test('is proved by a post-only order only the second time: the first may have been cancelled because it would take', () => {
    const bench = new EngineBench().start()
    sendDuplicate(bench)
    lookFor(bench, [])
    expect(isOlder(bench)).toBe(false)

    sendDuplicate(bench, 99_980)
    lookFor(bench, [])
    expect(isOlder(bench)).toBe(true)
  })

  test('is not proved by a second duplicate that rested', () => {
    const bench = new EngineBench().start()
    sendDuplicate(bench)
    lookFor(bench, [])
    lookFor(bench, [sendDuplicate(bench, 99_980)])

    expect(isOlder(bench)).toBe(false)
  })

  test('is not proved by duplicates of a request of which another order rested', () => {
    const bench = twoStrategies()
    for (const ticks of [99_990, 99_980]) {
      for (const [index, strategy] of [STRATEGY, OTHER].entries()) {
        const level = { side: 'buy', ticks: ticks - index, lots: 10 } as const
        bench.decideAs(strategy, { kind: 'quote', symbol: SYMBOL, levels: [level] })
      }
      const batch = bench.grantBatch()
      expect(batch.clientOids).toHaveLength(2)
      bench.refuse(batch, DUPLICATE)
      lookFor(bench, batch.clientOids.slice(1))
    }

    expect(isOlder(bench)).toBe(false)
  })

  test('is not proved by a request that was doubled on its way, also twice in a row', () => {
    const bench = new EngineBench().start()
    for (const ticks of [99_990, 99_980]) {
      const clientOid = sendDuplicate(bench, ticks)
      lookFor(bench, [clientOid])
      expect(isOlder(bench)).toBe(false)
    }
  })

  test('is proved by a name of ours in the answer to a cancel-all that was never sent', () => {
    const bench = new EngineBench().start()
    bench.quote({ side: 'buy', ticks: 99_990, lots: 10 })
    bench.accept(bench.grantBatch())
    const { salt } = bench.settings
    const key = `quote:${SYMBOL}:40`
    const lost = deriveClientOid({ salt, strategyId: STRATEGY, key, generation: 0 })
    halt(bench)
    lookFor(bench, [lost])

    expect(isOlder(bench)).toBe(true)
  })

  test('is not proved by a name that our derivation does not give', () => {
    const bench = new EngineBench().start()
    bench.quote({ side: 'buy', ticks: 99_990, lots: 10 })
    bench.accept(bench.grantBatch())
    halt(bench)
    // Looking names up takes time, and goes on for minutes.
    lookFor(bench, [`t${'a'.repeat(26)}-0`, 'by-hand'], 1)

    expect(isOlder(bench)).toBe(false)
  })

  test('is proved by a fill that is minutes older than the first request of its order', () => {
    const bench = new EngineBench().start()
    bench.quote({ side: 'buy', ticks: 99_990, lots: 10 })
    const batch = bench.grantBatch()
    const old = bench.fill({
      orderId: toOrderId(`${batch.batchId}001`),
      filledAt: bench.now - 300_000,
    })
    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.read({ fills: [old] })
    bench.accept(batch)

    expect(isOlder(bench)).toBe(true)
  })

  describe('with foreignFills: adopt, and a fill through the API that no order of ours explains', () => {
    /** It is made after the start, by an order of whoever it is. */
    function hearStranger(bench: EngineBench, orderId: string): void {
      const fill = bench.fill({ orderId: toOrderId(orderId), source: 'API', filledAt: bench.now })
      const holding = { longLots: fill.lots, shortLots: 0 }
      bench.effects = []
      bench.step({ kind: 'pollDue', what: 'fills' })
      bench.read({ fills: [fill], holding })
      bench.pass(1000, { holding })
    }
    const asksForCancel = (bench: EngineBench): boolean =>
      bench.take('askGrant').some(({ endpoint }) => endpoint === 'cancelAllOrders')

    test('is proved by what rests beside it', () => {
      const bench = new EngineBench({ foreignFills: 'adopt' }).start()
      bench.pass(1000)
      hearStranger(bench, '777')
      expect(asksForCancel(bench)).toBe(true)

      const { salt } = bench.settings
      const key = `quote:${SYMBOL}:3`
      lookFor(bench, [deriveClientOid({ salt, strategyId: STRATEGY, key, generation: 0 })])
      expect(isOlder(bench)).toBe(true)
    })

    test('lets nothing leave before that, also where a resolution ends first', () => {
      const bench = new EngineBench({ foreignFills: 'adopt' }).start()
      bench.quote({ side: 'buy', ticks: 99_900, lots: 10 })
      bench.accept(bench.grantBatch())
      bench.quote({ side: 'buy', ticks: 99_800, lots: 10 })
      bench.pass(6000)
      const { cancelId } = bench.grantCancel()
      hearStranger(bench, '777')
      bench.answerCancel(cancelId, accepted({ successList: [], failureList: [] }))
      bench.take('askGrant')
      const holding = { longLots: 4, shortLots: 0 }
      for (let tries = 0; tries < 40; tries++) {
        bench.pass(100, { holding })
        bench.step({ kind: 'granted', endpoint: 'batchPlaceOrder' })
      }

      expect(bench.states()).toEqual(['done'])
      expect(asksForCancel(bench)).toBe(true)
    })

    test('goes on where nothing of ours rests, and looks no more once nothing from before can', () => {
      const bench = new EngineBench({ foreignFills: 'adopt' }).start()
      bench.pass(bench.settings.execution.acceptanceWindowMs + 1000)
      hearStranger(bench, '777')
      expect(asksForCancel(bench)).toBe(true)
      lookFor(bench, [], 10)
      expect([...bench.halts]).toEqual([])
      expect(isOlder(bench)).toBe(false)

      hearStranger(bench, '778')
      expect(asksForCancel(bench)).toBe(false)
    })
  })
})
