import { type JournalRecord } from '../domain/record.ts'

/** What a journal gives back when it is opened: the last checkpoint, and every record after it. */
export interface JournalContents {
  /** What was stored by {@link Journal.saveCheckpoint}; undefined in a journal that has none. */
  readonly checkpoint: unknown
  readonly records: readonly JournalRecord[]
}

/**
 * The record of everything that changed the book, in order. What is durable is always a prefix of what was
 * appended: a durable record takes everything before it along.
 */
export interface Journal {
  /** Made once with the journal; part of every clientOid. */
  readonly salt: string
  /** What was there when it was opened. */
  load(): JournalContents
  /** @throws Failure JOURNAL_POISONED once a write has failed: what is on the disk is then unknown. */
  append(record: JournalRecord): void
  /**
   * Makes everything durable that was appended, and calls `done` when it would survive a power cut: before this
   * returns, or later. With an argument it is what went wrong, and the run is over. May throw instead.
   */
  commit(done: (failure?: unknown) => void): void
  /** Called now and then: makes durable what nothing waits for. */
  flush(): void
  /** Stores the book as it is after every record appended so far, so that a start need not read them all. */
  saveCheckpoint(book: unknown): void
  /** What was appended is made durable. One that takes its time holds what it writes to until then. */
  close(): void
}
