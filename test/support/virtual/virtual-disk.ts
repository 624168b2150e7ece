import { type JournalRecord, type StrategyKey, type UsedKey } from '../../../src/domain/record.ts'
import { type Book } from '../../../src/engine/book/book.ts'
import { takeBookChanges } from '../../../src/engine/book/book-rows.ts'
import { type JournalContents, type RowChange } from '../../../src/journal/journal.ts'
import { type JournalPort } from '../../../src/interpreter/ports.ts'
import { type StoredKeys } from '../months/stored-keys.ts'
import { LossyJournal } from './lossy-journal.ts'
import { ProcessDied } from '../faults/process-faults.ts'
import { type VirtualFaults } from '../faults/virtual-faults.ts'

export interface VirtualDiskOptions {
  readonly faults: VirtualFaults
  readonly isFull: () => boolean
  /** A durable record reached the disk although its write failed. */
  readonly onWritten: (record: JournalRecord) => void
  readonly keys?: StoredKeys | undefined
  /** Shared by all machines; default: its own. */
  readonly journal?: LossyJournal | undefined
}

/** The journal cannot be written any more, so its process retreats. */
export class JournalPoisoned extends Error {
  override readonly name = 'JournalPoisoned'
}

export class VirtualDisk implements JournalPort {
  readonly journal: LossyJournal
  readonly #options: VirtualDiskOptions
  #last: JournalRecord | undefined
  #isPoisoned = false
  /** A failed write reached the disk nevertheless. */
  #isWritten = false
  #hasRoomForNote = true
  /** A process has cancelled without a record, so resting orders of the book are not trusted. */
  hasNote = false

  constructor(options: VirtualDiskOptions) {
    this.#options = options
    this.journal = options.journal ?? new LossyJournal(options.keys)
  }

  load(): JournalContents {
    this.#isPoisoned = false
    this.#isWritten = false
    if (this.#options.faults.strikes('olderCheckpoint', 'journal')) this.journal.goBack()
    return this.journal.load()
  }

  append(record: JournalRecord): void {
    this.#last = record
    this.journal.append(record)
  }

  /** A record that did not reach the disk is not in the journal. */
  commit(done: () => void): void {
    try {
      if (this.#options.faults.strikes('diskBroken', 'journal')) this.#break()
      this.#write(() => this.journal.flush())
    } catch (error) {
      if (!this.#isWritten) this.journal.takeBack()
      throw error
    }
    done()
  }

  /** Records that nothing waits for are lost when the process dies. */
  flush(): void {}

  /** After a long time everything is on the disk. */
  settle(): void {
    if (!this.#isPoisoned && !this.#options.isFull()) this.journal.flush()
  }

  get recordsSinceCheckpoint(): number {
    return this.journal.recordsSinceCheckpoint
  }

  usedKeys(keys: readonly StrategyKey[]): readonly UsedKey[] {
    return this.journal.usedKeys(keys)
  }

  prepareCheckpoint(): boolean {
    if (!this.journal.hasKeysAhead) return false
    this.#write(() => this.journal.storeKeysAhead())
    return true
  }

  saveCheckpoint(changes: Iterable<RowChange>): void {
    this.#write(() => this.journal.saveCheckpoint(changes))
  }

  /** A drawn checkpoint between two steps, when the book equals the journal. */
  keep(book: Book): void {
    if (!this.#options.faults.strikes('checkpoint', 'journal')) return
    this.#write(() => this.journal.saveCheckpoint(takeBookChanges(book)))
  }

  /** False if the note cannot be written either. */
  leave(): boolean {
    this.hasNote ||= this.#hasRoomForNote
    return this.#hasRoomForNote
  }

  /** The run that found the note has resolved it. */
  forget(): void {
    this.hasNote = false
  }

  close(book: Book): void {
    this.#write(() => {
      this.journal.flush()
      this.journal.saveCheckpoint(takeBookChanges(book))
    })
    this.hasNote = false
  }

  /** Loses non-durable records, or a part of them. */
  crash(): void {
    this.journal.crash(this.#options.faults.strikes('tailKept', 'journal'))
  }

  /** The write fails, but may have reached the disk; there may be room for a note. */
  #break(): never {
    const way = this.#options.faults.severity(0, 6)
    this.#hasRoomForNote = way % 3 > 0
    this.#isWritten = way >= 3
    this.#isPoisoned = true
    if (this.#isWritten && this.#last) {
      this.journal.flush()
      this.#options.onWritten(this.#last)
    }
    throw new JournalPoisoned()
  }

  /** A process whose journal cannot be written ends at once. */
  #write(write: () => void): void {
    if (this.#isPoisoned) throw new JournalPoisoned()
    if (this.#options.isFull()) throw new ProcessDied()
    write()
  }
}
