import { cleanLine } from '../lib/text/clean-text.ts'
import type { RestrictionView } from '../control/views.ts'
import { ACCOUNT, endsOf, type Restriction, type Scope } from '../domain/trading-mode.ts'

/** After a release, the next measurement would restrict again. */
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

/** Only these wait for `risk.losses.coolDownMs`. */
const COOLED_DOWN: readonly Restriction['code'][] = ['drawdown', 'drawdownFlatten']

export interface RestrictionContext {
  /** Names this configuration in a command: ` -c live.yaml`. */
  readonly configOption: string
  readonly isToClose: (scope: Scope) => boolean
  readonly coolDownMs: number
  /**
   * Unix ms. Before its first event the core knows no time, and what holds then counts from here.
   */
  readonly openedAt?: number | undefined
}

export function viewRestriction(
  restriction: Restriction,
  { configOption, isToClose, coolDownMs, openedAt = 0 }: RestrictionContext,
): RestrictionView {
  const { scope, mode, code } = restriction
  const [reason, by] = [cleanLine(restriction.reason), cleanLine(restriction.by)]
  const at = restriction.at || openedAt
  const command = commandOf(restriction, configOption)
  const isClosing = code === 'flatten' && isToClose(scope)
  const isClosed = code === 'flatten' && !isClosing
  const ends = isClosed ? 'an operator releases it; everything is closed' : endsOf(restriction)
  const releasableAt = COOLED_DOWN.includes(code) && coolDownMs > 0 ? at + coolDownMs : null
  return { scope, mode, code, reason, by, at, ends, command, isClosing, releasableAt }
}

function commandOf(
  { code, scope, by, isVolatile }: Restriction,
  configOption: string,
): string | null {
  // A start refuses this state, so only a repair can end it.
  if (code === 'olderState' && isVolatile !== true)
    return `intentd repair --from-exchange${configOption}`
  if (isVolatile === true || MEASURED.has(code) || (code === 'flatten' && by === 'intentd'))
    return null
  if (code === 'kill') return `intentd release${configOption} --reason "…"`
  return releaseCommand(scope, configOption)
}

function releaseCommand(scope: Scope, configOption: string): string {
  return `intentd release${configOption} ${scope === '*' ? "'*'" : scope} --reason "…"`
}

export function adviseHeld(
  { scope, mode }: Pick<Restriction, 'scope' | 'mode'>,
  configOption: string,
): string {
  const named = scope === ACCOUNT ? 'the whole account' : scope
  return `${named} stays ${mode} until it is released: \`${releaseCommand(scope, configOption)}\``
}
