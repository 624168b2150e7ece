import { createRandom } from '../../../src/lib/random.ts'
import { planWorld, type WorldPlan } from '../world/world-plan.ts'

/** Prefix of seeds of worlds with the daemon's own client. */
export const WIRE = 'wire-'

/**
 * An ordinary world in which the daemon's own client calls and reads bytes. Unreadable rows and
 * refusing clocks are more frequent, since they are the client's matter.
 */
export function planWire(seed: string): WorldPlan {
  const plan = planWorld(seed)
  const isOneOf = (name: string, oneIn: number): boolean =>
    createRandom(`${seed}/wire/${name}`).integer(oneIn) === 0
  return {
    ...plan,
    isWired: true,
    faults: {
      ...plan.faults,
      ...(isOneOf('rowsOdd', 3) && { rowsOdd: 0.02 }),
      ...(isOneOf('tickerBroken', 3) && { tickerBroken: 0.01 }),
      ...(isOneOf('checkedElsewhere', 4) && { checkedElsewhere: 0.1 }),
      ...(isOneOf('itemMissing', 4) && { itemMissing: 0.1 }),
    },
  }
}
