import { type JournalRecord } from '../../../src/domain/record.ts'
import { type Effect, type OutgoingBatch } from '../../../src/engine/effect.ts'
import { type EngineEvent } from '../../../src/engine/event.ts'
import { type RetreatEnd } from '../../../src/interpreter/retreat.ts'

/** Watches everything that happens; must not throw. */
export interface ProcessWatcher {
  /** The core has handled an event; none of its effects has been performed. */
  readonly afterStep?: (event: EngineEvent, effects: readonly Effect[], now: number) => void
  onRecord?(record: JournalRecord, durable: boolean): void
  /** Right before the first byte of a batch. */
  onWrite?(batch: OutgoingBatch, now: number): void
  /** A process has died (its book is still readable), or begun. */
  onDeath?(): void
  onBirth?(): void
  onStopped?(clean: boolean): void
  /** A run without the right has written, sent or executed something. */
  onStray?(what: string): void
  /** The journal cannot be written: nothing more is performed. */
  onRetreat?(): void
  /** Right before the first byte of a retreat's cancel-all. */
  onRetreatCancel?(body: string): void
  /** Result of the retreat; the death of the process follows. */
  onRetreated?(end: RetreatEnd): void
  onKillState?(state: 'seen' | 'clean' | 'released'): void
}
