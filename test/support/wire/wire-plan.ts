import { planWorld, type WorldPlan } from '../world/world-plan.ts'

/** Seeds of worlds whose calls go through the daemon's own client begin so. */
export const WIRE = 'wire-'

/** An ordinary world in which the daemon's own client makes the calls, and reads the answers as bytes. */
export function planWire(seed: string): WorldPlan {
  return { ...planWorld(seed), isWired: true }
}
