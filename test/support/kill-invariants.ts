import { type Effect } from '../../src/engine/effect.ts'
import { isForeign } from './exchange-truth.ts'
import { ReadingsSince } from './readings-since.ts'
import { type World, type WorldWatcher, violate } from './world.ts'

/** From the moment the kill file is there nothing that creates is written; clean means that nothing rests. */
export function watchKill(world: World): WorldWatcher {
  const { facts, exchange } = world
  const readings = new ReadingsSince(world.settings.execution.fillVisibilityMs)
  let isClean = false
  const lookForOrders = (): void => {
    if (!isClean) return
    for (const order of exchange.truth.open) {
      const { clientOid, createdAt } = order
      // What others place meanwhile is theirs, and not under our switch.
      if (isForeign(order) && createdAt >= (facts.killedAt ?? 0)) continue
      violate(world, 'RSK3', `${clientOid} rests after a clean kill`)
    }
  }
  return {
    onBirth: () => readings.begin(0),
    afterStep(event, effects, now) {
      readings.note(event, effects, now)
      for (const effect of effects) {
        if (
          effect.kind === 'record' &&
          effect.record.kind === 'kill' &&
          effect.record.isOn &&
          !isSeen(effects)
        )
          violate(world, 'RSK2', 'a kill is written down, and nobody is told that it was seen')
        if (effect.kind !== 'killState' || effect.state !== 'clean') continue
        const rounds = readings.rounds(world.plan.symbols)
        if (rounds < 2) violate(world, 'RSK3', `a kill is called clean after ${rounds} readings`)
      }
    },
    onWrite(batch) {
      if (facts.killedAt !== undefined) violate(world, 'RSK2', `batch ${batch.batchId} left after the kill`)
    },
    onKillState(state) {
      lookForOrders()
      isClean = state === 'clean'
      lookForOrders()
    },
    onDeath: lookForOrders,
  }
}

function isSeen(effects: readonly Effect[]): boolean {
  return effects.some((effect) => effect.kind === 'killState' && effect.state === 'seen')
}
