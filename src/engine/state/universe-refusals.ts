import { showUtc } from '../../lib/text/show-utc.ts'
import type { StrategyId } from '../../domain/ids.ts'
import type { UniverseRefusal } from '../../domain/universe.ts'
import { own } from '../../lib/own.ts'
import type { Core } from './core.ts'

export function noteRefusal(core: Core, id: StrategyId, refusal: UniverseRefusal): void {
  own(core.universeRefusals).set(id, refusal)
}

export function endRefusal(core: Core, id: StrategyId): void {
  if (core.universeRefusals.has(id)) own(core.universeRefusals).delete(id)
}

/** In words; undefined: it is evaluated when due. */
export function whyNotEvaluated(core: Core, id: StrategyId): string | undefined {
  const refusal = core.universeRefusals.get(id)
  if (refusal) {
    return `most of the list: ${refusal.missing} of ${refusal.known} instruments are missing from what the exchange answers, since ${showUtc(refusal.since)}`
  }
  const isKnown = core.market.contracts !== undefined || core.book.universes.has(id)
  return isKnown ? undefined : 'the contracts of the exchange'
}
