import { type JournalRecord, type StrategyKey, type UsedKey } from '../../../src/domain/record.ts'
import { type BookRow, type JournalContents, type RowChange } from '../../../src/journal/journal.ts'
import { MemoryKeys, MemoryRows } from '../../../src/journal/tables/key-table.ts'
import { type StoredKeys } from '../months/stored-keys.ts'

interface Kept {
  readonly checkpoint: readonly BookRow[] | undefined
  readonly records: readonly string[]
}

export interface JournalCopy extends Kept {
  readonly contained: readonly string[]
}

/** Records are copied as a disk would. */
export class LossyJournal {
  readonly #records: string[] = []
  #checkpoint: MemoryRows | undefined
  #older: Kept = { checkpoint: undefined, records: [] }
  readonly #contained: string[] = []
  #durable = 0
  /** Keys of all records; undefined once some were lost. */
  #keys: MemoryKeys | undefined
  /** Alternatively, keys stored like the daemon's. */
  readonly #stored: StoredKeys | undefined

  constructor(stored?: StoredKeys) {
    this.#stored = stored
  }

  load(): JournalContents {
    return read({ checkpoint: this.#checkpoint?.list(), records: this.#records })
  }

  /** From the checkpoint before the last one, with all later records: the same book. */
  loadOlder(): JournalContents {
    const { checkpoint, records } = this.#older
    return read({ checkpoint, records: [...records, ...this.#records] })
  }

  /** Undoes the last checkpoint: the process starts from {@link loadOlder}. */
  goBack(): void {
    const { checkpoint, records } = this.#older
    this.#checkpoint = checkpoint && new MemoryRows(checkpoint)
    this.#records.unshift(...records)
    this.#durable += records.length
    this.#contained.length -= records.length
    this.#older = { checkpoint, records: [] }
  }

  /** Every record from the first, regardless of checkpoints. */
  loadAll(): readonly JournalRecord[] {
    return read({ checkpoint: undefined, records: [...this.#contained, ...this.#records] }).records
  }

  copy(): JournalCopy {
    return {
      checkpoint: this.#checkpoint?.list(),
      records: this.#records.slice(0, this.#durable),
      contained: [...this.#contained],
    }
  }

  /** The copy becomes the journal. Nothing may be running. */
  putBack({ checkpoint, records, contained }: JournalCopy): void {
    this.#checkpoint = checkpoint && new MemoryRows(checkpoint)
    this.#older = { checkpoint, records: [] }
    this.#records.splice(0, this.#records.length, ...records)
    this.#contained.splice(0, this.#contained.length, ...contained)
    this.#durable = records.length
    this.#forgetKeys()
  }

  append(record: JournalRecord): void {
    this.#records.push(JSON.stringify(record))
    this.#keys?.add(record)
    this.#stored?.add(record)
  }

  /** The last record could not be written. */
  takeBack(): void {
    this.#records.pop()
    this.#forgetKeys()
  }

  flush(): void {
    this.#durable = this.#records.length
  }

  /**
   * Forgets non-durable records as a crash would: all, or those that happened not to reach the
   * disk.
   */
  crash(isHalfKept = false): void {
    const undurable = this.#records.length - this.#durable
    this.#records.length = this.#durable + (isHalfKept ? Math.ceil(undurable / 2) : 0)
    this.#durable = this.#records.length
    this.#forgetKeys()
  }

  usedKeys(keys: readonly StrategyKey[]): readonly UsedKey[] {
    const stored = this.#stored
    if (stored) return keys.flatMap((key) => stored.find(key) ?? [])
    const known = this.#keys ?? new MemoryKeys()
    if (known !== this.#keys) for (const record of this.loadAll()) known.add(record)
    this.#keys = known
    return keys.flatMap((key) => known.find(key) ?? [])
  }

  get recordsSinceCheckpoint(): number {
    return this.#records.length
  }

  get hasKeysAhead(): boolean {
    return this.#stored?.hasAhead === true
  }

  /** Like the daemon's, with all records so far. */
  storeKeysAhead(): void {
    this.flush()
    this.#stored?.saveAhead()
  }

  saveCheckpoint(changes: Iterable<RowChange>): void {
    this.#older = { checkpoint: this.#checkpoint?.list(), records: [...this.#records] }
    this.#checkpoint ??= new MemoryRows()
    this.#checkpoint.apply(changes)
    this.#stored?.save()
    this.#contained.push(...this.#records)
    this.#records.length = 0
    this.#durable = 0
  }

  close(): void {
    this.#stored?.close()
  }

  #forgetKeys(): void {
    this.#keys = undefined
    this.#stored?.reopen(this.load().records)
  }
}

function read({ checkpoint, records }: Kept): JournalContents {
  return {
    checkpoint,
    records: records.map((text) => JSON.parse(text) as JournalRecord),
  }
}
