import { expect, test } from 'vitest'
import { type Intent } from '../../../src/domain/intent.ts'
import { createCore } from '../../../src/engine/state/create-core.ts'
import { noteDenials } from '../../../src/engine/state/denials.ts'
import { mutable } from '../../../src/lib/mutable.ts'
import { EngineBench, SYMBOL } from '../engine-bench.ts'

/** More than the account may have open, under long keys, to wait for hours. */
function waiting(count: number, from = 0): Intent[] {
  return Array.from({ length: count }, (_, index) => ({
    kind: 'place',
    symbol: SYMBOL,
    key: `wait ${from + index}`,
    action: 'openLong',
    lots: 200,
    ticks: 99e3,
    ttlMs: 36e5,
  })) as Intent[]
}

test('[BND2] the text of a denial is made when it is logged, and not when it is only counted', () => {
  const bench = new EngineBench().start()
  const { book, settings } = bench
  const core = createCore(settings, book)
  let texts = 0
  const denial = {
    code: 'PRICE_COLLAR',
    strategyId: 's',
    symbol: SYMBOL,
    detail: () => `text ${++texts}`,
  } as const

  for (let snapshot = 1; snapshot <= 3; snapshot++) {
    mutable(core.market).snapshots = snapshot
    noteDenials(core, SYMBOL, [denial, denial])
  }

  expect(texts).toBe(1)
  expect(core.denials.counts.get('PRICE_COLLAR')).toBe(6)
})

test('a thousand orders that wait by name, and are denied at each look, name twenty of them a minute', () => {
  const bench = new EngineBench().start()
  bench.decide(...waiting(500))
  bench.decide(...waiting(500, 500))

  for (let look = 0; look < 50; look++) {
    bench.now += 1000
    bench.price()
    bench.step({ kind: 'timePassed' })
  }

  const denials = bench.records.filter(({ kind }) => kind === 'denial')
  const named = denials.filter((record) => record.kind === 'denial' && record.key !== undefined)
  expect(named).toHaveLength(20)
  expect(denials.length - named.length).toBe(1)
  const [together] = denials.filter(
    (record) => record.kind === 'denial' && record.key === undefined,
  )
  expect(together).toMatchObject({ code: 'ORDER_SIZE_LIMIT' })
})
