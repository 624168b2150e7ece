import { type Denial } from '../domain/denial.ts'
import { announce, type Core } from './core.ts'
import { type Lane } from './lane.ts'

/** The same denial of the same strategy is told at most this often; the count says how many came since. */
const DENIAL_TOLD_EVERY_MS = 60_000

/**
 * Counts a kind of denial once a snapshot however often the lane is looked at, and tells it once, then once
 * a minute with the number that came since.
 */
export function tellDenials(core: Core, lane: Lane, denials: readonly Denial[]): void {
  for (const [key, group] of groupByKind(denials)) {
    const told = lane.denials.get(key)
    const [first] = group
    if (first === undefined || told?.snapshot === core.snapshots) continue
    core.denied.set(first.code, (core.denied.get(first.code) ?? 0) + group.length)
    if (told && core.now - told.toldAt < DENIAL_TOLD_EVERY_MS) {
      lane.denials.set(key, { ...told, snapshot: core.snapshots, untold: told.untold + group.length })
      continue
    }
    lane.denials.set(key, { toldAt: core.now, snapshot: core.snapshots, untold: 0 })
    announce(core, 'info', 'intent.denied', {
      strategy: first.strategyId,
      symbol: first.symbol,
      code: first.code,
      detail: first.detail,
      ...(group.length > 1 ? { orders: group.length } : {}),
      ...(told && told.untold > 0 ? { sinceLastTold: told.untold } : {}),
    })
  }
}

function groupByKind(denials: readonly Denial[]): ReadonlyMap<string, Denial[]> {
  return Map.groupBy(denials, (denial) => `${denial.strategyId}|${denial.code}`)
}
