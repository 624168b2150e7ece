import { ACCOUNT } from '../../../src/domain/trading-mode.ts'
import { killOf, restrictionOf } from '../../../src/engine/book/book.ts'
import { Failure } from '../../../src/lib/failure.ts'
import {
  VirtualAccount,
  type VirtualAccountOptions,
} from '../../../src/backtest/virtual-account.ts'
import { type VirtualPolling } from '../../../src/backtest/virtual-pollers.ts'
import { type VirtualTime } from '../../../src/backtest/virtual-time.ts'
import { type Gate } from '../../../src/backtest/virtual-wire.ts'
import { type StrategyId } from '../../../src/domain/ids.ts'
import { rebuildBook } from '../../../src/engine/book/book-rows.ts'
import { type OutgoingBatch } from '../../../src/engine/effect.ts'
import { type Engine } from '../../../src/engine/engine.ts'
import { type EngineEvent, type StopPolicy } from '../../../src/engine/event.ts'
import { type EngineSettings } from '../../../src/engine/settings.ts'
import { type RunListener, type Step } from '../../../src/interpreter/ports.ts'
import { Retreat } from '../../../src/interpreter/retreat.ts'
import { type JournalContents } from '../../../src/journal/journal.ts'
import { type Strategy } from '../../../src/strategy/define-strategy.ts'
import { type MachineClock } from '../faults/machine-clock.ts'
import { ProcessDied, ProcessFaults } from '../faults/process-faults.ts'
import { type VirtualFaults } from '../faults/virtual-faults.ts'
import { type ProcessWatcher } from './process-watcher.ts'
import { watchWrites } from './watch-writes.ts'
import { type LossyJournal } from '../virtual/lossy-journal.ts'
import { JournalPoisoned, type VirtualDisk } from '../virtual/virtual-disk.ts'
import { type VirtualExchange } from '../virtual/virtual-exchange.ts'
import { type VirtualNetwork } from '../virtual/virtual-network.ts'
import { type LeaseAsked } from '../takeovers/lease-server.ts'
import { LeaseGone } from '../takeovers/leased-journal.ts'
import { Leases } from '../takeovers/leases.ts'
import { type Machine, Machines } from '../takeovers/machines.ts'
import { type VirtualLease } from '../takeovers/virtual-lease.ts'
import { type SettledPromises } from '../wire/settled-promises.ts'
import { createWiredCalls } from '../wire/wired-calls.ts'

type StepLook = NonNullable<ProcessWatcher['afterStep']>

/** How long a slow disk makes a durable record wait, ms. */
const SLOW_SYNC_MS = [5, 2500] as const

/** What processes live on, one after the other. */
export interface VirtualProcessOptions {
  readonly time: VirtualTime
  readonly exchange: VirtualExchange
  readonly network: VirtualNetwork
  readonly faults: VirtualFaults
  readonly settings: EngineSettings
  readonly strategies: ReadonlyMap<StrategyId, Strategy>
  readonly polling: VirtualPolling
  /** Fills a page: small, so that pages race with fills. */
  readonly pageFills: number
  /** Of each machine: how far its clock is ahead of the exchange's, ms, and by how many millionths too quick. Several want a lease. */
  readonly clocks: readonly { readonly skewMs: number; readonly driftPpm: number }[]
  /** What a process does with what rests when it must end. */
  readonly onStop: StopPolicy
  /** Whether nothing can be written just now. */
  readonly isDiskFull: () => boolean
  /** Whether the kill file is there. */
  readonly isKilled: () => boolean
  readonly watchers: readonly ProcessWatcher[]
  /** The state is older than the exchange, with the proof: the run ends. Absent: that is a defect. */
  readonly onOlder?: ((proof: string) => void) | undefined
  /** Whether the journal keeps used keys as the daemon's does, and not in memory. */
  readonly hasStoredKeys?: boolean
  /** What lets the promises of the daemon's own client end; absent: worlds have a client of their own. */
  readonly promises?: SettledPromises | undefined
}

/** Everything that dies with the process. */
interface Run {
  readonly machine: Machine
  readonly lease: VirtualLease | undefined
  /** A run before this one cancelled without a record. */
  readonly hasNote: boolean
  readonly account: VirtualAccount
  readonly faults: ProcessFaults
  /** By their bytes: what has been sent, or is about to be. */
  readonly batches: Map<string, OutgoingBatch>
  isOver: boolean
  isRetreating: boolean
  isDead: boolean
}

