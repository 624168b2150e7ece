import { type JournalPort } from '../../../src/interpreter/ports.ts'
import { type JournalRecord, type StrategyKey, type UsedKey } from '../../../src/domain/record.ts'
import { type RowChange } from '../../../src/journal/journal.ts'
import { type VirtualDisk } from '../virtual/virtual-disk.ts'
import { type VirtualLease } from './virtual-lease.ts'

export class LeaseGone extends Error {
  override readonly name = 'LeaseGone'
}

export interface LeasedJournalOptions {
  readonly disk: VirtualDisk
  readonly lease: VirtualLease
  /**
   * Another run has the lease: appended records then stay with this run, which may not know yet.
   */
  readonly isPassedOver: () => boolean
  /** A write without the right became durable. */
  readonly onStray: () => void
}

/** The server must grant each write. */
export class LeasedJournal implements JournalPort {
  readonly #options: LeasedJournalOptions

  constructor(options: LeasedJournalOptions) {
    this.#options = options
  }

  append(record: JournalRecord): void {
    const { disk, isPassedOver } = this.#options
    if (!isPassedOver()) disk.append(record)
  }

  commit(done: () => void): void {
    this.#write(() => this.#options.disk.commit(done))
  }

  flush(): void {}

  get recordsSinceCheckpoint(): number {
    return this.#options.disk.recordsSinceCheckpoint
  }

  usedKeys(keys: readonly StrategyKey[]): readonly UsedKey[] {
    return this.#options.disk.usedKeys(keys)
  }

  prepareCheckpoint(): boolean {
    const { disk } = this.#options
    if (!disk.journal.hasKeysAhead) return false
    this.#write(() => disk.prepareCheckpoint())
    return true
  }

  saveCheckpoint(changes: Iterable<RowChange>): void {
    this.#write(() => this.#options.disk.saveCheckpoint(changes))
  }

  #write(write: () => void): void {
    const { lease, isPassedOver, onStray } = this.#options
    if (!lease.write()) throw new LeaseGone()
    if (isPassedOver()) onStray()
    else write()
  }
}
