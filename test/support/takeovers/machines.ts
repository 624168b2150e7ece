import { type JournalRecord } from '../../../src/domain/record.ts'
import { MachineClock } from '../faults/machine-clock.ts'
import { type VirtualFaults } from '../faults/virtual-faults.ts'
import { StoredKeys } from '../months/stored-keys.ts'
import { type LossyJournal } from '../virtual/lossy-journal.ts'
import { VirtualDisk } from '../virtual/virtual-disk.ts'
import { type ProcessWatcher } from '../world/process-watcher.ts'
import { type VirtualTime } from '../../../src/backtest/virtual-time.ts'

/** How long a machine whose run ended does not want the lease: another may get it. */
const DOWN_MS = [100, 12_000] as const
/** The same for a machine that lost its way to the server. */
const LOST_MS = [6000, 12_000] as const

export interface MachinesOptions {
  readonly time: VirtualTime
  readonly faults: VirtualFaults
  readonly clocks: readonly { readonly skewMs: number; readonly driftPpm: number }[]
  readonly isDiskFull: () => boolean
  readonly watchers: readonly ProcessWatcher[]
  readonly hasStoredKeys?: boolean
}

/** Its disk keeps the retreat note; the journal is shared. */
export interface Machine {
  readonly place: string
  readonly clock: MachineClock
  readonly disk: VirtualDisk
  /** Unix ms, exchange clock, from which it looks for the lease. */
  readyAt: number
}

export class Machines {
  readonly first: Machine
  readonly #all: readonly Machine[]
  readonly #options: MachinesOptions

  constructor(options: MachinesOptions) {
    this.#options = options
    const [first, ...others] = options.clocks
    if (!first) throw new RangeError('a process needs a machine')
    this.first = this.#build(0, first)
    const { journal } = this.first.disk
    this.#all = [
      this.first,
      ...others.map((clock, index) => this.#build(index + 1, clock, journal)),
    ]
  }

  get waiting(): readonly Machine[] {
    return this.#all.filter(
      ({ readyAt, clock }) => readyAt <= this.#options.time.now && !clock.isAsleep,
    )
  }

  /** Nothing runs on it; it returns after a while. */
  noteEnd(machine: Machine, isLost: boolean): void {
    const { time, faults } = this.#options
    const [from, to] = isLost ? LOST_MS : DOWN_MS
    machine.readyAt = time.now + faults.delayMs(`machine ${machine.place}/down`, from, to)
  }

  #build(
    index: number,
    { skewMs, driftPpm }: MachinesOptions['clocks'][number],
    journal?: LossyJournal,
  ): Machine {
    const { time, faults, isDiskFull, watchers, hasStoredKeys } = this.#options
    const clock = new MachineClock(time, { aheadMs: skewMs, driftPpm })
    const disk = new VirtualDisk({
      faults,
      keys: hasStoredKeys ? new StoredKeys(() => clock.now()) : undefined,
      isFull: isDiskFull,
      onWritten: (record: JournalRecord) => {
        for (const watcher of watchers) watcher.onRecord?.(record, true)
      },
      journal,
    })
    return {
      place: String(index),
      clock,
      disk,
      readyAt: index === 0 ? Number.POSITIVE_INFINITY : 0,
    }
  }
}
