import { describe, expect, test } from 'vitest'
import { type QuoteLevel } from '../../../src/domain/intent.ts'
import { applyLadderChange, buildLadderChange } from '../../../src/engine/book/apply-record.ts'
import { createRandom } from '../../../src/lib/random.ts'

const buy = (ticks: number, lots = 1): QuoteLevel => ({ side: 'buy', ticks, lots })

describe('[DET2] a ladder that changed', () => {
  test('is recorded by the places of the levels that it keeps, and by the new ones', () => {
    const before = [buy(9), buy(8), buy(7)]

    expect(buildLadderChange('A', before, [buy(8), buy(6), buy(9)])).toEqual({
      symbol: 'A',
      rungs: [1, buy(6), 0],
    })
  })

  test('is recorded whole where it keeps none, or where a level has another size', () => {
    expect(buildLadderChange('A', [buy(9)], [buy(9, 2)])).toEqual({
      symbol: 'A',
      levels: [buy(9, 2)],
    })
    expect(buildLadderChange('A', [buy(9)], [])).toEqual({ symbol: 'A', levels: [] })
  })

  test('is the one that was wanted, whatever stood before', () => {
    const random = createRandom('ladders')
    let [standing, kept]: [readonly QuoteLevel[], number] = [[], 0]
    for (let round = 0; round < 200; round++) {
      const places = Array.from({ length: random.integer(9) }, () => random.integer(12))
      const wanted = [...new Set(places)].map((ticks) => buy(ticks, 1 + random.integer(2)))
      const change = JSON.parse(JSON.stringify(buildLadderChange('A', standing, wanted)))
      if ('rungs' in change) kept += 1
      standing = applyLadderChange(standing, change)
      expect(standing).toEqual(wanted)
    }
    expect(kept).toBeGreaterThan(50)
  })

  test('has no level for a place that the ladder before did not have', () => {
    expect(applyLadderChange([buy(9)], { symbol: 'A', rungs: [0, 1, buy(7)] })).toEqual([
      buy(9),
      buy(7),
    ])
  })
})
