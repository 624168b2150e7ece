import { type JournalRecord } from '../../src/domain/record.ts'
import { type Journal, type JournalContents } from '../../src/journal/journal.ts'

/** A journal that ends with its process: for backtests and tests. Records are copied as the disk would. */
export class MemoryJournal implements Journal {
  readonly salt: string
  readonly #records: string[] = []
  #checkpoint: string | undefined
  #durable = 0

  constructor(salt: string) {
    this.salt = salt
  }

  load(): JournalContents {
    return {
      checkpoint: this.#checkpoint === undefined ? undefined : (JSON.parse(this.#checkpoint) as unknown),
      records: this.#records.map((text) => JSON.parse(text) as JournalRecord),
    }
  }

  append(record: JournalRecord, durable: boolean): void {
    this.#records.push(JSON.stringify(record))
    if (durable) this.flush()
  }

  flush(): void {
    this.#durable = this.#records.length
  }

  /** Forgets what was not durable, as a crash would. */
  crash(): void {
    this.#records.length = this.#durable
  }

  saveCheckpoint(book: unknown): void {
    this.#checkpoint = JSON.stringify(book)
    this.#records.length = 0
    this.#durable = 0
  }

  close(): void {
    this.flush()
  }
}
