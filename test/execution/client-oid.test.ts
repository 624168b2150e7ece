import { describe, expect, test } from 'vitest'
import { deriveClientOid } from '../../src/execution/batch.ts'

const DECISION = { salt: 'salt', strategyId: 'grid', key: 'bar:1700000000:entry:0', generation: 0 }

describe('[ORD2] a clientOid', () => {
  test('is the same for the same decision, for ever', () => {
    expect(deriveClientOid(DECISION)).toBe('tpql5dt5uqxj37himg6sy44rsrh-0')
  })

  test('has no more than 32 characters, all of them safe, up to a million generations', () => {
    for (const generation of [0, 35, 36, 1_000_000]) {
      expect(deriveClientOid({ ...DECISION, generation })).toMatch(/^[0-9a-z-]{1,32}$/)
    }
  })

  test('differs by salt, strategy, key and generation', () => {
    const ids = [
      DECISION,
      { ...DECISION, salt: 'other' },
      { ...DECISION, strategyId: 'gri', key: `d${DECISION.key}` },
      { ...DECISION, key: 'bar:1700000000:entry:1' },
      { ...DECISION, generation: 1 },
    ].map(deriveClientOid)

    expect(new Set(ids).size).toBe(ids.length)
  })
})
