import type { Denial, DenialCode } from '../../domain/denial.ts'
import { clockUnsynchronised, marketOf } from '../state/market-state.ts'
import { noteDenied } from '../state/changes.ts'
import type { Core } from '../state/core.ts'
import { accountAgeMs } from '../state/readings.ts'

/**
 * Until something recorded changes, a new snapshot comes, or data become too old; independent of
 * other instruments and of time.
 */
const LASTING_CODES: ReadonlySet<DenialCode> = new Set([
  'TRADING_REDUCING',
  'TRADING_HALTED',
  'ENTRY_PAUSED',
  'POSITION_UNEXPLAINED',
  'INSTRUMENT_STATE',
  'DATA_MISSING',
  'DATA_STALE',
  'ACCOUNT_STALE',
  'SIZE_BELOW_MINIMUM',
  'NOTIONAL_BELOW_MINIMUM',
  'ORDER_SIZE_LIMIT',
  'ORDER_NOTIONAL_LIMIT',
  'PRICE_COLLAR',
  'POSITION_LIMIT',
  'POSITION_NOTIONAL_LIMIT',
  'CLOSE_EXCEEDS_POSITION',
])

/** Their basis is kept where these denials last. */
export function noteLastingDenials(
  core: Core,
  symbol: string,
  denials: readonly Pick<Denial, 'code' | 'key'>[],
): void {
  if (
    isHeldForNow(core) ||
    !denials.every(({ code, key }) => LASTING_CODES.has(code) && key === undefined)
  )
    return
  noteDenied(core.changes, symbol, denialBasisOf(core, symbol))
}

/** They would be denied again, so the look can be saved. */
export function isStillDenied(core: Core, symbol: string): boolean {
  const { denied, changed } = core.changes
  const then = denied.get(symbol)
  if (then?.snapshot !== core.market.snapshots || changed.has(symbol) || isHeldForNow(core))
    return false
  const now = denialBasisOf(core, symbol)
  return then.isFresh === now.isFresh && then.isAccountFresh === now.isAccountFresh
}

function denialBasisOf(core: Core, symbol: string) {
  const { dataAgeMaxMs, accountAgeMaxMs } = core.settings.limits
  return {
    snapshot: core.market.snapshots,
    isFresh: marketOf(core, symbol).ageMs <= dataAgeMaxMs,
    isAccountFresh: accountAgeMs(core, symbol) <= accountAgeMaxMs,
  }
}

/** No record restricts trading, and it may end at any time. */
function isHeldForNow(core: Core): boolean {
  const { run, disputes, readings } = core
  return (
    run.spaceLowSince !== undefined ||
    run.beyondLimit.size > 0 ||
    core.names.search !== undefined ||
    core.names.suspected.size > 0 ||
    disputes.reduced.size > 0 ||
    readings.unreadable.size > 0 ||
    clockUnsynchronised(core) !== undefined
  )
}
