import type { ArchivedRecord, JournalRecord, StrategyKey, UsedKey } from '../domain/record.ts'
import type { Failure } from '../lib/failure.ts'
import type { BookedRow, Booking, BookingSpan } from './booking.ts'
import type { CurvePoint, CurveQuery } from './curves.ts'
import type { JournalWriter } from './journal-writer.ts'

/** An entry of the book as text. */
export interface BookRow {
  readonly name: string
  readonly key: string
  readonly value: string
}

/** An undefined value means that it was removed. */
export type RowChange = Omit<BookRow, 'value'> & { readonly value: string | undefined }

export interface JournalContents {
  /**
   * Rows up to the last {@link Journal.saveCheckpoint}, in the order of a map; undefined without a
   * checkpoint.
   */
  readonly checkpoint: readonly BookRow[] | undefined
  readonly records: readonly JournalRecord[]
}

/**
 * The records of everything that changed the book, in order. What is durable is always a prefix of
 * what was appended.
 */
export interface Journal {
  /** Made once with the journal; part of every clientOid. */
  readonly salt: string
  /** When it was opened. */
  load(): JournalContents
  /**
   * Both become durable together.
   * @throws Failure JOURNAL_POISONED once a write has failed: what is on the disk is then unknown
   */
  append(record: JournalRecord, bookings?: readonly Booking[]): void
  /**
   * Makes everything appended durable, and calls `done` when it would survive a power cut: before
   * this returns, or later. With a reason if that failed: then the run must end. May throw instead.
   */
  commit(done: (failure?: unknown) => void): void
  /** At intervals: records that nothing waits for. */
  flush(): void
  /**
   * The given keys that records have used, however long ago: the book forgets keys with their
   * orders.
   * @throws Failure JOURNAL_POISONED if the stored keys are not what was written
   */
  usedKeys(keys: readonly StrategyKey[]): readonly UsedKey[]
  /** Including those of earlier runs. */
  readonly recordsSinceCheckpoint: number
  /**
   * A bounded part of the next checkpoint: some of the used keys. @returns whether it did any, so
   * that the checkpoint can be left to a later turn
   */
  prepareCheckpoint(): boolean
  /**
   * Brings the rows up to the last appended record, so that a start need not read all. A changed
   * entry keeps its place; one removed and added again comes last, as in a map.
   */
  saveCheckpoint(changes: Iterable<RowChange>): void
  /** Makes everything durable first. */
  close(): void
}

/**
 * A kill ordered elsewhere. `asked`: no writer has read it · `seen`: no order is created any more ·
 * `clean`: proved that none of ours rests · `released`: trading goes on.
 */
export type KillAnswer = 'seen' | 'clean' | 'released'

export interface OrderedKill {
  /** Counts one account's orders. */
  readonly number: number
  readonly state: KillAnswer | 'asked'
  readonly reason: string
  readonly by: string
}

/** As all readers of the server see it. */
export interface FleetAlert {
  readonly urgency: string
  readonly event: string
  readonly title: string
  readonly lines: readonly string[]
}

/** JSON. */
export type FleetState = Readonly<Record<string, unknown>>

/** Shown to all readers of the server; nothing waits for it. */
export interface FleetNews {
  /** With the alerts that were not taken yet. */
  news(): { readonly state: FleetState; readonly alerts: readonly FleetAlert[] }
  /** @param trouble why they were not taken */
  onShown(trouble?: string): void
}

/** The right to write. Another machine may take it once it has expired. */
export interface WriterLease {
  /**
   * Why nothing may be signed any more; undefined while the lease is held by both clocks of the
   * machine.
   */
  objection(): string | undefined
  /** Once, when the lease is lost, or a write failed that nothing waited for. */
  onLost(listener: (failure: Failure) => void): void
  /** Once, when a handover is requested. */
  onHandover(listener: () => void): void
  /** When the journal was opened. */
  readonly kill: OrderedKill | undefined
  /** Called repeatedly; @returns the progress, or undefined if there is no change */
  onKill(listener: (kill: OrderedKill) => KillAnswer | undefined): void
  answerKill(): Promise<void> | void
  /** Shown from now on at each renewal of the lease. */
  show(news: FleetNews): void
  /** The lease is not given back: this process opens the journal again. */
  keep(): void
  /** Another place held it and did not give it back: it is not known what was cancelled there. */
  readonly isAbandoned: boolean
}

/** It stores bookings beyond the records. */
export interface BookingStore {
  /**
   * The oldest first; proved only when read to the end.
   * @throws Failure JOURNAL_CORRUPT
   */
  bookings(kind: BookedRow['kind'], span?: BookingSpan): Iterable<BookedRow>
  /**
   * Archived ones, durably, together with the record about it.
   * @throws Failure JOURNAL_POISONED
   */
  dropBookings(record: ArchivedRecord): void
}

/** A journal that stores curves. */
export interface CurveStore {
  /**
   * Adds points, which become durable together with what is written next: at the latest with the
   * next {@link Journal.flush}. Points that come after a write has failed are dropped.
   *
   * @param over curves to which no point is added any more: they make room where there is none
   */
  notePoints(points: readonly CurvePoint[], over?: readonly string[]): void
  /**
   * The points of a curve that are written, the oldest first.
   * @throws Failure JOURNAL_CORRUPT
   */
  curve(query: CurveQuery): Iterable<CurvePoint>
}

export interface WriterStore<Done = void | Promise<void>> {
  /** When the journal was opened. */
  readonly writer: JournalWriter | undefined
  /** Durably. */
  noteWriter(writer: JournalWriter): Done
}

/** A journal as a daemon opens it, in a file or on a server. */
export interface OpenedJournal
  extends Omit<Journal, 'close'>, BookingStore, CurveStore, WriterStore {
  /** Present if several machines could write it; absent if a lock of this machine suffices. */
  readonly lease?: WriterLease
  /** Why nothing can be written now, if that may end by itself. */
  readonly trouble?: string | undefined
  /**
   * Makes everything appended durable. A slow journal holds what it writes to until then.
   * @param isWhole false after a breakdown: a successor must wait for requests that may be on their
   * way
   */
  close(isWhole?: boolean): void | Promise<void>
}
