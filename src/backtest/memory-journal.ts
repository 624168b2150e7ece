import { type JournalRecord } from '../domain/record.ts'
import { type Journal, type JournalContents } from '../journal/journal.ts'

/** A journal that ends with its process: for backtests. Records are copied as the disk would. */
export class MemoryJournal implements Journal {
  readonly salt: string
  readonly #records: string[] = []
  #checkpoint: string | undefined

  constructor(salt: string) {
    this.salt = salt
  }

  load(): JournalContents {
    return {
      checkpoint: this.#checkpoint === undefined ? undefined : (JSON.parse(this.#checkpoint) as unknown),
      records: this.#records.map((text) => JSON.parse(text) as JournalRecord),
    }
  }

  append(record: JournalRecord): void {
    this.#records.push(JSON.stringify(record))
  }

  commit(done: () => void): void {
    done()
  }

  flush(): void {}

  saveCheckpoint(book: unknown): void {
    this.#checkpoint = JSON.stringify(book)
    this.#records.length = 0
  }

  close(): void {}
}
