import { type JournalPort } from '../../../src/interpreter/ports.ts'
import { type JournalRecord, type StrategyKey, type UsedKey } from '../../../src/domain/record.ts'
import { type RowChange } from '../../../src/journal/journal.ts'
import { type VirtualDisk } from '../virtual/virtual-disk.ts'
import { type VirtualLease } from './virtual-lease.ts'

/** Thrown by a write that the server has refused. */
export class LeaseGone extends Error {
  override readonly name = 'LeaseGone'
}

export interface LeasedJournalOptions {
  readonly disk: VirtualDisk
  readonly lease: VirtualLease
  /** Whether another has taken the lease: what is appended then stays with the run, which may not know of it yet. */
  readonly isPassedOver: () => boolean
  /** A write was durable that is no right of its run. */
  readonly onStray: () => void
}

/** The journal of one run, where several machines could write it: each write is the server's to grant. */
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
