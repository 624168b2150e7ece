import { type JournalRecord } from '../../../src/domain/record.ts'
import { type Effect, type OutgoingBatch } from '../../../src/engine/effect.ts'
import { type EngineEvent } from '../../../src/engine/event.ts'
import { type RetreatEnd } from '../../../src/interpreter/retreat.ts'

/** Looks at everything that happens; throws nothing. */
export interface ProcessWatcher {
  /** The core has handled an event; nothing of its effects has been performed yet. */
  readonly afterStep?: (event: EngineEvent, effects: readonly Effect[], now: number) => void
  onRecord?(record: JournalRecord, durable: boolean): void
  /** Right before the first byte of a batch. */
  onWrite?(batch: OutgoingBatch, now: number): void
  /** A process has just died (its book can still be looked at), or begun. */
  onDeath?(): void
  onBirth?(): void
  onStopped?(clean: boolean): void
  /** Something was written, sent or done by a run that has no right to it any more. */
  onStray?(what: string): void
  /** The journal cannot be written: nothing is performed any more. */
  onRetreat?(): void
  /** Right before the first byte of a retreat's cancel-all. */
  onRetreatCancel?(body: string): void
  /** What the retreat came to; the death of the process follows. */
  onRetreated?(end: RetreatEnd): void
  onKillState?(state: 'seen' | 'clean' | 'released'): void
}
