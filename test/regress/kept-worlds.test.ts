import { describe, expect, test } from 'vitest'
import { runWorld } from '../support/world/virtual-world.ts'
import { loadKeptWorlds } from '../worlds/kept-world.ts'
import { failsWith } from '../worlds/mutant-campaign.ts'
import { MUTANTS } from '../worlds/mutants.ts'

const KEPT = [...loadKeptWorlds()].map(([name, world]) => ({ name, ...world }))

/** A thread for each would take longer than all the worlds: `npm run fuzz -- --mutants` tries every one. */
const MUTANTS_TRIED = [
  'timeout-is-failure',
  'send-before-record',
  'no-acceptance-deadline',
  'failure-list-ignored',
  'replay-off-by-one',
]

describe('a world that failed once holds', () => {
  test.each(KEPT)('[$invariant] $name: $what', ({ plan }) => {
    expect(runWorld(plan).violations).toEqual([])
  })
})

describe('a kept world fails with the error that it was kept for', () => {
  test.each(MUTANTS_TRIED)('%s', { timeout: 60_000 }, async (name) => {
    const mutant = MUTANTS.find((one) => one.name === name)
    const kept = KEPT.find((world) => world.mutant === name)
    if (!mutant || !kept) throw new Error('no such mutant, or no world is kept for it')
    const { name: _, ...world } = kept

    expect(await failsWith(mutant, world)).toBe(true)
  })

  test('and is kept for a mutant that there is', () => {
    const names = new Set(MUTANTS.map(({ name }) => name))

    expect(KEPT.filter(({ mutant }) => mutant !== undefined && !names.has(mutant))).toEqual([])
  })
})
