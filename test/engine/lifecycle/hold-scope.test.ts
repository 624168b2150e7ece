import { describe, expect, test } from 'vitest'
import { rebuildBook } from '../../../src/engine/book/book-rows.ts'
import { createEngine } from '../../../src/engine/engine.ts'
import { type EngineCommand } from '../../../src/engine/event.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../engine-bench.ts'

const BY_ANNA = { reason: 'calm down', by: 'anna' } as const
const BY_BERT = { reason: 'enough', by: 'bert' } as const

function order(
  bench: EngineBench,
  command: EngineCommand,
): readonly (readonly [string, unknown])[] {
  bench.step({ kind: 'commanded', command })
  return bench.take('announce').map(({ event, fields }) => [event, fields])
}

function running(): EngineBench {
  const bench = new EngineBench().start()
  bench.take('announce')
  return bench
}

describe('[RSK2] a scope that is not configured', () => {
  test.each(['BTCUSD', 'strategy:t', 's', 'strategy:', ''])('is not held: %j', (scope) => {
    const bench = running()
    const logged = { scope, scopes: ['*', SYMBOL, `strategy:${STRATEGY}`] }

    expect(order(bench, { kind: 'restrict', scope, mode: 'halted', ...BY_ANNA })).toEqual([
      ['trading.scopeUnknown', logged],
    ])
    expect(order(bench, { kind: 'flatten', scope, ...BY_ANNA })).toEqual([
      ['trading.scopeUnknown', logged],
    ])
    expect([bench.halts.size, bench.recordsOf('restricted')]).toEqual([0, []])
  })

  test.each(['restrict', 'flatten'] as const)('any more is released after a %s', (kind) => {
    const bench = running()
    order(bench, { kind, scope: `strategy:${STRATEGY}`, mode: 'halted', ...BY_ANNA })
    const { records, settings } = bench
    const book = rebuildBook({ checkpoint: undefined, records }, settings.positionMode)
    bench.engine = createEngine({ ...settings, strategies: new Map() }, book)

    const logged = order(bench, { kind: 'release', scope: `strategy:${STRATEGY}`, ...BY_BERT })

    expect(logged).toEqual([['trading.released', { scope: `strategy:${STRATEGY}`, ...BY_BERT }]])
    expect(bench.halts.size).toBe(0)
  })
})

describe('[RSK2] a second restriction of a scope', () => {
  const restrict = { kind: 'restrict', scope: SYMBOL } as const

  test('does not loosen the first: the stricter one stays, and that is logged', () => {
    const bench = running()
    order(bench, { ...restrict, mode: 'halted', ...BY_ANNA })

    const logged = order(bench, { ...restrict, mode: 'reducing', ...BY_BERT })

    const fields = { scope: SYMBOL, mode: 'halted', ordered: 'reducing', by: 'bert' }
    expect(logged).toEqual([['trading.notLoosened', fields]])
    expect([...bench.book.restrictions.values()]).toMatchObject([{ mode: 'halted', ...BY_ANNA }])
  })

  test('tightens it, and a release makes room for a laxer one', () => {
    const bench = running()
    order(bench, { ...restrict, mode: 'reducing', ...BY_ANNA })
    order(bench, { ...restrict, mode: 'halted', ...BY_BERT })
    expect([...bench.book.restrictions.values()]).toMatchObject([{ mode: 'halted', ...BY_BERT }])

    order(bench, { kind: 'release', scope: SYMBOL, ...BY_BERT })
    const logged = order(bench, { ...restrict, mode: 'reducing', ...BY_ANNA })

    expect(logged).toMatchObject([['trading.reducing', { scope: SYMBOL }]])
    expect([...bench.book.restrictions.values()]).toMatchObject([{ mode: 'reducing', ...BY_ANNA }])
  })

  test('of another scope is nothing that it could loosen', () => {
    const bench = running()
    order(bench, { ...restrict, mode: 'halted', ...BY_ANNA })

    order(bench, { ...restrict, scope: '*', mode: 'reducing', ...BY_BERT })

    expect([...bench.book.restrictions.values()].map(({ scope, mode }) => [scope, mode])).toEqual([
      [SYMBOL, 'halted'],
      ['*', 'reducing'],
    ])
  })
})
