import type { ArchivedRecord, JournalRecord, StrategyKey, UsedKey } from '../domain/record.ts'
import { type Failure, messageOf } from '../lib/failure.ts'
import type { BookedRow, Booking, BookingSpan } from './booking.ts'
import type { CurvePoint, CurveQuery } from './curves.ts'
import type { JournalWriter } from './journal-writer.ts'

export interface BookRow {
  readonly name: string
  readonly key: string
  readonly value: string
}

/** Undefined removes the entry. */
export type RowChange = Omit<BookRow, 'value'> & { readonly value: string | undefined }

export interface JournalContents {
  /** Rows of the book in the order of a map. */
  readonly checkpoint: readonly BookRow[] | undefined
  readonly records: readonly JournalRecord[]
}

/** Holds the records in order. What is durable is always a prefix of what was appended. */
export interface Journal {
  /** Part of every clientOid. */
  readonly salt: string
  load(): JournalContents
  /**
   * Record and bookings become durable together.
   * @throws Failure JOURNAL_POISONED once a write has failed: what is on the disk is then unknown
   */
  append(record: JournalRecord, bookings?: readonly Booking[]): void
  /**
   * Calls `done`, at once or later, when everything appended would survive a power cut. If that
   * failed, the reason is given to `done` or thrown, and the run must end.
   */
  commit(done: (failure?: unknown) => void): void
  /** Does work that nothing waits for; called at intervals. */
  flush(): void
  /**
   * Also finds keys that the book has forgotten with their orders.
   * @throws Failure JOURNAL_POISONED if the stored keys are not what was written
   */
  usedKeys(keys: readonly StrategyKey[]): readonly UsedKey[]
  readonly recordsSinceCheckpoint: number
  /**
   * Does a bounded part of the next checkpoint: some used keys.
   * @returns whether there were any; the checkpoint can then wait for a later turn
   */
  prepareCheckpoint(): boolean
  /**
   * Spares the next start from reading all records. Entries keep the order of a map: one that was
   * removed and added again comes last.
   */
  saveCheckpoint(changes: Iterable<RowChange>): void
  close(): void
}

/**
 * `seen`: no order is created any more; `clean`: it is proved that no order of ours rests;
 * `released`: trading goes on.
 */
export type KillAnswer = 'seen' | 'clean' | 'released'

export interface KillRequest {
  readonly number: number
  readonly state: KillAnswer | 'asked'
  readonly reason: string
  readonly by: string
}

export interface FleetAlert {
  readonly urgency: string
  readonly event: string
  readonly title: string
  readonly lines: readonly string[]
}

export type FleetState = Readonly<Record<string, unknown>>

export interface FleetNews {
  /** With the alerts that were not delivered yet. */
  news(): { readonly state: FleetState; readonly alerts: readonly FleetAlert[] }
  onShown(trouble?: string): void
}

/** The right to write. Another machine may take it once it has expired. */
export interface WriterLease {
  /**
   * Says why nothing may be signed; undefined while the lease is valid by both clocks of the
   * machine.
   */
  objection(): string | undefined
  /**
   * The listener is called once: when the lease is lost, or a write failed that nothing waited for.
   */
  onLost(listener: (failure: Failure) => void): void
  onHandover(listener: () => void): void
  readonly kill: KillRequest | undefined
  /** The listener is called repeatedly. It returns the progress, or undefined without any. */
  onKill(listener: (kill: KillRequest) => KillAnswer | undefined): void
  answerKill(): Promise<void> | void
  show(news: FleetNews): void
  /** Keeps the lease over the close, because this process opens the journal again. */
  keep(): void
  /**
   * The last holder was on another machine and did not give the lease back, so it is not known what
   * was cancelled there.
   */
  readonly isAbandoned: boolean
}

export interface BookingStore {
  /**
   * Returns the oldest first. Only a reading to the end proves that none is missing.
   * @throws Failure JOURNAL_CORRUPT
   */
  bookings(kind: BookedRow['kind'], span?: BookingSpan): Iterable<BookedRow>
  /** @throws Failure JOURNAL_POISONED */
  dropBookings(record: ArchivedRecord): void
}

export interface CurveStore {
  /**
   * Adds points, which become durable with what is written next, at the latest with the next {@link
   * Journal.flush}. After a failed write they are dropped.
   * @param finished curves that get no more points and may make room
   */
  notePoints(points: readonly CurvePoint[], finished?: readonly string[]): void
  /** @throws Failure JOURNAL_CORRUPT */
  curve(query: CurveQuery): Iterable<CurvePoint>
}

export interface WriterStore<Done = void | Promise<void>> {
  readonly writer: JournalWriter | undefined
  noteWriter(writer: JournalWriter): Done
}

export interface OpenedJournal
  extends Omit<Journal, 'close'>, BookingStore, CurveStore, WriterStore {
  /** Absent if a lock of this machine suffices. */
  readonly lease?: WriterLease
  /** 0 without a record. */
  readonly lastSequence: number
  /** Why nothing can be written for now, if that may end by itself. */
  readonly trouble?: string | undefined
  /**
   * Makes everything appended durable first.
   * @param isWhole false after a breakdown: a successor must wait for requests that may be on their
   * way
   */
  close(isWhole?: boolean): void | Promise<void>
}

export function untilDurable(journal: Pick<Journal, 'commit'>): Promise<void> {
  return new Promise((resolve, reject) => {
    journal.commit((failure) => {
      if (failure === undefined) resolve()
      else reject(failure instanceof Error ? failure : new Error(messageOf(failure)))
    })
  })
}
