import { type Effect } from '../../src/engine/effect.ts'
import { type EngineEvent } from '../../src/engine/event.ts'
import { isForeign } from './exchange-truth.ts'
import { type World, type WorldWatcher, violate } from './world.ts'

/** What was read of the account since a cancel-all was last answered; times are ours, Unix ms. */
class ReadingsSince {
  #answeredAt = 0
  #fills = 0
  readonly #positions = new Map<string, number>()

  forget(): void {
    this.#answeredAt = 0
    this.#fills = 0
    this.#positions.clear()
  }

  note(event: EngineEvent, now: number): void {
    if (event.kind === 'cancelAnswered') {
      this.forget()
      this.#answeredAt = now
    } else if (event.kind === 'fillsRead' && event.reading.requestedAt >= this.#answeredAt) {
      this.#fills += 1
    } else if (event.kind === 'positionRead' && event.reading.requestedAt >= this.#answeredAt) {
      const { symbol } = event.reading
      this.#positions.set(symbol, (this.#positions.get(symbol) ?? 0) + 1)
    }
  }

  /** How often everything was read. */
  rounds(symbols: readonly string[]): number {
    return Math.min(this.#fills, ...symbols.map((symbol) => this.#positions.get(symbol) ?? 0))
  }
}

/** From the moment the kill file is there nothing that creates is written; clean means that nothing rests. */
export function watchKill(world: World): WorldWatcher {
  const { facts, exchange } = world
  const readings = new ReadingsSince()
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
    onBirth: () => readings.forget(),
    afterStep(event, effects, now) {
      readings.note(event, now)
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
