import type { ArchivedRecord, JournalRecord, StrategyKey, UsedKey } from '../domain/record.ts'
import { type Failure, messageOf } from '../lib/failure.ts'
import type { BookedRow, Booking, BookingSpan } from './booking.ts'
import type { CurvePoint, CurveQuery } from './curves.ts'
import type { JournalWriter } from './journal-writer.ts'

/** An entry of the book as text. */
export interface BookRow {
  readonly name: string
  readonly key: string
  readonly value: string
}

/** Undefined: removed. */
export type RowChange = Omit<BookRow, 'value'> & { readonly value: string | undefined }

export interface JournalContents {
  /** In the order of a map, up to the last {@link Journal.saveCheckpoint}. */
  readonly checkpoint: readonly BookRow[] | undefined
  readonly records: readonly JournalRecord[]
}

/**
 * Everything that changed the book, in order. What is durable is always a prefix of what was
 * appended.
 */
export interface Journal {
  /** Drawn with the journal; part of every clientOid. */
  readonly salt: string
  load(): JournalContents
  /**
   * Both become durable together.
   * @throws Failure JOURNAL_POISONED once a write has failed: what is on the disk is then unknown
   */
  append(record: JournalRecord, bookings?: readonly Booking[]): void
  /**
   * Calls `done`, before returning or later, when everything appended would survive a power cut;
   * with a reason if that failed, and the run must end. May throw instead.
   */
  commit(done: (failure?: unknown) => void): void
  /** Called at intervals for what nothing waits for. */
  flush(): void
  /**
   * However long ago records used them: the book forgets keys with their orders.
   * @throws Failure JOURNAL_POISONED if the stored keys are not what was written
   */
  usedKeys(keys: readonly StrategyKey[]): readonly UsedKey[]
  /** Including those of earlier runs. */
  readonly recordsSinceCheckpoint: number
  /**
   * Does a bounded part of the next checkpoint: some used keys. @returns whether there was any, so
   * that the checkpoint can wait for a later turn
   */
  prepareCheckpoint(): boolean
  /**
   * Spares a start from reading all records. A changed entry keeps its place; one added again comes
   * last, as in a map.
   */
  saveCheckpoint(changes: Iterable<RowChange>): void
  close(): void
}

/**
 * A kill ordered elsewhere. `asked`: not read yet · `seen`: no order is created any more · `clean`:
 * proved that none of ours rests · `released`: trading goes on.
 */
export type KillAnswer = 'seen' | 'clean' | 'released'

export interface KillOrder {
  /** Counts one account's orders. */
  readonly number: number
  readonly state: KillAnswer | 'asked'
  readonly reason: string
  readonly by: string
}

/** Visible to all readers of the server. */
export interface FleetAlert {
  readonly urgency: string
  readonly event: string
  readonly title: string
  readonly lines: readonly string[]
}

/** JSON. */
export type FleetState = Readonly<Record<string, unknown>>

/** Visible to all readers of the server; nothing waits for it. */
export interface FleetNews {
  /** With the alerts that were not taken yet. */
  news(): { readonly state: FleetState; readonly alerts: readonly FleetAlert[] }
  /** @param trouble why they were not taken */
  onShown(trouble?: string): void
}

/** The right to write, which another machine may take once it has expired. */
export interface WriterLease {
  /** Why nothing may be signed; undefined while both clocks of the machine hold the lease. */
  objection(): string | undefined
  /** Once, when the lease is lost, or a write failed that nothing waited for. */
  onLost(listener: (failure: Failure) => void): void
  /** Called once, at a request for a handover. */
  onHandover(listener: () => void): void
  readonly kill: KillOrder | undefined
  /** Called repeatedly; @returns the progress, or undefined if there is no change */
  onKill(listener: (kill: KillOrder) => KillAnswer | undefined): void
  answerKill(): Promise<void> | void
  /** Shown from now on at each renewal of the lease. */
  show(news: FleetNews): void
  /** Not given back, because this process opens the journal again. */
  keep(): void
  /** Another place held it and did not give it back: it is not known what was cancelled there. */
  readonly isAbandoned: boolean
}

/** Keeps bookings longer than records. */
export interface BookingStore {
  /**
   * The oldest first; proved only when read to the end.
   * @throws Failure JOURNAL_CORRUPT
   */
  bookings(kind: BookedRow['kind'], span?: BookingSpan): Iterable<BookedRow>
  /**
   * Durably, together with the record about it.
   * @throws Failure JOURNAL_POISONED
   */
  dropBookings(record: ArchivedRecord): void
}

export interface CurveStore {
  /**
   * Adds points, which become durable together with what is written next: at the latest with the
   * next {@link Journal.flush}. Points that come after a write has failed are dropped.
   *
   * @param over curves to which no point is added any more: they make room where there is none
   */
  notePoints(points: readonly CurvePoint[], over?: readonly string[]): void
  /**
   * Written ones, the oldest first.
   * @throws Failure JOURNAL_CORRUPT
   */
  curve(query: CurveQuery): Iterable<CurvePoint>
}

export interface WriterStore<Done = void | Promise<void>> {
  readonly writer: JournalWriter | undefined
  /** Durably. */
  noteWriter(writer: JournalWriter): Done
}

/** A journal as a daemon opens it, in a file or on a server. */
export interface OpenedJournal
  extends Omit<Journal, 'close'>, BookingStore, CurveStore, WriterStore {
  /** Absent if a lock of this machine suffices. */
  readonly lease?: WriterLease
  /** The record that was appended last has it; 0: there is none. */
  readonly lastSequence: number
  /** Why nothing can be written now, if that may end by itself. */
  readonly trouble?: string | undefined
  /**
   * Makes everything appended durable, and until then holds what it writes to.
   * @param isWhole false after a breakdown: a successor must wait for requests that may be on their
   * way
   */
  close(isWhole?: boolean): void | Promise<void>
}

/** @throws the reason of a failed commit */
export function untilDurable(journal: Pick<Journal, 'commit'>): Promise<void> {
  return new Promise((resolve, reject) => {
    journal.commit((failure) => {
      if (failure === undefined) resolve()
      else reject(failure instanceof Error ? failure : new Error(messageOf(failure)))
    })
  })
}
