import { type Book } from '../../../src/engine/book/book.ts'
import { type Effect } from '../../../src/engine/effect.ts'
import { type EngineEvent } from '../../../src/engine/event.ts'
import { STATE_UNRECORDED_MS_MAX } from '../../../src/engine/strategies/take-decision.ts'

type Decided = Extract<EngineEvent, { kind: 'decided' }>

interface HeardDecision {
  readonly event: Decided
  readonly effects: readonly Effect[]
  readonly now: number
}

/**
 * A strategy's state is in the book with its wishes, otherwise within a time. No state waits longer
 * after a step of time, and none once a stop has begun.
 */
export class StrategyMemory {
  readonly #waiting = new Map<
    Decided['strategyId'],
    { readonly text: string; readonly since: number }
  >()

  clear(): void {
    this.#waiting.clear()
  }

  hear(book: Book, { event, effects, now }: HeardDecision): string | undefined {
    const { strategyId } = event
    const text = JSON.stringify(event.state)
    if (book.strategyStates.get(strategyId) === text) {
      this.#waiting.delete(strategyId)
      return undefined
    }
    if (effects.some((effect) => isWanted(effect, strategyId)))
      return 'its wishes are recorded without its state'
    this.#waiting.set(strategyId, { text, since: this.#waiting.get(strategyId)?.since ?? now })
    return undefined
  }

  /** Strategies whose state has waited longer. */
  findLate(book: Book, now: number, waitMsMax = STATE_UNRECORDED_MS_MAX): string | undefined {
    for (const [strategyId, { text, since }] of this.#waiting) {
      if (book.strategyStates.get(strategyId) === text) this.#waiting.delete(strategyId)
      else if (now - since >= waitMsMax) return strategyId
    }
    return undefined
  }
}

function isWanted(effect: Effect, strategyId: string): boolean {
  if (effect.kind !== 'record') return false
  const { record } = effect
  if (record.kind === 'expire') return record.reason.startsWith('withdrawn')
  if (record.kind !== 'decision' || record.strategyId !== strategyId) return false
  const { quotes, targets, places, calls, withdrawn } = record
  return [quotes, targets, places, calls, withdrawn].some((wishes) => wishes !== undefined)
}
