import { describe, expect, test } from 'vitest'
import { runWorld } from '../support/virtual-world.ts'
import { planWorld, worldPlanSchema } from '../support/world-plan.ts'

/** A share that ends in seconds on a busy machine; `node test/worlds/run-worlds.ts` runs as many as one likes. */
const WORLDS = 80
const WORLDS_A_TEST = 20

describe('[ORD1..8] [RSK1..3] [MKT1] [DET1] [DET2] in a hostile world nothing is doubled and nothing lost', () => {
  const firsts = Array.from({ length: WORLDS / WORLDS_A_TEST }, (_, index) => 1 + index * WORLDS_A_TEST)

  test.each(firsts)('seeds from %i on', (first) => {
    const failures = Array.from({ length: WORLDS_A_TEST }, (_, index) =>
      runWorld(planWorld(String(first + index))),
    )
      .filter(({ violations }) => violations.length > 0)
      .map(({ seed, violations: [one], faults }) => ({
        again: `node test/worlds/run-worlds.ts --trace ${seed}`,
        violation: one,
        faults: Object.fromEntries(faults),
      }))

    expect(failures).toEqual([])
  })
})

describe('[DET1] a seed is a world', () => {
  test.each(['7', '20', '46'])('seed %s runs twice to the same trace', (seed) => {
    const hashes = [runWorld(planWorld(seed)).traceHash, runWorld(planWorld(seed)).traceHash]

    expect(hashes[1]).toBe(hashes[0])
  })

  test.each(['2', '3', '11'])('seed %s runs by the script of what struck to the same trace', (seed) => {
    const plan = planWorld(seed)
    const byRates = runWorld(plan)

    const byScript = runWorld({ ...plan, script: [...byRates.script] })

    expect(byRates.script.length).toBeGreaterThan(10)
    expect(byScript.traceHash).toBe(byRates.traceHash)
    expect(byScript.script).toEqual(byRates.script)
  })

  test('a plan is plain JSON', () => {
    const plan = planWorld('5')

    expect(worldPlanSchema.parse(JSON.parse(JSON.stringify(plan)))).toEqual(plan)
  })

  test('another seed is another world', () => {
    expect(runWorld(planWorld('7')).traceHash).not.toBe(runWorld(planWorld('8')).traceHash)
  })
})
