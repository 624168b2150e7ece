import { DatabaseSync } from 'node:sqlite'
import { type JournalRecord, type StrategyKey, type UsedKey } from '../../../src/domain/record.ts'
import { createMeta, makeTables } from '../../../src/journal/journal-layout.ts'
import { KeyTable, NO_KEYS, readBuckets } from '../../../src/journal/tables/key-table.ts'

/** Same as the daemon. */
const KEPT_MS = 365 * 86_400_000
/** Few, so that a checkpoint often has parts. */
const KEYS_AHEAD = 8

/** The journal's table of used keys, in memory: stored at checkpoints, the rest from records. */
export class StoredKeys {
  readonly #database = new DatabaseSync(':memory:')
  readonly #first: string
  readonly #now: () => number
  #table: KeyTable

  /** @param now Unix ms, our clock */
  constructor(now: () => number) {
    this.#now = now
    this.#first = makeTables(this.#database, createMeta('world', 'salt')).first
    this.#table = new KeyTable(this.#database, this.#first, NO_KEYS)
  }

  add(record: JournalRecord): void {
    this.#table.add(record)
  }

  find(key: StrategyKey): UsedKey | undefined {
    return this.#table.find(key)
  }

  /** With a checkpoint. */
  save(): void {
    this.#table.save(this.#now() - KEPT_MS)
  }

  get hasAhead(): boolean {
    return this.#table.waiting > KEYS_AHEAD
  }

  /** A part, before a checkpoint. */
  saveAhead(): void {
    this.#table.save(this.#now() - KEPT_MS, KEYS_AHEAD)
  }

  /** Like a start: stored keys, and the records after the checkpoint. */
  reopen(records: readonly JournalRecord[]): void {
    this.#table = new KeyTable(this.#database, this.#first, readBuckets(this.#database))
    for (const record of records) this.#table.add(record)
  }

  close(): void {
    this.#database.close()
  }
}
