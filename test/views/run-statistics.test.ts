import { expect, test } from 'vitest'
import { RunStatistics } from '../../src/views/run-statistics.ts'
import { EngineBench, STRATEGY, TIMED_OUT } from '../engine/engine-bench.ts'
import { UniverseBench } from '../engine/universe-bench.ts'

const BID = { side: 'buy', ticks: 99_990, lots: 10 } as const

test('an order that its fills had ended before a cancel-all named it is counted as filled', () => {
  const bench = new EngineBench().start()
  const statistics = new RunStatistics()
  statistics.adopt(bench.book)
  let seen = bench.records.length
  const observe = (): void => {
    for (const record of bench.records.slice(seen)) statistics.observe(record, bench.book)
    seen = bench.records.length
  }
  bench.quote(BID)
  const batch = bench.grantBatch()
  observe()
  bench.answer(batch.batchId, TIMED_OUT)
  observe()
  const fills = [bench.fill({ lots: 10, orderId: '7001' as never })]
  bench.pass(10_500, { fills, holding: { longLots: 10, shortLots: 0 } })
  observe()
  const listed = batch.clientOids.map((clientOid) => ({ clientOid, orderId: '7001' }))
  bench.answerCancel(bench.grantCancel().cancelId, {
    kind: 'accepted',
    data: { successList: listed, failureList: [] },
    receivedAt: 0,
  })
  observe()
  bench.pass(3_000, { fills, holding: { longLots: 10, shortLots: 0 } })
  observe()

  expect(bench.states()).toEqual(['filled'])
  expect([...statistics.ended]).toEqual([['filled', 1]])
})

test('instruments that join and leave a universe are counted for its strategy', () => {
  const bench = new UniverseBench().start()
  const statistics = new RunStatistics()
  bench.volumes.set('CUSDT', 9000)
  bench.nextHour()
  for (const record of bench.records) statistics.observe(record, bench.book)

  expect([...statistics.universes]).toEqual([[STRATEGY, { joined: 3, left: 1 }]])
})
