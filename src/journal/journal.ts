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
  load(): JournalContents
  /**
   * Appends a record. With `durable` it, and all before it, survive a power cut when this returns.
   * @throws Failure JOURNAL_POISONED once a write has failed: what is on disk is then unknown.
   */
  append(record: JournalRecord, durable: boolean): void
  /** Makes everything appended durable. */
  flush(): void
  /** Stores the book as it is after every record so far, so that a start need not read them all. */
  saveCheckpoint(book: unknown): void
  close(): void
}
