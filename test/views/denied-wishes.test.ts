import { expect, test } from 'vitest'
import { listDenied } from '../../src/views/hindrances.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../engine/engine-bench.ts'

const TOO_LARGE = { side: 'buy', ticks: 99_990, lots: 101 } as const
const SMALL = { ...TOO_LARGE, lots: 100 }

const DENIED = `${SYMBOL}: ${STRATEGY} wants an order that is denied, ORDER_SIZE_LIMIT: the order is larger than risk.orderSizeMax of the strategy (101 lots, limit 100); since when: intentd explain ${SYMBOL}`

const listed = (bench: EngineBench): string[] => [...listDenied(bench)]

test('a wish that is denied is said as long as it is denied at each plan, however long ago it was logged', () => {
  const bench = new EngineBench().start()
  expect(listed(bench)).toEqual([])

  bench.quote(TOO_LARGE)
  expect(listed(bench)).toEqual([DENIED])

  bench.pass(61_000)
  expect(bench.engine.denied.get('ORDER_SIZE_LIMIT')).toBeGreaterThan(1000)
  expect(listed(bench)).toEqual([DENIED])

  bench.quote(SMALL)
  expect(listed(bench)).toEqual([])
})

test('orders of one cause are one line with their number', () => {
  const bench = new EngineBench().start()
  bench.quote(TOO_LARGE, { ...TOO_LARGE, ticks: 99_980 }, { ...SMALL, ticks: 99_970 })

  expect(listed(bench)).toEqual([
    DENIED.replace('an order that is denied', '2 orders that are denied'),
  ])
})

test('what cannot be taken of a decision is said until the next decision', () => {
  const bench = new EngineBench().start()
  const decide = (ticks: number): void => bench.quote({ ...SMALL, ticks })

  decide(0.5)
  bench.pass(1000)
  expect(listed(bench)).toEqual([
    expect.stringContaining(
      `${SYMBOL}: ${STRATEGY} wants an order that is denied, PRICE_PRECISION`,
    ),
  ])

  decide(99_990)
  expect(listed(bench)).toEqual([])
})

test('what a restriction denies is said by its own line alone', () => {
  const bench = new EngineBench().start()
  const by = { by: 'a test', reason: 'by hand' }
  bench.step({
    kind: 'commanded',
    command: { kind: 'restrict', scope: '*', mode: 'halted', ...by },
  })
  bench.quote(SMALL)
  expect([...bench.engine.denied.keys()]).toEqual(['TRADING_HALTED'])

  expect(listed(bench)).toEqual([])
})
