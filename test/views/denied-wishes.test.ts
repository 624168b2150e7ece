import { expect, test } from 'vitest'
import { listDenied } from '../../src/views/hindrances.ts'
import { toOrderId } from '../../src/domain/ids.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../engine/engine-bench.ts'
import { OTHER, TradedAccount, twoStrategies } from '../engine/traded-account.ts'

const TOO_LARGE = { side: 'buy', ticks: 99_990, lots: 101 } as const
const SMALL = { ...TOO_LARGE, lots: 100 }

const DENIED = `${SYMBOL}: ${STRATEGY} wants an order that is denied, ORDER_SIZE_LIMIT: the order is larger than risk.orderSizeMax of the strategy (0.101, limit 0.1); since when: intentd explain ${SYMBOL}`

const listed = (bench: EngineBench): string[] => [...listDenied(bench, bench.now)]

/** Prices go on, and no reading is answered. */
function passUnread(bench: EngineBench, ms: number): void {
  for (const endAt = bench.now + ms; bench.now < endAt;) {
    bench.now += 50
    bench.price()
    bench.step({ kind: 'timePassed' })
  }
}

/** Two strategies were opposed, and one wants to close what only a reading confirms. */
function unconfirmedClose(): TradedAccount {
  const account = new TradedAccount(twoStrategies())
  account.reach(STRATEGY, 10)
  account.bench.decideAs(OTHER, { kind: 'target', symbol: SYMBOL, lots: -10 })
  const batch = account.bench.grantBatch()
  account.bench.accept(batch)
  account.trade('sell', 10, { orderId: toOrderId(`${batch.batchId}001`) })
  account.bench.decide({ kind: 'target', symbol: SYMBOL, lots: 0 })
  return account
}

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

test('what the next reading may end is said once it has stood for five seconds', () => {
  const { bench } = unconfirmedClose()
  expect(bench.engine.standingDenials()).toMatchObject([{ code: 'POSITION_UNEXPLAINED' }])
  expect(listed(bench)).toEqual([])

  passUnread(bench, 4900)
  expect(listed(bench)).toEqual([])

  passUnread(bench, 100)
  expect(listed(bench)).toEqual([
    expect.stringContaining(
      `${SYMBOL}: ${STRATEGY} wants an order that is denied, POSITION_UNEXPLAINED`,
    ),
  ])
})

test('what the next reading has ended begins anew when it comes back', () => {
  const account = unconfirmedClose()
  const { bench } = account
  passUnread(bench, 4900)
  account.look()
  expect(bench.engine.standingDenials()).toEqual([])
  account.fillNext()

  bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
  const batch = bench.grantBatch()
  bench.accept(batch)
  account.trade('buy', 10, { orderId: toOrderId(`${batch.batchId}001`) })
  bench.decide({ kind: 'target', symbol: SYMBOL, lots: 0 })
  expect(bench.engine.standingDenials()).toHaveLength(1)
  passUnread(bench, 4900)

  expect(listed(bench)).toEqual([])
})

interface Sold {
  readonly everyMs: number
  readonly ttlMs: number
}

/** There is nothing to close, and each order has a key of its own. */
function sellUnheld(bench: EngineBench, { everyMs, ttlMs }: Sold): number {
  bench.decide({
    kind: 'place',
    symbol: SYMBOL,
    key: `sell-${bench.now}`,
    action: 'closeLong',
    lots: 5,
    ticks: 100_010,
    ttlMs,
  })
  const shown = listed(bench).length
  bench.pass(everyMs)
  return shown
}

function listTimes(bench: EngineBench, times: number, sold: Sold): number[] {
  return Array.from({ length: times }, () => sellUnheld(bench, sold))
}

test.each<Sold & { readonly name: string }>([
  { name: 'that overlap', everyMs: 1000, ttlMs: 2000 },
  { name: 'with breaks of seconds', everyMs: 3000, ttlMs: 1000 },
])(
  'orders $name are denied since the first of them, although each has a new key',
  ({ everyMs, ttlMs }) => {
    const bench = new EngineBench().start()
    const times = Math.ceil(5000 / everyMs)

    expect(listTimes(bench, times, { everyMs, ttlMs })).not.toContain(1)
    expect(bench.engine.denied.get('CLOSE_EXCEEDS_POSITION')).toBeGreaterThan(0)
    expect(listTimes(bench, 5, { everyMs, ttlMs })).not.toContain(0)
  },
)

test('orders that are denied now and then, minutes apart, are not denied for minutes', () => {
  const bench = new EngineBench().start()

  expect(listTimes(bench, 4, { everyMs: 60_000, ttlMs: 1000 })).toEqual([0, 0, 0, 0])
})

test('an order that was approved meanwhile ends what was denied before', () => {
  const bench = new EngineBench().start()
  const sold = { everyMs: 3000, ttlMs: 1000 }
  listTimes(bench, 3, sold)

  bench.quote(SMALL)
  bench.accept(bench.grantBatch())

  expect(listTimes(bench, 1, sold)).toEqual([0])
})

test('a clock that was set back hides no denial', () => {
  const { bench } = unconfirmedClose()
  passUnread(bench, 5000)

  expect([...listDenied(bench, bench.now - 3_600_000)]).toHaveLength(1)
})
