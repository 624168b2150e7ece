import { isAccountCall } from '../domain/account-call.ts'
import type { Intent } from '../domain/intent.ts'
import type { StrategyKey } from '../domain/record.ts'
import { type Book, pairKey } from '../engine/book/book.ts'
import type { EngineEvent } from '../engine/event.ts'
import type { JournalPort } from './ports.ts'

/**
 * Adds to a decision which of its keys were used before. The book forgets a key together with its order, the journal
 * does not. The core itself opens nothing, so the journal is asked before the step, and the event carries the answer.
 */
export function withUsedKeys(
  event: EngineEvent,
  book: Book,
  journal: Pick<JournalPort, 'usedKeys'>,
): EngineEvent {
  if (event.kind !== 'decided' || event.usedKeys !== undefined) return event
  const { strategyId, intents } = event
  if (!intents.some(hasKey)) return event
  const unknown = intents
    .flatMap((intent) => keyOf(intent, strategyId) ?? [])
    .filter((key) => !holds(book, key))
  if (unknown.length === 0) return event
  const usedKeys = journal.usedKeys(unknown)
  return usedKeys.length === 0 ? event : { ...event, usedKeys }
}

function hasKey(intent: Intent): boolean {
  return intent.kind === 'place' || isAccountCall(intent)
}

function keyOf(intent: Intent, strategyId: string): StrategyKey | undefined {
  if (isAccountCall(intent)) return { purpose: 'call', strategyId, key: intent.key }
  return intent.kind === 'place' ? { purpose: 'place', strategyId, key: intent.key } : undefined
}

function holds(book: Book, { purpose, strategyId, key }: StrategyKey): boolean {
  return (purpose === 'call' ? book.callKeys : book.keys).has(pairKey(strategyId, key))
}
