import type { ArchivedRecord, JournalRecord, StrategyKey, UsedKey } from '../domain/record.ts'
import type { Failure } from '../lib/failure.ts'
import type { BookedRow, Booking, BookingSpan } from './booking.ts'
import type { JournalWriter } from './journal-writer.ts'

/** One entry of the book as text: its collection, its key there, and its value as JSON. */
export interface BookRow {
  readonly name: string
  readonly key: string
  readonly value: string
}

/** An entry that was added or changed; with an undefined value one that was removed. */
export type RowChange = Omit<BookRow, 'value'> & { readonly value: string | undefined }

/** What a journal gives back when it is opened: the last checkpoint, and every record after it. */
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
  /** What the journal held when it was opened. */
  load(): JournalContents
  /**
   * Appends a record and what it books; both become durable together.
   * @throws Failure JOURNAL_POISONED once a write has failed: what is on the disk is then unknown.
   */
  append(record: JournalRecord, bookings?: readonly Booking[]): void
  /**
   * Makes everything durable that was appended, and calls `done` when it would survive a power cut: before this returns,
   * or later. Where that failed `done` is given the reason, and the run must end. May throw instead.
   */
  commit(done: (failure?: unknown) => void): void
  /** Called at intervals: makes durable what nothing waits for. */
  flush(): void
  /**
   * Returns those of the keys that records have used, however long ago. The book forgets keys with their orders.
   * @throws Failure JOURNAL_POISONED where what is stored is not what was written
   */
  usedKeys(keys: readonly StrategyKey[]): readonly UsedKey[]
  /** How many records there are after the last checkpoint, including those of earlier runs. */
  readonly recordsSinceCheckpoint: number
  /**
   * Brings the rows of the book up to the last appended record, so that a start need not read all records. A changed
   * entry keeps its place; one that was removed and added again comes last, as in a map.
   */
  saveCheckpoint(changes: Iterable<RowChange>): void
  /** Makes durable what was appended, and closes the journal. */
  close(): void
}

/**
 * How far a kill is that was ordered from elsewhere: `asked`: nobody who writes has heard of it · `seen`: nothing is
 * created any more · `clean`: proved that nothing of ours rests · `released`: it trades again.
 */
export type KillAnswer = 'seen' | 'clean' | 'released'

/** A kill that was ordered on the server, for whoever has the right to write. */
export interface OrderedKill {
  /** Orders of one account in turn. */
  readonly number: number
  readonly state: KillAnswer | 'asked'
  readonly reason: string
  readonly by: string
}

/** What somebody should hear of, as all who look at the journal's server read it. */
export interface FleetAlert {
  readonly urgency: string
  readonly event: string
  readonly title: string
  readonly lines: readonly string[]
}

/** What is said of a member of the fleet, as JSON. */
export type FleetState = Readonly<Record<string, unknown>>

/** What an account shows to all who look at the server; nothing waits for it. */
export interface FleetNews {
  /** As it is now, and alerts that were not taken yet. */
  news(): { readonly state: FleetState; readonly alerts: readonly FleetAlert[] }
  /** @param trouble Why they were not taken; undefined: they were. */
  onShown(trouble?: string): void
}

/** The right to write a journal, which another machine may take once it is over. */
export interface WriterLease {
  /** Why nothing may be signed any more; undefined while it is held by both clocks of the machine. */
  objection(): string | undefined
  /** Hears once that it is lost, or that a write failed which nobody waited for. */
  onLost(listener: (failure: Failure) => void): void
  /** Hears once that somebody wants it handed over. */
  onHandover(listener: () => void): void
  /** Ordered last, as it stood when the journal was opened; undefined where none ever was. */
  readonly kill: OrderedKill | undefined
  /** Hears of the ordered kill again and again, and says how far it is; undefined: no further than it was. */
  onKill(listener: (kill: OrderedKill) => KillAnswer | undefined): void
  /** It is farther than it was: that is written at once. */
  answerKill(): Promise<void> | void
  /** From now on this is shown on the server whenever the lease was renewed. */
  show(news: FleetNews): void
  /** It is not given back at the end: this process opens the journal again. */
  keep(): void
  /** Whether another place had it before, and did not give it back: nobody knows what was cancelled there. */
  readonly isAbandoned: boolean
}

/** A journal that keeps what records have booked, beyond the records. */
export interface BookingStore {
  /**
   * Of one kind, the oldest first. Only what was read to its end is proved.
   * @throws Failure JOURNAL_CORRUPT where it is not what was written
   */
  bookings(kind: BookedRow['kind'], span?: BookingSpan): Iterable<BookedRow>
  /**
   * Takes away what was archived, with the record that says so, durably.
   * @throws Failure JOURNAL_POISONED
   */
  dropBookings(record: ArchivedRecord): void
}

/** A journal that says whose it is. */
export interface WriterStore<Done = void | Promise<void>> {
  /** Noted last, when the journal was opened; undefined: nobody has been yet. */
  readonly writer: JournalWriter | undefined
  /** Notes who writes it from now on, durably. */
  noteWriter(writer: JournalWriter): Done
}

/** A journal as a daemon opens it, wherever it is. */
export interface OpenedJournal extends Omit<Journal, 'close'>, BookingStore, WriterStore {
  /** Of one that several machines could write; absent where a lock of this machine is enough. */
  readonly lease?: WriterLease
  /** Why nothing can be written just now, where that may end by itself. */
  readonly trouble?: string | undefined
  /**
   * What was appended is made durable. One that takes its time holds what it writes to until then.
   * @param isWhole False after a breakdown: whoever takes over must wait for what may be on its way.
   */
  close(isWhole?: boolean): void | Promise<void>
}
