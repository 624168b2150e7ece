import { expect, test } from 'vitest'
import type { Capital } from '../../../src/domain/capital.ts'
import { decimal } from '../../../src/lib/decimal.ts'
import { STRATEGY } from '../engine-bench.ts'
import { manyInstruments, SYMBOLS } from '../many-instruments.ts'

const [FIRST, SECOND] = SYMBOLS

/** Ten lots are worth about 100 of an equity of 1000, on two instruments. */
function wantOnTwo(capital: Capital) {
  const plain = manyInstruments().settings.strategies
  const strategies = new Map(
    [...plain].map(([id, one]) => [id, id === STRATEGY ? { ...one, capital } : one]),
  )
  const bench = manyInstruments({ strategies, capital: decimal('1000') })
  const order = {
    kind: 'place',
    lots: 10,
    action: 'openLong',
    ticks: 99_990,
    force: 'gtc',
  } as const
  bench.decide({ ...order, symbol: FIRST, key: 'a' })
  bench.accept(bench.grantBatch())
  bench.decide({ ...order, symbol: SECOND, key: 'b' })
  return bench
}

test('[RSK1] the capital of a strategy is one for all its instruments', () => {
  const enough = wantOnTwo({ kind: 'share', share: 0.21 })
  expect(enough.engine.denied.get('CAPITAL_LIMIT')).toBeUndefined()
  expect(enough.engine.capitalUse(STRATEGY)?.max).toBeCloseTo(210)

  const less = wantOnTwo({ kind: 'amount', amount: 150 })
  expect(less.engine.denied.get('CAPITAL_LIMIT')).toBe(1)
  expect(less.engine.capitalUse(STRATEGY)?.max).toBe(150)
  expect(less.engine.capitalUse(STRATEGY)?.used).toBeCloseTo(100, 0)
})
