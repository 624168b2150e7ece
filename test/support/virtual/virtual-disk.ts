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
  /** Whether nothing can be written just now. */
  readonly isFull: () => boolean
  /** A durable record reached the disk, though its write failed. */
  readonly onWritten: (record: JournalRecord) => void
  /** Where the used keys are stored as the daemon stores them. */
  readonly keys?: StoredKeys | undefined
  /** One that all machines share; absent: one of its own. */
  readonly journal?: LossyJournal | undefined
}

/** Thrown by a journal that cannot be written any more: its process retreats in order. */
export class JournalPoisoned extends Error {
  override readonly name = 'JournalPoisoned'
}

/** The journal on a disk that is slow, full, and keeps more or less of what was not durable at a death. */
export class VirtualDisk implements JournalPort {
  readonly journal: LossyJournal
  readonly #options: VirtualDiskOptions
  #last: JournalRecord | undefined
  #isPoisoned = false
  /** Of a write that failed: whether it reached the disk nevertheless. */
  #isWritten = false
  #hasRoomForNote = true
  /** Whether a process has cancelled without a record: what the book says of resting orders is not believed. */
  hasNote = false

  constructor(options: VirtualDiskOptions) {
    this.#options = options
    this.journal = options.journal ?? new LossyJournal(options.keys)
  }

  /** What a process finds when it begins. */
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

  /** What nothing waits for is lost when the process dies. */
  flush(): void {}

  /** Long after it was appended everything is on the disk. */
  settle(): void {
    if (!this.#isPoisoned && !this.#options.isFull()) this.journal.flush()
  }

  get recordsSinceCheckpoint(): number {
    return this.journal.recordsSinceCheckpoint
  }

  usedKeys(keys: readonly StrategyKey[]): readonly UsedKey[] {
    return this.journal.usedKeys(keys)
  }

  saveCheckpoint(changes: Iterable<RowChange>): void {
    this.#write(() => this.journal.saveCheckpoint(changes))
  }

  /** A checkpoint that is drawn, between two steps: the book is what the journal says. */
  keep(book: Book): void {
    if (!this.#options.faults.strikes('checkpoint', 'journal')) return
    this.#write(() => this.journal.saveCheckpoint(takeBookChanges(book)))
  }

  /** Leaves a note for the next run; false when that cannot be written either. */
  leave(): boolean {
    this.hasNote ||= this.#hasRoomForNote
    return this.#hasRoomForNote
  }

  /** The run that found the note has resolved what it says. */
  forget(): void {
    this.hasNote = false
  }

  /** A run has come to an end in good order. */
  close(book: Book): void {
    this.#write(() => {
      this.journal.flush()
      this.journal.saveCheckpoint(takeBookChanges(book))
    })
    this.hasNote = false
  }

  /** A process died: what was not durable is lost, or a part of it. */
  crash(): void {
    this.journal.crash(this.#options.faults.strikes('tailKept', 'journal'))
  }

  /** The write fails, and may have reached the disk nevertheless; there is room for a note, or none. */
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

  /** A process whose journal cannot be written ends there and then. */
  #write(write: () => void): void {
    if (this.#isPoisoned) throw new JournalPoisoned()
    if (this.#options.isFull()) throw new ProcessDied()
    write()
  }
}
