import { expect, test } from 'vitest'
import { type Snapshot } from '../../../src/domain/snapshot.ts'
import { type StrategySettings } from '../../../src/engine/settings.ts'
import { SnapshotView } from '../../../src/strategy/snapshot-view.ts'
import { madeInstrument } from '../../support/market-moment.ts'
import { EngineBench, STRATEGY } from '../engine-bench.ts'

const FEED = 'longShortRatio?symbol=BTCUSDT'

/** A core whose strategy calls the feed `ratio`. */
function openBench(): EngineBench {
  const { settings } = new EngineBench()
  const strategies = [...settings.strategies].map(
    ([id, strategy]): [typeof id, StrategySettings] => [
      id,
      { ...strategy, feeds: new Map([['ratio', FEED]]) },
    ],
  )
  return new EngineBench({ strategies: new Map(strategies) }).start()
}

function nextSnapshot(bench: EngineBench): Snapshot {
  bench.take('decide')
  bench.price()
  const [decide] = bench.take('decide')
  if (decide?.strategyId !== STRATEGY) throw new Error('nobody was asked to decide')
  return decide.snapshot
}

function viewOf(bench: EngineBench): SnapshotView {
  const view = new SnapshotView([madeInstrument()])
  view.pointAt(nextSnapshot(bench))
  return view
}

function read(bench: EngineBench, data: unknown): void {
  bench.step({ kind: 'feedRead', feed: FEED, reading: { data, readAt: bench.now } })
}

test('a strategy sees a feed by its own name, with the age of the last reading', () => {
  const bench = openBench()
  expect(viewOf(bench).feed('ratio')).toBeUndefined()

  read(bench, { ratio: '0.9' })
  bench.now += 750
  expect(viewOf(bench).feed('ratio')).toEqual({ data: { ratio: '0.9' }, ageMs: 750 })
  expect(viewOf(bench).feed(FEED)).toBeUndefined()
  expect(viewOf(bench).feed('other')).toBeUndefined()
})

test('a read that fails is logged, leaves the last reading with its age, and others trade on', () => {
  const bench = openBench()
  read(bench, 'first')
  bench.now += 500
  bench.step({ kind: 'readFailed', what: `feed ${FEED}`, reason: 'unknown (timeout)' })
  bench.quote({ side: 'buy', ticks: 99_990, lots: 10 })

  expect(bench.take('announce').at(-1)).toBeDefined()
  expect(viewOf(bench).feed('ratio')).toEqual({ data: 'first', ageMs: 500 })
  expect(bench.grantBatch().clientOids).toHaveLength(1)
})

test('a reading neither is recorded nor makes anybody decide', () => {
  const bench = openBench()
  bench.effects = []
  read(bench, 'news')

  expect(bench.effects).toEqual([])
})
