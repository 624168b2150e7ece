import { describe, expect, test } from 'vitest'
import { type Intent } from '../../../src/domain/intent.ts'
import { parseCore } from '../../../src/engine/replay/core-image.ts'
import {
  newestStates,
  STATE_UNRECORDED_MS_MAX,
} from '../../../src/engine/strategies/take-decision.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../engine-bench.ts'

const PLACE: Intent = {
  kind: 'place',
  symbol: SYMBOL,
  key: 'a',
  action: 'openLong',
  lots: 5,
  ttlMs: 60_000,
}
const CANCEL: Intent = { kind: 'cancelAll', symbol: SYMBOL }

function recorded(bench: EngineBench): string | undefined {
  return bench.book.strategyStates.get(STRATEGY)
}

describe('[DET2] what a strategy remembers is recorded', () => {
  test('with what it wants, at once', () => {
    const bench = new EngineBench().start()
    bench.remember(1)
    bench.remember(2, PLACE)

    expect(bench.recordsOf('decision')).toMatchObject([{ stateText: '2', places: [{ key: 'a' }] }])
  })

  test('with the cancel-all that drops what waited, at once', () => {
    const bench = new EngineBench().start()
    bench.remember(1, PLACE)
    bench.remember(2, CANCEL)

    expect([bench.book.places.size, recorded(bench)]).toEqual([0, '2'])
  })

  test('otherwise when it has differed for ten seconds, and once for all that it was meanwhile', () => {
    const bench = new EngineBench().start()
    bench.remember(1)
    for (let waited = 50; waited < STATE_UNRECORDED_MS_MAX; waited += 50) {
      bench.pass(50)
      bench.remember(`after ${waited}`)
    }
    expect(recorded(bench)).toBeUndefined()

    bench.pass(50)

    expect(bench.recordsOf('decision').map(({ stateText }) => stateText)).toEqual(['"after 9950"'])
  })

  test('not at all where it is what it was', () => {
    const bench = new EngineBench().start()
    bench.remember(1, PLACE)
    bench.remember(2)
    bench.remember(1)
    bench.pass(STATE_UNRECORDED_MS_MAX)

    expect(bench.recordsOf('decision')).toHaveLength(1)
  })

  test('never where no other run reads the journal, and no wish is lost', () => {
    const bench = new EngineBench({ forgetsStates: true }).start()
    bench.remember(1, PLACE)
    bench.remember(2)
    bench.pass(STATE_UNRECORDED_MS_MAX)
    bench.step({ kind: 'commanded', command: { kind: 'stop', policy: 'leave' } })

    expect([recorded(bench), ...bench.recordsOf('decision')]).toMatchObject([
      undefined,
      { places: [{ key: 'a' }] },
    ])
  })

  test('before a stop in good order goes on', () => {
    const bench = new EngineBench().start()
    bench.remember(1)
    bench.step({ kind: 'commanded', command: { kind: 'stop', policy: 'leave' } })

    expect(recorded(bench)).toBe('1')
  })

  test('in the image of a core, with what is not recorded yet', () => {
    const bench = new EngineBench().start()
    bench.remember(1, PLACE)
    bench.remember(2)

    const core = parseCore(bench.engine.write())

    expect([recorded(bench), newestStates(core).get(STRATEGY)]).toEqual(['1', '2'])
  })
})
