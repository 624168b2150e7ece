import { type JournalRecord, type StrategyKey, type UsedKey } from '../../../src/domain/record.ts'
import { type BookRow, type JournalContents, type RowChange } from '../../../src/journal/journal.ts'
import { MemoryKeys, MemoryRows } from '../../../src/journal/tables/key-table.ts'
import { type StoredKeys } from '../months/stored-keys.ts'

interface Kept {
  readonly checkpoint: readonly BookRow[] | undefined
  readonly records: readonly string[]
}

/** The whole of a journal as it was durable at a moment. */
export interface JournalCopy extends Kept {
  readonly contained: readonly string[]
}

/** A journal in memory that can lose what was not durable. Records are copied as the disk would. */
export class LossyJournal {
  readonly #records: string[] = []
  #checkpoint: MemoryRows | undefined
  #older: Kept = { checkpoint: undefined, records: [] }
  /** What the checkpoints contain. */
  readonly #contained: string[] = []
  #durable = 0
  /** What all records have used; undefined once some were lost. */
  #keys: MemoryKeys | undefined
  /** Instead: as the daemon's journal stores them. */
  readonly #stored: StoredKeys | undefined

  constructor(stored?: StoredKeys) {
    this.#stored = stored
  }

  load(): JournalContents {
    return read({ checkpoint: this.#checkpoint?.list(), records: this.#records })
  }

  /** From the checkpoint before the last one, and everything since: the same book. */
  loadOlder(): JournalContents {
    const { checkpoint, records } = this.#older
    return read({ checkpoint, records: [...records, ...this.#records] })
  }

  /** The last checkpoint was never made: the process starts from {@link loadOlder}, and writes on from there. */
  goBack(): void {
    const { checkpoint, records } = this.#older
    this.#checkpoint = checkpoint && new MemoryRows(checkpoint)
    this.#records.unshift(...records)
    this.#durable += records.length
    this.#contained.length -= records.length
    this.#older = { checkpoint, records: [] }
  }

  /** Every record from the first on, checkpoints or not. */
  loadAll(): readonly JournalRecord[] {
    return read({ checkpoint: undefined, records: [...this.#contained, ...this.#records] }).records
  }

  /** As a backup of a running daemon's: what is durable. */
  copy(): JournalCopy {
    return {
      checkpoint: this.#checkpoint?.list(),
      records: this.#records.slice(0, this.#durable),
      contained: [...this.#contained],
    }
  }

  /** The copy is the journal from now on. Nothing runs on it. */
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

  /** The record that was appended last could not be written. */
  takeBack(): void {
    this.#records.pop()
    this.#forgetKeys()
  }

  flush(): void {
    this.#durable = this.#records.length
  }

  /** Forgets what was not durable, as a crash would: all of it, or what had not reached the disk by chance. */
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

  saveCheckpoint(changes: Iterable<RowChange>): void {
    this.#older = { checkpoint: this.#checkpoint?.list(), records: [...this.#records] }
    this.#checkpoint ??= new MemoryRows()
    this.#checkpoint.apply(changes)
    this.#stored?.save()
    this.#contained.push(...this.#records)
    this.#records.length = 0
    this.#durable = 0
  }

  /** Nothing is asked of it any more. */
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
