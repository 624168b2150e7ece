import { createRandom } from '../../../src/lib/random.ts'
import { planWorld, type WorldPlan } from '../world/world-plan.ts'

/** Seeds of worlds whose calls go through the daemon's own client begin so. */
export const WIRE = 'wire-'

/**
 * An ordinary world in which the daemon's own client makes the calls, and reads the answers as bytes. Rows that nobody can
 * read, and whole clocks that refuse, are more frequent here: what becomes of them is the client's.
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
