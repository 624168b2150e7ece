import { describe, expect, test } from 'vitest'
import { runWorld, runWorldLater } from '../support/world/virtual-world.ts'
import { MONEY } from '../support/money/money-plan.ts'
import { MONTHS } from '../support/months/months-plan.ts'
import { TAKEOVERS } from '../support/takeovers/takeovers-plan.ts'
import { WIRE } from '../support/wire/wire-plan.ts'
import { shareOf } from '../support/share.ts'
import { planOfSeed } from '../support/world/plan-of-seed.ts'
import { planWorld, worldPlanSchema } from '../support/world/world-plan.ts'
import { runCampaign, seedAt } from './campaign.ts'
import { expectWorldsHold } from './worlds-hold.ts'

/** It is no promise about speed: it ends a campaign that hangs, on the slowest machine too. */
const PATIENCE_MS = 3_600_000

/** Twenty of the worlds that `worlds.long.test.ts` runs: some of each kind. */
const KINDS = [
  { prefix: '', worlds: 14 },
  { prefix: MONTHS, worlds: 1 },
  { prefix: TAKEOVERS, worlds: 2 },
  { prefix: MONEY, worlds: 1 },
  { prefix: WIRE, worlds: 2 },
] as const

describe('[ORD1..8] [RSK1..3] [MKT1] [DET1] [DET2] in a hostile world nothing is doubled and nothing lost', () => {
  test.each(KINDS)('in $worlds worlds $prefix', { timeout: PATIENCE_MS }, async (kind) => {
    await expectWorldsHold(kind)
  })
})

describe('a campaign', () => {
  test('counts its seeds up, or numbers them', () => {
    expect([seedAt('41', 0), seedAt('41', 1)]).toEqual(['41', '42'])
    expect([seedAt('months-9', 0), seedAt('months-9', 1)]).toEqual(['months-9', 'months-10'])
    expect([seedAt('money-9', 0), seedAt('money-9', 1)]).toEqual(['money-9', 'money-10'])
    expect([seedAt('wire-9', 0), seedAt('wire-9', 1)]).toEqual(['wire-9', 'wire-10'])
    expect([seedAt('night', 0), seedAt('night', 1)]).toEqual(['night-0', 'night-1'])
  })

  test('comes to the same on one thread and on two', { timeout: PATIENCE_MS }, async () => {
    const [one, two] = [
      await runCampaign({ worlds: 7, firstSeed: '70', workers: 1, worldsATask: 5 }),
      await runCampaign({ worlds: 7, firstSeed: '70', workers: 2, worldsATask: 5 }),
    ]

    expect(two).toEqual(one)
  })

  test('ends early when it is told to, with what it has', { timeout: PATIENCE_MS }, async () => {
    const stop = new AbortController()

    const summary = await runCampaign({
      worlds: 10_000,
      firstSeed: '1',
      workers: 1,
      worldsATask: 5,
      signal: stop.signal,
      onProgress: () => stop.abort(),
    })

    expect(summary.worlds).toBe(5)
  })
})

describe('[DET1] a seed is a world', () => {
  test.each(shareOf(['7', '20', '46', 'months-3', 'takeovers-4'], 2))(
    'seed %s runs twice to the same trace',
    (seed) => {
      const hashes = [runWorld(planOfSeed(seed)).traceHash, runWorld(planOfSeed(seed)).traceHash]

      expect(hashes[1]).toBe(hashes[0])
    },
  )

  test.each(shareOf(['wire-3', 'wire-5'], 2))(
    'seed %s runs twice, and by its script, to the same trace',
    async (seed) => {
      const plan = planOfSeed(seed)
      const first = await runWorldLater(plan)

      const [again, byScript] = [
        await runWorldLater(plan),
        await runWorldLater({ ...plan, script: [...first.script] }),
      ]

      expect(first.orders).toBeGreaterThan(5)
      expect([again.traceHash, byScript.traceHash]).toEqual([first.traceHash, first.traceHash])
    },
  )

  test('a world of the wire says that it cannot run after an await', async () => {
    await Promise.resolve()

    expect(() => runWorld(planOfSeed('wire-3'))).toThrow(/WORLD_IN_A_MICROTASK/)
  })

  test.each(shareOf(['3', '6', 'money-4', '9', 'takeovers-4', 'months-3'], 2))(
    'seed %s runs by the script of what struck to the same trace',
    (seed) => {
      const plan = planOfSeed(seed)
      const byRates = runWorld(plan)

      const byScript = runWorld({ ...plan, script: [...byRates.script] })

      expect(byRates.script.length).toBeGreaterThan(10)
      expect(byScript.traceHash).toBe(byRates.traceHash)
      expect(byScript.script).toEqual(byRates.script)
    },
  )

  test.each(['5', 'months-5', 'takeovers-5', 'money-5', 'wire-5'])(
    'the plan of seed %s is plain JSON',
    (seed) => {
      const plan = planOfSeed(seed)

      expect(worldPlanSchema.parse(JSON.parse(JSON.stringify(plan)))).toEqual(plan)
    },
  )

  test('another seed is another world', () => {
    expect(runWorld(planWorld('7')).traceHash).not.toBe(runWorld(planWorld('8')).traceHash)
  })
})
