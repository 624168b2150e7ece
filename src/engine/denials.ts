import { type Denial } from '../domain/denial.ts'
import { announce, type Core } from './core.ts'
import { type Lane } from './lane.ts'

/** The same denial of the same strategy is told at most this often; the count says how many came since. */
const DENIAL_TOLD_EVERY_MS = 60_000

/** Tells each kind of denial once, then once a minute with their number. */
export function tellDenials(core: Core, lane: Lane, denials: readonly Denial[]): void {
  for (const denial of denials) {
    core.denied.set(denial.code, (core.denied.get(denial.code) ?? 0) + 1)
    const key = `${denial.strategyId}|${denial.code}`
    const told = lane.denials.get(key)
    if (told && core.now - told.toldAt < DENIAL_TOLD_EVERY_MS) {
      told.untold += 1
      continue
    }
    lane.denials.set(key, { toldAt: core.now, untold: 0 })
    announce(core, 'info', 'intent.denied', {
      strategy: denial.strategyId,
      symbol: denial.symbol,
      code: denial.code,
      detail: denial.detail,
      ...(told && told.untold > 0 ? { alsoSinceLast: told.untold } : {}),
    })
  }
}
