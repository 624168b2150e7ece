import { type Effect } from '../../../src/engine/effect.ts'
import { isForeign } from '../virtual/exchange-truth.ts'
import { ReadingsSince } from './readings-since.ts'
import { symbolsNow, type World, type WorldWatcher, violate } from '../world/world.ts'

/** Maximum error of the core's estimate of the exchange's clock. */
const CLOCK_ERROR_MS = 1000

/** While the kill file exists nothing that creates is written; clean means that nothing rests. */
export function watchKill(world: World): WorldWatcher {
  const { facts, exchange } = world
  const readings = new ReadingsSince(world.settings.execution.fillVisibilityMs)
  /** Unix ms, exchange clock: last batch, and last cancel-all of each instrument in this run. */
  let writtenAt = Number.NEGATIVE_INFINITY
  const cancelledAt = new Map<string, number>()
  const checkConfirmed = (): void => {
    const from = writtenAt + world.settings.execution.acceptanceWindowMs - CLOCK_ERROR_MS
    for (const symbol of symbolsNow(world)) {
      const at = cancelledAt.get(symbol)
      if (at === undefined || at < from)
        violate(
          world,
          'RSK3',
          `a kill is called clean, and no late cancel-all of ${symbol} confirmed it`,
        )
    }
  }
  let isClean = false
  const lookForOrders = (): void => {
    if (!isClean) return
    for (const order of exchange.truth.open) {
      const { clientOid, createdAt, symbol } = order
      // The instrument is not traded here.
      if (!symbolsNow(world).includes(symbol)) continue
      // Orders of others are not under our switch.
      if (isForeign(order) && createdAt >= (facts.killedAt ?? 0)) continue
      violate(world, 'RSK3', `${clientOid} rests after a clean kill`)
    }
  }
  return {
    onBirth: () => {
      readings.begin(0)
      cancelledAt.clear()
    },
    afterStep(event, effects, now) {
      readings.note(event, effects, now)
      for (const effect of effects) {
        if (
          effect.kind === 'record' &&
          effect.record.kind === 'restricted' &&
          effect.record.code === 'kill' &&
          !isSeen(effects)
        )
          violate(world, 'RSK2', 'a kill is written down, and no line says that it was seen')
        if (effect.kind === 'sendCancelAll') {
          const { symbol } = JSON.parse(effect.body) as { readonly symbol?: string }
          for (const one of symbol === undefined ? symbolsNow(world) : [symbol]) {
            cancelledAt.set(one, world.time.now)
          }
        }
        if (effect.kind !== 'killState' || effect.state !== 'clean') continue
        const rounds = readings.rounds(symbolsNow(world))
        if (rounds < 2) violate(world, 'RSK3', `a kill is called clean after ${rounds} readings`)
        checkConfirmed()
      }
    },
    onWrite(batch) {
      writtenAt = world.time.now
      if (facts.killedAt !== undefined)
        violate(world, 'RSK2', `batch ${batch.batchId} left after the kill`)
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
