import { expect, test } from 'vitest'
import { toOrderId } from '../../../src/domain/ids.ts'
import { strategyScope } from '../../../src/domain/trading-mode.ts'
import { type FailurePolicy } from '../../../src/engine/settings.ts'
import { accepted, EngineBench, STRATEGY, SYMBOL } from '../engine-bench.ts'

const LONG = { longLots: 10, shortLots: 0 }

/** Ten lots long, and a ladder that rests, of a strategy with this policy. */
function holding(onFailure: FailurePolicy | undefined): EngineBench {
  const { settings } = new EngineBench()
  const strategies = new Map(
    [...settings.strategies].map(([id, strategy]) => [
      id,
      { ...strategy, ...(onFailure && { onFailure }) },
    ]),
  )
  const bench = new EngineBench({ strategies }).start()
  bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
  const batch = bench.grantBatch()
  bench.accept(batch)
  const orderId = toOrderId(`${batch.batchId}001`)
  const fill = bench.fill({ orderId, side: 'buy', lots: 10, ticks: 100_000, scope: 'taker' })
  const reading = { fills: [fill], sinceAt: 0, requestedAt: bench.now, exchangeTime: bench.now }
  bench.step({ kind: 'fillsRead', reading })
  bench.pass(6000, { holding: LONG })
  bench.quote({ side: 'buy', ticks: 99_990, lots: 10 })
  bench.accept(bench.grantBatch())
  bench.take('askGrant')
  return bench
}

function fail(bench: EngineBench, times: number, isPaused: boolean): void {
  for (let time = 0; time < times; time++)
    bench.step({ kind: 'decisionFailed', strategyId: STRATEGY, reason: 'it threw', isPaused })
}

/** Whether a cancel-all was asked for within some seconds. */
function cancels(bench: EngineBench): boolean {
  bench.pass(4000, { holding: LONG })
  return bench.take('askGrant').some(({ endpoint }) => endpoint === 'cancelAllOrders')
}

test.each([
  [undefined, { paused: false, halted: true, flattens: false }],
  ['leave', { paused: false, halted: false, flattens: false }],
  ['cancel', { paused: true, halted: true, flattens: false }],
  ['flatten', { paused: true, halted: true, flattens: true }],
] as const)(
  '[STR1] with onFailure %s the orders of a strategy that fails are %j',
  (policy, expected) => {
    const paused = holding(policy)
    fail(paused, 1, true)
    const halted = holding(policy)
    fail(halted, 10, false)
    const codes = [...halted.book.restrictions.values()].map(({ code }) => code)
    const isCancelled = cancels(halted)
    let closed: unknown[] = []
    if (codes.includes('flatten')) {
      halted.answerCancel(
        halted.grantCancel().cancelId,
        accepted({ successList: [], failureList: [] }),
      )
      halted.pass(6000, { holding: LONG })
      closed = halted.grantBatch().clientOids.map((id) => halted.book.orders.get(id)?.terms)
    }

    expect(paused.halts.size).toBe(0)
    expect({ paused: cancels(paused), halted: isCancelled, flattens: closed.length > 0 }).toEqual(
      expected,
    )
    expect(codes).toContain('strategyFailed')
    if (expected.flattens) expect(closed).toMatchObject([{ action: 'closeLong', lots: 10 }])
  },
)

test('[STR1] a release of a strategy that was flattened by its policy ends the flatten too', () => {
  const bench = holding('flatten')
  fail(bench, 10, false)

  const scope = strategyScope(STRATEGY)
  bench.step({
    kind: 'commanded',
    command: { kind: 'release', scope, reason: 'mended', by: 'anna' },
  })

  expect(bench.halts.size).toBe(0)
})
