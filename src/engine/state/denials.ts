import { type Denial } from '../../domain/denial.ts'
import { announce, type Core, record } from './core.ts'
import { type InstrumentState } from './instrument-state.ts'

/** The same denial of the same strategy is told at most this often; the count says how many came since. */
const DENIAL_LOGGED_EVERY_MS = 60_000
/** A strategy may name a new key in every snapshot: kinds that were told longest ago are forgotten. */
const KINDS_MAX = 1000

/**
 * Counts a kind of denial once a snapshot however often the instrument is looked at. It is written down and told
 * once, then once a minute with the number that came since.
 */
export function logDenials(core: Core, instrument: InstrumentState, denials: readonly Denial[]): void {
  for (const [kind, group] of groupByKind(denials)) {
    const told = instrument.denials.get(kind)
    const [first] = group
    if (first === undefined || told?.snapshot === core.snapshots) continue
    core.denied.set(first.code, (core.denied.get(first.code) ?? 0) + group.length)
    if (told && core.now - told.loggedAt < DENIAL_LOGGED_EVERY_MS) {
      instrument.denials.set(kind, {
        ...told,
        snapshot: core.snapshots,
        unlogged: told.unlogged + group.length,
      })
      continue
    }
    remember(core, instrument, kind)
    tell(core, first, { orders: group.length, unlogged: told?.unlogged ?? 0 })
  }
}

/** Put at the end, so that the map is in the order of the last telling. */
function remember(core: Core, instrument: InstrumentState, kind: string): void {
  instrument.denials.delete(kind)
  instrument.denials.set(kind, { loggedAt: core.now, snapshot: core.snapshots, unlogged: 0 })
  for (const oldest of instrument.denials.keys()) {
    if (instrument.denials.size <= KINDS_MAX) return
    instrument.denials.delete(oldest)
  }
}

function tell(core: Core, denial: Denial, { orders, unlogged }: { orders: number; unlogged: number }): void {
  const { strategyId, symbol, code, detail, key } = denial
  const named = key === undefined ? {} : { key }
  record(core, { kind: 'denial', at: core.now, strategyId, symbol, code, detail, ...named, orders, unlogged })
  announce(core, 'info', 'intent.denied', {
    strategy: strategyId,
    symbol,
    code,
    detail,
    ...named,
    ...(orders > 1 ? { orders } : {}),
    ...(unlogged > 0 ? { sinceLastLogged: unlogged } : {}),
  })
}

/** What a strategy placed by name is a kind of its own: somebody may ask for it by that name. */
function groupByKind(denials: readonly Denial[]): ReadonlyMap<string, Denial[]> {
  return Map.groupBy(denials, ({ strategyId, code, key }) => `${strategyId}|${code}|${key ?? ''}`)
}
