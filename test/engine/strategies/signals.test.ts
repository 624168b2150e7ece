import { expect, test } from 'vitest'
import type { Snapshot } from '../../../src/domain/snapshot.ts'
import { createEngine } from '../../../src/engine/engine.ts'
import { fromBookRows, rebuildBook, toBookRows } from '../../../src/engine/book/book-rows.ts'
import { parseCore, writeCore } from '../../../src/engine/replay/core-image.ts'
import type { DecideOn } from '../../../src/strategy/needs.ts'
import type { StrategySettings } from '../../../src/engine/settings.ts'
import { SnapshotView } from '../../../src/strategy/snapshot-view.ts'
import { madeInstrument } from '../../support/market-moment.ts'
import { EngineBench } from '../engine-bench.ts'

const FEED = 'signal:tv'
const TERMS = new Map([[FEED, { maxAgeMs: 60_000, idsKeptMs: 10_000 }]])

/** A core whose strategy reads the signal `tv`. */
function openBench(decides?: readonly DecideOn[]): EngineBench {
  const { settings } = new EngineBench()
  const strategies = [...settings.strategies].map(
    ([id, strategy]): [typeof id, StrategySettings] => [
      id,
      { ...strategy, feeds: new Map([['tv', FEED]]), ...(decides && { decides }) },
    ],
  )
  return new EngineBench({ strategies: new Map(strategies), signals: TERMS }).start()
}

function send(bench: EngineBench, id: string, action = 'long'): void {
  bench.step({ kind: 'signalTaken', feed: FEED, id, value: { action } })
}

function viewOf(snapshot: Snapshot | undefined): SnapshotView {
  if (snapshot === undefined) throw new Error('nobody was asked to decide')
  const view = new SnapshotView([madeInstrument()])
  view.pointAt(snapshot)
  return view
}

/** What the strategy is shown with the next prices. */
function nextView(bench: EngineBench): SnapshotView {
  bench.take('decide')
  bench.price()
  return viewOf(bench.take('decide')[0]?.snapshot)
}

test('a strategy is asked at once, and sees the signal with its age until it expires', () => {
  const bench = openBench()
  bench.take('decide')
  send(bench, 'a')
  const [asked] = bench.take('decide')
  expect(viewOf(asked?.snapshot).signal('tv')).toEqual({
    value: { action: 'long' },
    id: 'a',
    at: bench.now,
    ageMs: 0,
  })

  bench.now += 750
  expect(nextView(bench).signal('tv')?.ageMs).toBe(750)
  expect(nextView(bench).feed('tv')).toBeUndefined()
  expect(nextView(bench).signal('other')).toBeUndefined()
  bench.now += 59_250
  expect(nextView(bench).signal('tv')).toBeUndefined()
})

test('only a strategy that decides on signals, or on every snapshot, is asked at once', () => {
  const asked = (decides: readonly DecideOn[]): number => {
    const bench = openBench(decides)
    bench.price()
    bench.quote({ side: 'buy', ticks: 99_000, lots: 1 })
    bench.take('decide')
    send(bench, 'a')
    return bench.take('decide').length
  }
  expect(asked(['signal'])).toBe(1)
  expect(asked(['snapshot'])).toBe(1)
  expect(asked(['fill'])).toBe(0)
})

test('a signal is durable before it is announced, and the same one is not taken twice', () => {
  const bench = openBench()
  bench.effects.length = 0
  send(bench, 'a')
  const kinds = bench.effects.map(({ kind }) => kind)
  expect(kinds.slice(0, 2)).toEqual(['record', 'announce'])
  expect(bench.take('record')).toMatchObject([{ durable: true, record: { kind: 'signal' } }])

  bench.now += 9_000
  send(bench, 'a', 'short')
  expect(bench.take('record')).toEqual([])
  expect(bench.take('announce').at(-1)).toMatchObject({ event: 'signal.repeated' })
  expect(nextView(bench).signal('tv')?.value).toEqual({ action: 'long' })

  bench.now += 1_001
  send(bench, 'a', 'short')
  expect(nextView(bench).signal('tv')?.value).toEqual({ action: 'short' })
  expect([...bench.book.signalIds.keys()]).toEqual([`${FEED}|a`])
})

test('[DET2] a restart has the signal and its id, from records and from a checkpoint', () => {
  const bench = openBench()
  send(bench, 'a')
  const { positionMode } = bench.settings
  const rebuilt = rebuildBook({ checkpoint: undefined, records: bench.records }, positionMode)
  const restored = fromBookRows(toBookRows(bench.book))
  for (const book of [rebuilt, restored]) {
    expect(toBookRows(book)).toEqual(toBookRows(bench.book))
    const engine = createEngine(bench.settings, book)
    engine.step({ kind: 'started' }, bench.now)
    const effects = engine.step(
      { kind: 'signalTaken', feed: FEED, id: 'a', value: { action: 'short' } },
      bench.now + 5,
    )
    expect(effects).toMatchObject([{ event: 'signal.repeated' }])
    expect(Object.isFrozen(book.signals.get(FEED)?.data)).toBe(true)
  }
})

test('a signal that the configuration does not take changes nothing', () => {
  const bench = new EngineBench().start()
  bench.effects.length = 0
  send(bench, 'a')
  expect(bench.effects).toEqual([])
})

test('[DET1] a core that was written down goes on alike with its signals', () => {
  const bench = openBench()
  send(bench, 'a')
  const text = bench.engine.write()
  expect(writeCore(parseCore(text))).toBe(text)
})

test('the signal sent last counts, in whatever order they come, also after a restart', () => {
  const bench = openBench()
  const sendAt = (id: string, sentAt: number, action: string): string | undefined => {
    bench.step({ kind: 'signalTaken', feed: FEED, id, value: { action }, sentAt })
    return bench.take('announce').at(-1)?.event
  }
  const shown = () => bench.book.signals.get(FEED)?.data
  expect(sendAt('a', 1000, 'long')).toBe('signal.taken')
  expect(sendAt('b', 5000, 'flat')).toBe('signal.taken')
  expect(sendAt('c', 900, 'short')).toBe('signal.outdated')
  expect(shown()).toEqual({ action: 'flat' })
  bench.now += 120_000
  bench.restart().start()
  expect(sendAt('c', 900, 'short')).toBe('signal.outdated')
  expect(sendAt('d', 5000, 'short')).toBe('signal.taken')
  expect(shown()).toEqual({ action: 'short' })
})
