import { type RestrictionView } from '../../control/views.ts'
import { MODE_REASONS, type Restriction } from '../../domain/trading-mode.ts'

/** Ends by itself: the daemon measures it. */
const VOLATILE: ReadonlySet<Restriction['code']> = new Set([
  'clockUnsynchronised',
  'diskLow',
  'rateLimited',
  'unknownOrders',
])

export function viewRestriction(restriction: Restriction): RestrictionView {
  const { scope, mode, code, reason, by, at } = restriction
  return { scope, mode, code, reason, by, at, ends: MODE_REASONS[code].ends, command: commandOf(restriction) }
}

/** What an operator types to end it, once the reason is gone. */
function commandOf({ code, scope, by }: Restriction): string | null {
  if (VOLATILE.has(code) || (code === 'flatten' && by === 'intentd')) return null
  if (code === 'kill') return 'intentd release --reason "…"'
  return `intentd release ${scope === '*' ? "'*'" : scope} --reason "…"`
}
