import type { ArchivedRecord, JournalRecord, StrategyKey, UsedKey } from '../domain/record.ts'
import type { Failure } from '../lib/failure.ts'
import type { BookedRow, Booking, BookingSpan } from './booking.ts'
import type { CurvePoint, CurveQuery } from './curves.ts'
import type { JournalWriter } from './journal-writer.ts'

/** One entry of the book as text: its collection, its key there, and its value as JSON. */
export interface BookRow {
  readonly name: string
  readonly key: string
  readonly value: string
}

/** An entry that was added or changed; an undefined value means that it was removed. */
export type RowChange = Omit<BookRow, 'value'> & { readonly value: string | undefined }

/** The contents of a journal when it is opened: the last checkpoint, and every record after it. */
export interface JournalContents {
  /**
   * The rows of the book after all changes up to the last {@link Journal.saveCheckpoint}, those of a collection in the
   * order of a map; undefined in a journal without a checkpoint.
   */
  readonly checkpoint: readonly BookRow[] | undefined
  readonly records: readonly JournalRecord[]
}

/**
 * The records of everything that changed the book, in order. What is durable is always a prefix of what was appended: a
 * record becomes durable together with all records before it.
 */
export interface Journal {
  /** Made once with the journal; part of every clientOid. */
  readonly salt: string
  /** The contents of the journal when it was opened. */
  load(): JournalContents
  /**
   * Appends a record and what it books; both become durable together.
   * @throws Failure JOURNAL_POISONED once a write has failed: what is on the disk is then unknown.
   */
  append(record: JournalRecord, bookings?: readonly Booking[]): void
  /**
   * Makes everything appended durable, and calls `done` when it would survive a power cut: before
   * this returns, or later. If that failed, `done` gets the reason, and the run must end. May throw
   * instead.
   */
  commit(done: (failure?: unknown) => void): void
  /** Called at intervals: makes records durable that nothing waits for. */
  flush(): void
  /**
   * The given keys that records have used, however long ago. The book forgets keys with their
   * orders.
   * @throws Failure JOURNAL_POISONED if the stored keys are not what was written
   */
  usedKeys(keys: readonly StrategyKey[]): readonly UsedKey[]
  /** How many records there are after the last checkpoint, including those of earlier runs. */
  readonly recordsSinceCheckpoint: number
  /**
   * Does a bounded part of the next checkpoint in advance: stores some of the keys that records
   * have used. Returns whether it did, so that the checkpoint itself can be left to a later turn.
   */
  prepareCheckpoint(): boolean
  /**
   * Brings the rows of the book up to the last appended record, so that a start need not read all records. A changed
   * entry keeps its place; one that was removed and added again comes last, as in a map.
   */
  saveCheckpoint(changes: Iterable<RowChange>): void
  /** Makes everything appended durable, and closes the journal. */
  close(): void
}

/**
 * Progress of a kill that was ordered elsewhere: `asked`: no writer has read it · `seen`: no order
 * is created any more · `clean`: proved that no order of ours rests · `released`: trading goes on.
 */
export type KillAnswer = 'seen' | 'clean' | 'released'

/** A kill that was ordered on the server, for the journal's writer. */
export interface OrderedKill {
  /** Counts the orders of one account. */
  readonly number: number
  readonly state: KillAnswer | 'asked'
  readonly reason: string
  readonly by: string
}

/** An alert, as all readers of the journal's server see it. */
export interface FleetAlert {
  readonly urgency: string
  readonly event: string
  readonly title: string
  readonly lines: readonly string[]
}

/** The state of a member of the fleet, as JSON. */
export type FleetState = Readonly<Record<string, unknown>>

/** The state that an account shows to all readers of the server; nothing waits for it. */
export interface FleetNews {
  /** The current state, and alerts that were not taken yet. */
  news(): { readonly state: FleetState; readonly alerts: readonly FleetAlert[] }
  /** @param trouble Why they were not taken; undefined: they were. */
  onShown(trouble?: string): void
}

/** The right to write a journal. Another machine may take it once it has expired. */
export interface WriterLease {
  /**
   * Why nothing may be signed any more; undefined while the lease is held by both clocks of the
   * machine.
   */
  objection(): string | undefined
  /** Calls the listener once when the lease is lost, or a write failed that nothing waited for. */
  onLost(listener: (failure: Failure) => void): void
  /** Calls the listener once when a handover is requested. */
  onHandover(listener: () => void): void
  /** The last kill order when the journal was opened; undefined if there was none. */
  readonly kill: OrderedKill | undefined
  /**
   * Calls the listener with the kill order repeatedly; it returns the progress, or undefined
   * if there is no change.
   */
  onKill(listener: (kill: OrderedKill) => KillAnswer | undefined): void
  /** Writes the progress of the kill at once. */
  answerKill(): Promise<void> | void
  /** From now on this is shown on the server at each renewal of the lease. */
  show(news: FleetNews): void
  /** The lease is not given back at the end: this process opens the journal again. */
  keep(): void
  /**
   * Whether another place held it before without giving it back: it is not known what was cancelled
   * there.
   */
  readonly isAbandoned: boolean
}

/** A journal that stores bookings beyond the records. */
export interface BookingStore {
  /**
   * Bookings of one kind, the oldest first. They are proved only when read to the end.
   * @throws Failure JOURNAL_CORRUPT if they are not what was written
   */
  bookings(kind: BookedRow['kind'], span?: BookingSpan): Iterable<BookedRow>
  /**
   * Deletes archived bookings, durably, together with the record about it.
   * @throws Failure JOURNAL_POISONED
   */
  dropBookings(record: ArchivedRecord): void
}

/** A journal that stores curves. */
export interface CurveStore {
  /**
   * Adds points, which become durable together with what is written next: at the latest with the
   * next {@link Journal.flush}. Points that come after a write has failed are dropped.
   */
  notePoints(points: readonly CurvePoint[]): void
  /**
   * The points of a curve that are written, the oldest first.
   * @throws Failure JOURNAL_CORRUPT
   */
  curve(query: CurveQuery): Iterable<CurvePoint>
}

/** A journal that stores its writer. */
export interface WriterStore<Done = void | Promise<void>> {
  /** The last noted writer when the journal was opened; undefined: none. */
  readonly writer: JournalWriter | undefined
  /** Notes the writer from now on, durably. */
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
   * @param isWhole False after a breakdown: a successor must wait for requests that may be on their
   * way.
   */
  close(isWhole?: boolean): void | Promise<void>
}
