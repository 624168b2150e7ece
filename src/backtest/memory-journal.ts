import { type JournalRecord } from '../domain/record.ts'
import { type Journal, type JournalContents, type RowChange } from '../journal/journal.ts'
import { MemoryRows } from '../journal/memory-rows.ts'

/** A journal that ends with its process: for backtests. Records are copied as the disk would. */
export class MemoryJournal implements Journal {
  readonly salt: string
  readonly #records: string[] = []
  #checkpoint: MemoryRows | undefined

  constructor(salt: string) {
    this.salt = salt
  }

  load(): JournalContents {
    return {
      checkpoint: this.#checkpoint?.list(),
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

  get recordsSinceCheckpoint(): number {
    return this.#records.length
  }

  saveCheckpoint(changes: Iterable<RowChange>): void {
    this.#checkpoint ??= new MemoryRows()
    this.#checkpoint.apply(changes)
    this.#records.length = 0
  }

  close(): void {}
}
