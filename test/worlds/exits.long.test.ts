import { expect, test } from 'vitest'
import { planOfSeed } from '../support/world/plan-of-seed.ts'
import { runWorld } from '../support/world/virtual-world.ts'

/** It is no promise about speed: it ends a campaign that hangs, on the slowest machine too. */
const PATIENCE_MS = 3_600_000
const WORLDS = 14

test(
  '[ORD5] [RSK1] [DET1] worlds in which every strategy has exits keep all that is promised of orders',
  { timeout: PATIENCE_MS },
  () => {
    const kinds = new Set<string>()
    const violations = Array.from({ length: WORLDS }, (_, index) => {
      const plan = { ...planOfSeed(String(index + 1)), hasExits: true }
      const notes = runWorld(plan, [
        () => ({
          onRecord(record) {
            if (record.kind !== 'send') return
            for (const { exit } of record.orders) if (exit !== undefined) kinds.add(exit)
          },
        }),
      ]).violations
      return notes.map(({ id, detail }) => `${plan.seed} ${id} ${detail}`)
    })

    expect(violations.flat()).toEqual([])
    expect(kinds.size).toBeGreaterThan(3)
  },
)
