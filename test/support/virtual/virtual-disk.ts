import { type JournalRecord } from '../../../src/domain/record.ts'
import { type Book } from '../../../src/engine/book/book.ts'
import { bookToJson } from '../../../src/engine/book/book-json.ts'
import { type JournalContents } from '../../../src/journal/journal.ts'
import { MemoryJournal } from './memory-journal.ts'
import { type VirtualFaults } from '../faults/virtual-faults.ts'

export interface VirtualDiskOptions {
  readonly salt: string
  readonly faults: VirtualFaults
  /** Whether nothing can be written just now. */
  readonly isFull: () => boolean
}

/** Thrown by what a process cannot go on after. */
export class ProcessDied extends Error {
  override readonly name = 'ProcessDied'
}

/** Thrown by a journal that cannot be written any more: its process retreats in order. */
export class JournalPoisoned extends Error {
  override readonly name = 'JournalPoisoned'
  /** Whether the record reached the disk nevertheless. */
  readonly isWritten: boolean

  constructor(isWritten: boolean) {
    super()
    this.isWritten = isWritten
  }
}

/** The journal on a disk that is slow, full, and keeps more or less of what was not durable at a death. */
export class VirtualDisk {
  readonly journal: MemoryJournal
  readonly #options: VirtualDiskOptions
  #isPoisoned = false
  #hasRoomForNote = true
  /** Whether a process has cancelled without a record: what the book says of resting orders is not believed. */
  hasNote = false

  constructor(options: VirtualDiskOptions) {
    this.#options = options
    this.journal = new MemoryJournal(options.salt)
  }

  /** What a process finds when it begins. */
  load(): JournalContents {
    this.#isPoisoned = false
    const isOlder = this.#options.faults.strikes('olderCheckpoint', 'journal')
    return isOlder ? this.journal.loadOlder() : this.journal.load()
  }

  append(record: JournalRecord, durable: boolean): void {
    if (durable && this.#options.faults.strikes('diskBroken', 'journal')) this.#breakAt(record)
    if (durable) this.#write(() => this.journal.append(record, durable))
    else this.journal.append(record, durable)
  }

  /** Between two steps: the book is what the journal says. */
  keep(book: Book): void {
    if (!this.#options.faults.strikes('checkpoint', 'journal')) return
    this.#write(() => this.journal.saveCheckpoint(bookToJson(book)))
  }

  /** Leaves a note for the next life; false when that cannot be written either. */
  leaveNote(): boolean {
    this.hasNote ||= this.#hasRoomForNote
    return this.#hasRoomForNote
  }

  /** A life has come to an end in good order. */
  close(book: Book): void {
    this.#write(() => {
      this.journal.flush()
      this.journal.saveCheckpoint(bookToJson(book))
    })
    this.hasNote = false
  }

  /** A process died: what was not durable is lost, or a part of it. */
  crash(): void {
    this.journal.crash(this.#options.faults.strikes('tailKept', 'journal'))
  }

  /** The write fails, and may have reached the disk nevertheless; there is room for a note, or none. */
  #breakAt(record: JournalRecord): never {
    const way = this.#options.faults.severity(0, 6)
    this.#hasRoomForNote = way % 3 > 0
    const isWritten = way >= 3
    if (isWritten) this.journal.append(record, true)
    this.#isPoisoned = true
    throw new JournalPoisoned(isWritten)
  }

  /** A process whose journal cannot be written ends there and then. */
  #write(write: () => void): void {
    if (this.#isPoisoned) throw new JournalPoisoned(false)
    if (this.#options.isFull()) throw new ProcessDied()
    write()
  }
}
