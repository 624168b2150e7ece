import type { JournalRecord, StrategyKey, UsedKey } from '../domain/record.ts'
import type { JournalPort } from '../interpreter/ports.ts'
import type { Booking } from '../journal/booking.ts'
import type { Journal, JournalContents, RowChange } from '../journal/journal.ts'
import { MemoryKeys, MemoryRows } from '../journal/tables/key-table.ts'

/** Ends with its process. Records are copied as the disk would. */
export class MemoryJournal implements Journal {
  readonly salt: string
  readonly #records: string[] = []
  readonly #keys = new MemoryKeys()
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
    this.#keys.add(record)
  }

  commit(done: () => void): void {
    done()
  }

  flush(): void {}

  usedKeys(keys: readonly StrategyKey[]): readonly UsedKey[] {
    return keys.flatMap((key) => this.#keys.find(key) ?? [])
  }

  get recordsSinceCheckpoint(): number {
    return this.#records.length
  }

  prepareCheckpoint(): boolean {
    return false
  }

  saveCheckpoint(changes: Iterable<RowChange>): void {
    this.#checkpoint ??= new MemoryRows()
    this.#checkpoint.apply(changes)
    this.#records.length = 0
  }

  close(): void {}
}

/** Never read again: keeps only used keys, which name one order for ever. */
export class PassingJournal implements JournalPort {
  readonly recordsSinceCheckpoint = 0
  readonly #keys = new MemoryKeys()
  readonly #onAppended: (record: JournalRecord, bookings: readonly Booking[]) => void

  /** @param onAppended hears each record and what it has booked */
  constructor(onAppended: (record: JournalRecord, bookings: readonly Booking[]) => void) {
    this.#onAppended = onAppended
  }

  append(record: JournalRecord, bookings: readonly Booking[] = []): void {
    this.#keys.add(record)
    this.#onAppended(record, bookings)
  }

  commit(done: () => void): void {
    done()
  }

  flush(): void {}

  usedKeys(keys: readonly StrategyKey[]): readonly UsedKey[] {
    return keys.flatMap((key) => this.#keys.find(key) ?? [])
  }

  prepareCheckpoint(): boolean {
    return false
  }

  saveCheckpoint(): void {}
}
