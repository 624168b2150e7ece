import { expect, test } from 'vitest'
import { planOfSeed } from '../support/world/plan-of-seed.ts'
import { runWorld } from '../support/world/virtual-world.ts'

/** It is no promise about speed: it ends a campaign that hangs, on the slowest machine too. */
const PATIENCE_MS = 3_600_000
const WORLDS = 16

test(
  '[ORD2] [RSK2] [ORD5] an older copy of the journal trades nothing once it is proved, and is repaired from the exchange',
  { timeout: PATIENCE_MS },
  () => {
    let proved = 0
    const violations = Array.from({ length: WORLDS }, (_, index) => {
      const seed = `copies-${index + 1}`
      const notes = runWorld(planOfSeed(seed), [
        ({ facts }) => ({ atEnd: () => void (proved += facts.copy?.isRepaired ? 1 : 0) }),
      ]).violations
      return notes.map(({ id, detail }) => `${seed} ${id} ${detail}`)
    })

    expect(violations.flat()).toEqual([])
    expect(proved).toBeGreaterThan(2)
  },
)
