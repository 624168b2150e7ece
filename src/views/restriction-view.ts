import type { RestrictionView } from '../control/views.ts'
import { MODE_REASONS, type Restriction, type Scope } from '../domain/trading-mode.ts'

/**
 * Ends by itself: the daemon measures it. Released while the account still has another setting than the configuration,
 * the next readings would restrict it again.
 */
const MEASURED: ReadonlySet<Restriction['code']> = new Set([
  'clockUnsynchronised',
  'diskLow',
  'equityDisputed',
  'rateLimited',
  'unknownOrders',
  'positionMode',
  'marginMode',
  'leverage',
  'maintenance',
])

/**
 * @param configOption What a command needs to address this daemon's configuration: ` -c live.yaml`.
 * @param isToClose Whether strategies hold something in the scope, or something rests there.
 */
export function viewRestriction(
  restriction: Restriction,
  configOption: string,
  isToClose: (scope: Scope) => boolean,
): RestrictionView {
  const { scope, mode, code, reason, by, at } = restriction
  const command = commandOf(restriction, configOption)
  const isClosing = code === 'flatten' && isToClose(scope)
  const isClosed = code === 'flatten' && !isClosing
  const ends = isClosed ? 'an operator releases it; everything is closed' : MODE_REASONS[code].ends
  return { scope, mode, code, reason, by, at, ends, command, isClosing }
}

/** What an operator types to end it, once the reason is gone. */
function commandOf(
  { code, scope, by, isVolatile }: Restriction,
  configOption: string,
): string | null {
  // A start refuses it before anybody could release it: the repair ends it.
  if (code === 'olderState' && isVolatile !== true)
    return `intentd repair --from-exchange${configOption}`
  if (isVolatile === true || MEASURED.has(code) || (code === 'flatten' && by === 'intentd'))
    return null
  if (code === 'kill') return `intentd release${configOption} --reason "…"`
  return `intentd release${configOption} ${scope === '*' ? "'*'" : scope} --reason "…"`
}