/**
 * An account run in virtual time by a process that can die or stand still between any two effects; {@link start}
 * begins a new one on what the journal kept. Where several machines want a lease, a run that stands still may be
 * passed over: another is the process then, and the one before lives on, heard by nobody, until it ends by itself.
 */
export class VirtualProcess {
  readonly machines: Machines
  readonly #options: VirtualProcessOptions
  readonly #leases: Leases | undefined
  #machine: Machine
  #run: Run | undefined
  #stepLooks: readonly StepLook[] | undefined

  constructor(options: VirtualProcessOptions) {
    this.#options = options
    this.machines = new Machines(options)
    this.#machine = this.machines.first
    const validityMs = options.settings.execution.acceptanceWindowMs
    this.#leases = options.clocks.length > 1 ? new Leases({ ...options, validityMs }) : undefined
  }

  /** Of the machine that the process is on, or was on last: it may be set. */
  get machineClock(): MachineClock {
    return this.#machine.clock
  }

  get #disk(): VirtualDisk {
    return this.#machine.disk
  }

  get journal(): LossyJournal {
    return this.#disk.journal
  }

  /** Whether there is a process; of one that has ended the core can still be looked at. */
  get isAlive(): boolean {
    return this.#run?.isOver === false
  }

  get engine(): Engine | undefined {
    return this.#run?.account.engine
  }

  /** Whether a process without a journal is about to end. */
  isRetreating = false

  /** What the process that lives, or lived last, goes by. */
  get settings(): EngineSettings {
    return this.#settingsAfter(this.#run?.hasNote === true)
  }

  /** Whether the process has the lease because the time of another was over: that one may have done what is not recorded. */
  hasTakenOver = false

  /** What the process that lives, or lived last, found in the journal. */
  found: JournalContents = { checkpoint: undefined, records: [] }

  /**
   * A process begins: the book is rebuilt, and the clock measured before anything else. Where there is a lease, only if
   * it is free; a process that had it until then is passed over.
   */
  start(machine = this.#machine): void {
    const taken = this.#leases?.take(machine.place)
    if (this.#leases && !taken) return
    this.hasTakenOver = taken?.isPassedOver === true
    if (taken && (this.isAlive || this.isRetreating)) this.#passOver()
    this.#machine = machine
    machine.readyAt = Number.POSITIVE_INFINITY
    // Orders may have been cancelled there without a record.
    if (taken?.isAbandoned) machine.disk.hasNote = true
    this.#begin(taken)
  }

  #begin(taken: LeaseAsked | undefined): void {
    const { settings, watchers } = this.#options
    this.found = this.#disk.load()
    const { hasNote } = this.#disk
    const book = rebuildBook(this.found, settings.positionMode)
    // As the daemon: no run begins on a state that was proved to be older.
    if (restrictionOf(book, ACCOUNT, 'olderState') !== undefined) return
    const lease = taken && this.#holdLease(taken, () => run)
    const faults = new ProcessFaults({
      time: this.#options.time,
      faults: this.#options.faults,
      goOn: () => run.account.interpreter.resume(),
      isOver: () => run.isOver,
    })
    const run: Run = {
      machine: this.#machine,
      hasNote,
      lease,
      faults,
      batches: new Map(),
      account: new VirtualAccount({
        ...this.#surround(faults, () => run, lease),
        settings: this.#settingsAfter(hasNote),
        book,
      }),
      isOver: false,
      isRetreating: false,
      isDead: false,
    }
    this.#watchWrites(run)
    this.#run = run
    for (const watcher of watchers) watcher.onBirth?.()
    run.account.start()
  }

  /** The process ends without another word; what was not durable is lost. */
  kill(): void {
    if (this.#run && !this.#run.isOver) this.#die(this.#run)
  }

  /** The process dies once so many more effects have been performed, unless it dies earlier. */
  dieAfter(effects: number): void {
    this.#run?.faults.dieAfter(effects)
  }

  /** The process stands still for so long once so many more effects have been performed, and something happens then. */
  stallAfter(effects: number, forMs: number, begun?: () => void): void {
    this.#run?.faults.stallAfter(effects, forMs, begun)
  }

  /** The process stands still from now on, on a machine that sleeps. */
  sleep(forMs: number): void {
    if (this.isAlive) this.#run?.faults.standStill(forMs)
  }

  /** What was appended long ago is on the disk. */
  settleJournal(): void {
    if (this.isAlive) this.#disk.settle()
  }

  /** From now on the process lives until it is told to stop. */
  spare(): void {
    this.#run?.faults.spare()
  }

  /** As the daemon: before the core has begun there is nothing to bring to an end. */
  stop(policy: StopPolicy): void {
    const run = this.#run
    if (run && !run.isOver && !run.account.hasBegun) this.#endUnbegun(run)
    else this.dispatch({ kind: 'commanded', command: { kind: 'stop', policy } })
  }

  /** Whether the process moves, and has its lease. */
  get holdsLease(): boolean {
    return this.isAlive && !this.isStill && this.#run?.lease?.isOver === false
  }

  /** Whether it stands still: what is told it waits. */
  get isStill(): boolean {
    return this.#run?.faults.isStill === true
  }

  dispatch(event: EngineEvent): void {
    const run = this.#run
    if (!run || run.isOver) return
    // As in the daemon, commands wait until the clock is measured; the operator of the worlds writes again.
    const isEarly =
      event.kind === 'commanded' && event.command.kind !== 'kill' && !run.account.hasBegun
    if (isEarly) return
    run.account.dispatch(event)
  }

  #settingsAfter(hasNote: boolean): EngineSettings {
    const { settings } = this.#options
    // What was cancelled without a record may not rest any more, whatever the book says.
    return hasNote ? { ...settings, onRestart: 'cancel', hasRetreated: true } : settings
  }

  /** Everything around one process, with what can go wrong in between. */
  #surround(
    faults: ProcessFaults,
    run: () => Run,
    lease: VirtualLease | undefined,
  ): Omit<VirtualAccountOptions, 'settings' | 'book'> {
    const { time, exchange, network, polling, pageFills, isKilled, strategies } = this.#options
    const disk = this.#disk
    const gate: Gate = {
      get isStill() {
        return faults.isStill
      },
      enter: (happens) => faults.enter(happens),
      settle: (happens) => (run().isRetreating ? happens() : faults.enter(happens)),
    }
    return {
      time,
      exchange,
      network,
      polling,
      pageFills,
      journal: disk,
      createCalls: this.#options.promises && this.#createWiredCalls(this.#options.promises),
      ...(lease &&
        this.#leases?.around(lease, {
          disk,
          isPassedOver: () => run() !== this.#run,
        })),
      clock: this.machineClock,
      hasPreviousRun: true,
      strategies: new Map(
        [...strategies].map(([id, strategy]) => [
          id,
          {
            strategy,
            params: {},
          },
        ]),
      ),
      surroundings: {
        gate,
        interruptions: faults,
        isKilled,
        retreatNote: disk,
        listener: this.#createListener(run),
        announcements: {
          killState: (state) => {
            for (const watcher of this.#watchersOf(run())) watcher.onKillState?.(state)
          },
          stopped: (clean) => this.#end(run(), clean),
          broken: (error) => this.#break(run(), error),
        },
      },
    }
  }

  #createWiredCalls({
    noteBroken: onBroken,
  }: SettledPromises): VirtualAccountOptions['createCalls'] {
    const { faults, settings } = this.#options
    return (options) => createWiredCalls({ ...options, settings, faults, onBroken })
  }

  #createListener(run: () => Run): RunListener {
    const { faults } = this.#options
    return {
      stepped: (step) => this.#look(run(), step),
      recorded: (record, durable) => {
        for (const watcher of this.#watchersOf(run())) watcher.onRecord?.(record, durable)
        if (durable && faults.strikes('slowSync', 'journal')) {
          run().faults.standStill(faults.severity(...SLOW_SYNC_MS))
        }
      },
    }
  }

  #watchWrites(run: Run): void {
    const { exchange, clock } = run.account.ports
    watchWrites(exchange, {
      batch: (body) => {
        const batch = run.batches.get(body)
        if (!batch) throw new Error(`a batch leaves that no step has sent: ${body}`)
        for (const watcher of this.#watchersOf(run)) watcher.onWrite?.(batch, clock.now())
      },
      cancelAll: (body) => {
        if (run.isRetreating)
          for (const watcher of this.#watchersOf(run)) watcher.onRetreatCancel?.(body)
      },
    })
  }

  #look(run: Run, { event, effects, at, thrown }: Step): void {
    const { account, batches } = run
    if (thrown !== undefined) return
    for (const effect of effects) {
      if (effect.kind === 'sendBatch') batches.set(effect.batch.body, effect.batch)
    }
    if (run !== this.#run) return
    // Those of the watchers that look at steps: most do not, and there are thousands of steps.
    this.#stepLooks ??= this.#options.watchers.flatMap((watcher) => watcher.afterStep ?? [])
    for (const look of this.#stepLooks) look(event, effects, at)
    // Between two steps the book is what the journal says.
    if (event.kind === 'timePassed' && effects.length === 0) this.#disk.keep(account.engine.book)
  }

  #break(run: Run, error: unknown): void {
    const { onStop, onOlder } = this.#options
    if (error instanceof JournalPoisoned) this.#retreat(run, onStop)
    else if (onOlder && error instanceof Failure && error.code === 'STATE_OLDER_THAN_EXCHANGE') {
      onOlder(error.message)
      this.#retreat(run, 'cancel')
    } else if (error instanceof ProcessDied || error instanceof LeaseGone) this.#die(run)
    else throw error
  }

  #die(run: Run): void {
    if (run.isDead) return
    run.isDead = true
    run.isOver = true
    run.account.end()
    this.#endLease(run)
    if (run === this.#run) this.#sayDeath()
  }

  #sayDeath(): void {
    for (const watcher of this.#options.watchers) watcher.onDeath?.()
    this.#disk.crash()
  }

  /** Another has the lease. What this run has appended and nobody made durable is its own affair from now on. */
  #passOver(): void {
    if (this.isRetreating) {
      this.isRetreating = false
      for (const watcher of this.#options.watchers) watcher.onRetreated?.('left')
    }
    this.#sayDeath()
    // It wakes when the next one is at its start, or already trades.
    this.#run?.faults.wakeAfter(this.#leases?.drawWaking() ?? 0)
    this.#run = undefined
  }

  /** Nothing is created or decided any more: what rests is left or cancelled, and the process ends. */
  #retreat(run: Run, onStop: StopPolicy): void {
    const { settings, isKilled } = this.#options
    const { account, lease } = run
    run.isOver = true
    run.isRetreating = true
    account.close()
    this.isRetreating = run === this.#run
    const isBarred = () => lease?.objection() !== undefined
    for (const watcher of this.#watchersOf(run)) watcher.onRetreat?.()
    // The core hears no more; what came while the process stood still gives its grants back.
    run.faults.empty()
    new Retreat({
      ports: account.ports,
      // A kill whose record did not reach the disk is a kill.
      policy: isBarred()
        ? 'leave'
        : isKilled() || killOf(account.engine.book) !== undefined
          ? 'cancel'
          : onStop,
      onRestart: this.settings.onRestart,
      instruments: [...settings.instruments.values()],
      isSending: () => account.interpreter.isSending,
      isBarred,
      patienceMs: settings.execution.stopTimeoutMs,
      onEnd: (end) => {
        if (run === this.#run) this.isRetreating = false
        // What has lost its lease on the way has proved nothing, and may not.
        for (const watcher of this.#watchersOf(run))
          watcher.onRetreated?.(isBarred() ? 'left' : end)
        this.#die(run)
      },
    }).start()
  }

  #endUnbegun(run: Run): void {
    try {
      this.#end(run, true)
    } catch (error) {
      if (!(error instanceof ProcessDied)) throw error
      this.kill()
    }
  }

  #end(run: Run, clean: boolean): void {
    if (run.lease?.write() === false) return this.#die(run)
    if (run !== this.#run)
      return this.#leases?.sayStray('one that was passed over has written its end')
    this.#disk.close(run.account.engine.book)
    run.isOver = true
    run.account.end()
    run.lease?.giveBack()
    this.#endLease(run)
    for (const watcher of this.#options.watchers) watcher.onStopped?.(clean)
  }

  /** Nobody, where it was passed over. */
  #watchersOf(run: Run): readonly ProcessWatcher[] {
    return run === this.#run ? this.#options.watchers : []
  }

  #holdLease(taken: LeaseAsked, run: () => Run): VirtualLease | undefined {
    return this.#leases?.hold({
      taken,
      clock: this.machineClock,
      enter: (happens) => (run().isRetreating ? happens() : run().faults.enter(happens)),
      onLost: () => {
        if (!run().isRetreating) this.#die(run())
      },
    })
  }

  #endLease({ lease, machine, isRetreating }: Run): void {
    if (!lease) return
    lease.end()
    this.machines.noteEnd(machine, isRetreating)
  }
}
