import { type RestrictionView } from '../../control/views.ts'
import { MODE_REASONS, type Restriction } from '../../domain/trading-mode.ts'

/** Ends by itself: the daemon measures it. */
const VOLATILE: ReadonlySet<Restriction['code']> = new Set([
  'clockUnsynchronised',
  'diskLow',
  'rateLimited',
  'unknownOrders',
])

/** @param configOption What a command needs to address this daemon's configuration: ` -c live.yaml`. */
export function viewRestriction(restriction: Restriction, configOption: string): RestrictionView {
  const { scope, mode, code, reason, by, at } = restriction
  const command = commandOf(restriction, configOption)
  return { scope, mode, code, reason, by, at, ends: MODE_REASONS[code].ends, command }
}

/** What an operator types to end it, once the reason is gone. */
function commandOf({ code, scope, by }: Restriction, configOption: string): string | null {
  if (VOLATILE.has(code) || (code === 'flatten' && by === 'intentd')) return null
  if (code === 'kill') return `intentd release${configOption} --reason "…"`
  return `intentd release${configOption} ${scope === '*' ? "'*'" : scope} --reason "…"`
}
