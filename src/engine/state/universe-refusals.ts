import type { StrategyId } from '../../domain/ids.ts'
import { own } from '../../lib/own.ts'
import type { Core } from './core.ts'

/** An evaluation that was not carried out, since most of the exchange's list was missing. */
export interface UniverseRefusal {
  /** Exchange clock: of the first one in a row, and of the last. */
  readonly since: number
  readonly at: number
  /** Instruments of the evaluation before, and how many of them the answer lacks. */
  readonly known: number
  readonly missing: number
}

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
    const since = new Date(refusal.since).toISOString().slice(0, 16)
    return `most of the list: ${refusal.missing} of ${refusal.known} instruments are missing from what the exchange answers, since ${since}Z`
  }
  const isKnown = core.market.contracts !== undefined || core.book.universes.has(id)
  return isKnown ? undefined : 'the contracts of the exchange'
}
