import { expect, test } from 'vitest'
import { STOPS } from '../support/stops/stops-plan.ts'
import { UNIVERSE } from '../support/universe/universe-plan.ts'
import { planOfSeed } from '../support/world/plan-of-seed.ts'
import { runWorld } from '../support/world/virtual-world.ts'

/** It is no promise about speed: it ends a campaign that hangs, on the slowest machine too. */
const PATIENCE_MS = 3_600_000
const WORLDS = 20

/** Seeds from 1 on, with what was announced and recorded in them. */
function runWorlds(prefix: string) {
  const seen = new Map<string, number>()
  const count = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1)
  const violations = Array.from({ length: WORLDS }, (_, index) => {
    const plan = planOfSeed(`${prefix}${index + 1}`)
    const report = runWorld(plan, [
      () => ({
        afterStep(_event, effects) {
          for (const effect of effects) if (effect.kind === 'announce') count(effect.event)
        },
      }),
    ])
    return report.violations.map(({ id, detail }) => `${plan.seed} ${id} ${detail}`)
  })
  return { violations: violations.flat(), seen }
}

test(
  '[ORD5] [RSK1] worlds in which rules choose what is traded keep all that is promised of orders',
  { timeout: PATIENCE_MS },
  () => {
    const { violations, seen } = runWorlds(UNIVERSE)

    expect(violations).toEqual([])
    const events = ['universe.changed', 'universe.left', 'universe.handedBack', 'universe.refused']
    for (const event of events) expect(seen.get(event), event).toBeGreaterThan(0)
  },
)

test(
  '[RSK2] worlds in which the exchange keeps a stop know where it stands, also where moves fail',
  { timeout: PATIENCE_MS },
  () => {
    const { violations, seen } = runWorlds(STOPS)

    expect(violations).toEqual([])
    for (const event of ['exit.moved', 'exit.notMoved'])
      expect(seen.get(event), event).toBeGreaterThan(0)
  },
)
