import { violate, type World, type WorldWatcher } from '../world/world.ts'

/** After an outage everything that it has left is found out within so long, ms, once reads may be made again. */
const HEALED_MS = 18_000
/** A resolution that waits on after an outage has as long as any other before it halts its instrument, ms. */
const PATIENCE_MS = 60_000

/** Looks that are farther apart say nothing of the time between them. */
const STOOD_STILL_MS = 5000

/**
 * Silence of the exchange contradicts nothing (ORD4): no instrument is halted because calls had no answer, and what they
 * left unknown is found out soon after they have answers again. What is silent, and for how long, the network says.
 */
export function watchOutages(world: World): WorldWatcher {
  /** The instruments that have been resolved ever since the outage ended. */
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
      // Hours of quiet, or of standing still, say nothing of what was left before them.
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
    // The next process begins anew, and is looked at after the next outage.
    onDeath: pass,
  }
}
