import { type Core } from '../state/core.ts'

/** Time passes several times a second while the process runs: after so long a silence it has stood still, ms. */
const SLEPT_MS = 5000

/**
 * The process has stood still, on a machine that slept or was paused: what is waited for with patience has not
 * been waited for meanwhile. `now`: Unix ms, our clock, of the event that comes next.
 */
export function excuseSleep(core: Core, now: number): void {
  const sleptMs = now - core.now
  if (core.now === 0 || sleptMs < SLEPT_MS) return
  for (const { resolution } of core.instruments.values()) if (resolution) resolution.patientUntil += sleptMs
  if (core.stop) core.stop.startedAt += sleptMs
  if (!core.kill) return
  core.kill.patientUntil += sleptMs
  if (core.kill.stopAskedAt !== undefined) core.kill.stopAskedAt += sleptMs
}
