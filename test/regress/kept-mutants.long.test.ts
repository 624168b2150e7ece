import { describe, expect, test } from 'vitest'
import { loadKeptWorlds } from '../worlds/kept-world.ts'
import { LEASE_MUTANTS } from '../worlds/lease-mutants.ts'
import { failsWith } from '../worlds/mutant-campaign.ts'
import { MUTANTS } from '../worlds/mutants.ts'

/** Each takes a thread of its own, 0.6 s. */
const KEPT_FOR_MUTANTS = [...loadKeptWorlds()]
  .map(([name, world]) => ({ name, ...world }))
  .filter(({ mutant }) => mutant !== undefined)

describe('a kept world fails with the error that it was kept for', () => {
  test.each(KEPT_FOR_MUTANTS)('$mutant: $name', async (world) => {
    const mutant = [...MUTANTS, ...LEASE_MUTANTS].find(({ name }) => name === world.mutant)
    if (!mutant) throw new Error('no such mutant')

    expect(await failsWith(mutant, world)).toBe(true)
  })
})
