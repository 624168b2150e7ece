import { describe, expect, test } from 'vitest'
import { runWorld } from '../support/world/virtual-world.ts'
import { planWorld } from '../support/world/world-plan.ts'

/** Enough that the wrong reading of the window shows in several of them. */
const SEEDS = Array.from({ length: 60 }, (_, index) => `w${index + 1}`)

function runTrusting(idempotency: 'replay' | 'duplicateError' | 'pendingOnly') {
  return SEEDS.map((seed) => {
    const plan = planWorld(seed)
    return runWorld({ ...plan, retryMode: 'window', core: { ...plan.core, idempotency } })
  })
}

describe('[ORD2] [ORD5] copies that trust the idempotency window', { timeout: 300_000 }, () => {
  test.each(['replay', 'duplicateError'] as const)('hold where the exchange answers by %s', (reading) => {
    expect(runTrusting(reading).flatMap(({ violations }) => violations)).toEqual([])
  })

  test('are doubled where it remembers pending orders only, and the checkers see it', () => {
    const violating = runTrusting('pendingOnly').filter(({ violations }) => violations.length > 0)

    expect(violating.length).toBeGreaterThan(2)
  })
})
