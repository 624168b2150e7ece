import { expect, test } from 'vitest'
import { IS_WHOLE } from '../support/share.ts'
import { type PlantedError, runLeaseWorld } from './lease-world.ts'

const WORLDS = IS_WHOLE ? 200 : 15
/** What is noticed in the fewest worlds is noticed in two of a hundred. */
const PLANTED_WORLDS_MAX = 300
const PLANTED: readonly PlantedError[] = [
  'token not checked',
  'deadline not enforced',
  'taken without a wait',
]

test('[ORD1] [ORD2] of processes that take a lease from each other, only the last one writes and is heard', async () => {
  const sums = { takeovers: 0, acted: 0 }
  for (let seed = 1; seed <= WORLDS; seed++) {
    const { violations, takeovers, acted } = await runLeaseWorld(seed)
    expect([seed, violations]).toEqual([seed, []])
    sums.takeovers += takeovers
    sums.acted += acted
  }
  expect(sums.takeovers).toBeGreaterThan(WORLDS)
  expect(sums.acted).toBeGreaterThan(100 * WORLDS)
})

test.each(PLANTED)('an error that is planted there is noticed: %s', async (error) => {
  const noticed: string[] = []
  for (let seed = 1; seed <= PLANTED_WORLDS_MAX && noticed.length === 0; seed++)
    noticed.push(...(await runLeaseWorld(seed, error)).violations)
  expect(noticed.length).toBeGreaterThan(0)
})
