import type { Effect } from '../../engine/effect.ts'
import type { Step } from '../../interpreter/ports.ts'
import { sha256 } from '../../lib/digest.ts'
import { writeValue } from '../../lib/value-text.ts'

export interface StepEffects {
  readonly at: number
  readonly digest: number
  readonly strategyId: string
}

export interface Decision {
  readonly at: number
  readonly strategyId: string
  readonly digest: number
}

const DIGEST_BYTES = 6

/**
 * Compares digests of what was sent, recorded and decided, so that memory grows by a few words a
 * step.
 */
export class EffectLog {
  readonly steps: StepEffects[] = []
  readonly decisions: Decision[] = []

  stepped({ at, event, effects }: Step): void {
    if (event.kind === 'decided') {
      const { strategyId, intents } = event
      this.decisions.push({ at, strategyId, digest: digestOf(intents) })
    }
    const kept = effects.filter(isKept)
    if (kept.length > 0)
      this.steps.push({ at, digest: digestOf(kept), strategyId: strategyOf(event, kept) })
  }
}

/** Effects that log, ask or read are left out. */
function isKept({ kind }: Effect): boolean {
  return (
    kind === 'record' || kind === 'sendBatch' || kind === 'sendCall' || kind === 'sendCancelAll'
  )
}

function strategyOf(event: Step['event'], effects: readonly Effect[]): string {
  if ('strategyId' in event) return event.strategyId
  for (const effect of effects) {
    if (effect.kind === 'record' && effect.record.kind === 'send')
      return effect.record.orders[0]?.strategyId ?? ''
  }
  return ''
}

function digestOf(value: unknown): number {
  return sha256([writeValue(value)]).readUIntBE(0, DIGEST_BYTES)
}

export function firstDifference(
  one: readonly StepEffects[],
  other: readonly StepEffects[],
  beforeAt: number,
): StepEffects | undefined {
  for (let index = 0; ; index++) {
    const [left, right] = [one[index], other[index]].map((step) =>
      step !== undefined && step.at < beforeAt ? step : undefined,
    )
    if (left === undefined && right === undefined) return undefined
    if (left?.at === right?.at && left?.digest === right?.digest) continue
    return [left, right].flatMap((step) => step ?? []).toSorted((a, b) => a.at - b.at)[0]
  }
}

export interface Agreement {
  readonly compared: number
  readonly same: number
  readonly firstAt: number | undefined
  readonly lastAt: number | undefined
}

/** @param gridMs moments within one step of this grid are the same */
export function compareDecisions(
  one: readonly Decision[],
  other: readonly Decision[],
  { fromAt, gridMs }: { readonly fromAt: number; readonly gridMs: number },
): ReadonlyMap<string, Agreement> {
  const keyOf = ({ strategyId, at }: Decision): string => `${strategyId} ${Math.floor(at / gridMs)}`
  const known = new Map(
    one.filter(({ at }) => at >= fromAt).map((decision) => [keyOf(decision), decision.digest]),
  )
  const agreements = new Map<string, Agreement>()
  for (const decision of other) {
    const digest = decision.at >= fromAt ? known.get(keyOf(decision)) : undefined
    if (digest === undefined) continue
    const { strategyId, at } = decision
    const before = agreements.get(strategyId) ?? {
      compared: 0,
      same: 0,
      firstAt: undefined,
      lastAt: undefined,
    }
    const isSame = digest === decision.digest
    agreements.set(strategyId, {
      compared: before.compared + 1,
      same: before.same + (isSame ? 1 : 0),
      firstAt: isSame ? before.firstAt : (before.firstAt ?? at),
      lastAt: isSame ? before.lastAt : at,
    })
  }
  return agreements
}
