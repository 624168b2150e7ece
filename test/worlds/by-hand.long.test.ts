import { expect, test } from 'vitest'
import { MANUAL } from '../../src/domain/hand-order.ts'
import { HAND } from '../support/hand/hand-plan.ts'
import { planOfSeed } from '../support/world/plan-of-seed.ts'
import { runWorld } from '../support/world/virtual-world.ts'

/** It is no promise about speed: it ends a campaign that hangs, on the slowest machine too. */
const PATIENCE_MS = 3_600_000
const WORLDS = 6

test(
  '[ORD2] [ORD5] [RSK1] [RSK2] [DET1] [DET2] worlds in which a person trades too keep all that is promised of orders',
  { timeout: PATIENCE_MS },
  () => {
    const seen = { sent: 0, closed: 0, withdrawn: 0 }
    const violations = Array.from({ length: WORLDS }, (_, index) => {
      const drawn = planOfSeed(String(index + 1))
      const plan = { ...drawn, hasManual: true, faults: { ...drawn.faults, manualByHand: 1 } }
      const notes = runWorld(plan, [
        () => ({
          onRecord(record) {
            if (record.kind === 'send')
              seen.sent += record.orders.filter(({ strategyId }) => strategyId === MANUAL).length
            if (record.kind === 'restricted' && record.keeps !== undefined) seen.closed += 1
            if (record.kind === 'decision' && record.command !== undefined)
              seen.withdrawn += record.withdrawn?.length ?? 0
          },
        }),
      ]).violations
      return notes.map(({ id, detail }) => `${plan.seed} ${id} ${detail}`)
    })

    expect(violations.flat()).toEqual([])
    expect(seen.sent).toBeGreaterThan(10)
    expect(seen.closed).toBeGreaterThan(1)
    expect(seen.withdrawn).toBeGreaterThan(0)
  },
)

const COMMANDED_WORLDS = 20

test(
  '[RSK2] worlds in which a person commands while figures are unknown sell nothing for it, and say which exits do not stand',
  { timeout: PATIENCE_MS },
  () => {
    const seen = new Map<string, number>()
    const violations = Array.from({ length: COMMANDED_WORLDS }, (_, index) => {
      const plan = planOfSeed(`${HAND}${index + 1}`)
      const { violations: found } = runWorld(plan, [
        () => ({
          afterStep(_event, effects) {
            for (const effect of effects)
              if (effect.kind === 'announce')
                seen.set(effect.event, (seen.get(effect.event) ?? 0) + 1)
          },
        }),
      ])
      return found.map(({ id, detail }) => `${plan.seed} ${id} ${detail}`)
    })

    expect(violations.flat()).toEqual([])
    for (const event of [
      'manual.ordered',
      'exit.notKept',
      'exit.notKeptEnded',
      'deposit.entered',
      'deposit.refused',
      'close.begun',
      'limits.notReleased',
    ])
      expect(seen.get(event), event).toBeGreaterThan(0)
  },
)
