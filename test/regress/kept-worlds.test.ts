import { describe, expect, test } from 'vitest'
import { runWorldLater } from '../support/world/virtual-world.ts'
import { loadKeptWorlds } from '../worlds/kept-world.ts'

const KEPT = [...loadKeptWorlds()].map(([name, world]) => ({ name, ...world }))

describe('a world that failed once holds', () => {
  test.each(KEPT)('[$invariant] $name: $what', async ({ plan }) => {
    expect((await runWorldLater(plan)).violations).toEqual([])
  })
})
