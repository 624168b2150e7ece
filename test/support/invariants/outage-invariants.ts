import { violate, type World, type WorldWatcher } from '../world/world.ts'

/**
 * After an outage everything that it left is resolved within this time, once reads are possible.
 */
const HEALED_MS = 18_000
/** A resolution after an outage has as long as any other before it halts its instrument. */
const PATIENCE_MS = 60_000

/** Looks farther apart say nothing of the time between them. */
const STOOD_STILL_MS = 5000

/**
 * Silence contradicts nothing (ORD4): unanswered calls halt no instrument, and what they left
 * unknown is resolved soon after answers return. The network says what is silent, and for how long.
 */
export function watchOutages(world: World): WorldWatcher {
  /** Instruments under resolution since the outage ended. */
  let left: Set<string> | undefined
  let judged = 0
  let lookedAt = 0
  const pass = (): void => {
    left = undefined
    judged = world.network.outages.until
  }
  return {
    onRecord(record) {
      const { outages } = world.network
      if (record.kind !== 'restricted' || world.time.now >= outages.until + PATIENCE_MS) return
      if (/no end of|nobody knows what became of orders/.test(record.reason))
        violate(world, 'ORD4', `${record.scope} is halted for an outage: ${record.reason}`)
    },
    afterStep(event) {
      const { outages } = world.network
      const { engine } = world.process
      const isStill = world.time.now - lookedAt > STOOD_STILL_MS
      lookedAt = world.time.now
      // Hours of quiet or standstill say nothing about earlier remains.
      if (!outages.isOn && (world.quiet.isOn || isStill)) return pass()
      if (event.kind !== 'timePassed' || outages.until === judged || outages.isOn || !engine) return
      const resolving = world.plan.symbols.filter((symbol) => engine.instrument(symbol)?.resolution)
      left ??= new Set(resolving)
      for (const symbol of left) if (!resolving.includes(symbol)) left.delete(symbol)
      const healedMs = HEALED_MS + outages.restsMs
      if (world.time.now < outages.until + healedMs) return
      judged = outages.until
      const [symbol] = left
      left = undefined
      if (symbol !== undefined)
        violate(world, 'ORD4', `${symbol} is still resolved ${healedMs} ms after an outage`)
    },
    // The next process is judged after the next outage.
    onDeath: pass,
  }
}
