import { describe, expect, test } from 'vitest'
import { runWorldLater } from '../support/world/virtual-world.ts'
import { loadKeptWorlds } from '../worlds/kept-world.ts'
import { failsWith } from '../worlds/mutant-campaign.ts'
import { shareOf } from '../support/share.ts'
import { LEASE_MUTANTS } from '../worlds/lease-mutants.ts'
import { MUTANTS } from '../worlds/mutants.ts'

const KEPT = [...loadKeptWorlds()].map(([name, world]) => ({ name, ...world }))

/** Those that are kept for a planted error: each takes a thread of its own, 0.6 s. */
const KEPT_FOR_MUTANTS = shareOf(
  KEPT.filter(({ mutant }) => mutant !== undefined),
  6,
)

describe('a world that failed once holds', () => {
  test.each(KEPT)('[$invariant] $name: $what', async ({ plan }) => {
    expect((await runWorldLater(plan)).violations).toEqual([])
  })
})

describe('a kept world fails with the error that it was kept for', () => {
  test.each(KEPT_FOR_MUTANTS)('$mutant: $name', async (world) => {
    const mutant = [...MUTANTS, ...LEASE_MUTANTS].find(({ name }) => name === world.mutant)
    if (!mutant) throw new Error('no such mutant')

    expect(await failsWith(mutant, world)).toBe(true)
  })
})
