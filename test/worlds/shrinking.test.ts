import { describe, expect, test } from 'vitest'
import { minimise } from '../support/world/minimise.ts'
import { shrinkWorld } from '../support/world/shrink-world.ts'
import { type FaultKind } from '../support/faults/virtual-faults.ts'
import { runWorld } from '../support/world/virtual-world.ts'
import { violate, type World, type WorldWatcher } from '../support/world/world.ts'
import { planWorld, type WorldPlan } from '../support/world/world-plan.ts'

describe('a smallest list that still fails', () => {
  test('is what the failure needs, wherever it stands', () => {
    const items = Array.from({ length: 100 }, (_, index) => index)

    const kept = minimise(
      items,
      (list) => list.includes(3) && list.includes(71) && list.includes(98),
    )

    expect(kept).toEqual([3, 71, 98])
  })

  test('is empty where nothing is needed', () => {
    expect(minimise([1, 2, 3], () => true)).toEqual([])
  })

  test('is the whole list where everything is', () => {
    expect(minimise([1, 2, 3], (list) => list.length === 3)).toEqual([1, 2, 3])
  })
})

/** Shrinking runs a hundred worlds: an end for a busy machine, not a promise. */
const PATIENCE = { timeout: 240_000 }

describe('a world that fails is shrunk', PATIENCE, () => {
  test('to the two faults that it takes, and to nothing else', () => {
    const plan = planWith({
      answerLost: 0.1,
      requestLate: 0.1,
      itemMissing: 0.1,
      serverErrorAfter: 0.05,
    })

    const shrunk = shrinkWorld({
      plan,
      extra: [failOnBoth('answerLost', 'itemMissing')],
      runsMax: 300,
    })

    const faults = shrunk?.plan.script?.map(({ fault }) => fault).toSorted()
    expect(shrunk?.violation.id).toBe('PLANTED')
    expect(shrunk?.isMinimal).toBe(true)
    expect(faults).toEqual(['answerLost', 'itemMissing'])
    expect(shrunk?.plan.strategies.length).toBe(1)
    expect(shrunk?.plan.faultyMs).toBeLessThan(plan.faultyMs)
  })

  test('to a plan that needs each of its faults', () => {
    const plan = planWith({ answerLost: 0.1, rateLimited: 0.1 })
    const extra = [failOnBoth('answerLost', 'rateLimited')]
    const shrunk = shrinkWorld({ plan, extra, runsMax: 300 })
    const script = shrunk?.plan.script ?? []

    const verdicts = script.map((_, index) => {
      const without = { ...planOf(shrunk?.plan), script: script.toSpliced(index, 1) }
      return runWorld(without, extra).violations.length
    })

    expect(script.length).toBeGreaterThan(0)
    expect(verdicts).toEqual(script.map(() => 0))
  })

  test('not at all where it does not fail', () => {
    expect(shrinkWorld({ plan: planWith({}) })).toBeUndefined()
  })

  test('no further than the runs that are given for it', () => {
    const plan = planWith({ answerLost: 0.1, itemMissing: 0.1 })

    const shrunk = shrinkWorld({
      plan,
      extra: [failOnBoth('answerLost', 'itemMissing')],
      runsMax: 5,
    })

    expect(shrunk?.runs).toBe(5)
    expect(shrunk?.isMinimal).toBe(false)
  })
})

/** A busy world with faults of these kinds alone. */
function planWith(faults: WorldPlan['faults']): WorldPlan {
  return {
    ...planWorld('10'),
    faults,
    strategies: [
      { id: 's0', kind: 'ladder', size: 4, symbols: ['BTCUSDT'] },
      { id: 's1', kind: 'targeter', size: 3, symbols: ['BTCUSDT'] },
    ],
    symbols: ['BTCUSDT'],
    faultyMs: 10_000,
  }
}

function planOf(plan: WorldPlan | undefined): WorldPlan {
  if (!plan) throw new Error('the world was not shrunk')
  return plan
}

/** A checker that does not hold once both kinds of fault have struck. */
function failOnBoth(one: FaultKind, other: FaultKind): (world: World) => WorldWatcher {
  return (world) => ({
    afterStep() {
      const counts = world.faults.counts()
      if (counts.has(one) && counts.has(other)) violate(world, 'PLANTED', `${one} and ${other}`)
    },
  })
}
