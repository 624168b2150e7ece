import { ACCOUNT } from '../../../src/domain/trading-mode.ts'
import { killOf, restrictionOf } from '../../../src/engine/book/book.ts'
import { Failure } from '../../../src/lib/failure.ts'
import { VirtualAccount, type VirtualAccountOptions } from '../../../src/backtest/backtest.ts'
import type { VirtualPolling } from '../../../src/backtest/virtual-pollers.ts'
import type { VirtualTime } from '../../../src/backtest/virtual-time.ts'
import type { Gate } from '../../../src/backtest/virtual-wire.ts'
import type { StrategyId } from '../../../src/domain/ids.ts'
import { rebuildBook } from '../../../src/engine/book/book-rows.ts'
import type { OutgoingBatch } from '../../../src/engine/effect.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import type { EngineEvent, StopPolicy } from '../../../src/engine/event.ts'
import type { EngineSettings } from '../../../src/engine/settings.ts'
import { copyRoster } from '../../../src/engine/state/roster.ts'
import type { RunListener, Step } from '../../../src/interpreter/ports.ts'
import { Retreat } from '../../../src/interpreter/retreat.ts'
import type { JournalContents } from '../../../src/journal/journal.ts'
import type { Strategy } from '../../../src/strategy/define-strategy.ts'
import type { MachineClock } from '../faults/machine-clock.ts'
import { ProcessDied, ProcessFaults } from '../faults/process-faults.ts'
import type { VirtualFaults } from '../faults/virtual-faults.ts'
import type { ProcessWatcher } from './process-watcher.ts'
import { watchWrites } from './watch-writes.ts'
import type { LossyJournal } from '../virtual/lossy-journal.ts'
import { JournalPoisoned, type VirtualDisk } from '../virtual/virtual-disk.ts'
import type { VirtualExchange } from '../virtual/virtual-exchange.ts'
import type { VirtualNetwork } from '../virtual/virtual-network.ts'
import type { LeaseAsked } from '../takeovers/lease-server.ts'
import { LeaseGone } from '../takeovers/leased-journal.ts'
import { Leases } from '../takeovers/leases.ts'
import { type Machine, Machines } from '../takeovers/machines.ts'
import type { VirtualLease } from '../takeovers/virtual-lease.ts'
import type { SettledPromises } from '../wire/settled-promises.ts'
import { createWiredCalls } from '../wire/wired-calls.ts'

type StepLook = NonNullable<ProcessWatcher['afterStep']>

/** Delay of a durable record on a slow disk. */
const SLOW_SYNC_MS = [5, 2500] as const

/** The environment of consecutive processes. */
export interface VirtualProcessOptions {
  readonly time: VirtualTime
  readonly exchange: VirtualExchange
  readonly network: VirtualNetwork
  readonly faults: VirtualFaults
  readonly settings: EngineSettings
  readonly strategies: ReadonlyMap<StrategyId, Strategy>
  readonly polling: VirtualPolling
  /** Rows of a full page: few, so that pages race with fills. */
  readonly pageFills: number
  /**
   * For each machine, lead of its clock in ms, and its error in ppm. Several machines compete for a
   * lease.
   */
  readonly clocks: readonly { readonly skewMs: number; readonly driftPpm: number }[]
  /** Policy for resting orders at a forced end. */
  readonly onStop: StopPolicy
  /** Nothing can be written at present. */
  readonly isDiskFull: () => boolean
  /** The kill file exists. */
  readonly isKilled: () => boolean
  readonly watchers: readonly ProcessWatcher[]
  /** The state is older than the exchange: the run ends. Absent: that is a defect. */
  readonly onOlder?: ((proof: string) => void) | undefined
  /** The journal keeps used keys like the daemon's, not in memory. */
  readonly hasStoredKeys?: boolean
  /** Completes promises of the daemon's own client; absent: worlds have their own client. */
  readonly promises?: SettledPromises | undefined
}

/** Everything that dies with the process. */
interface Run {
  readonly machine: Machine
  readonly lease: VirtualLease | undefined
  /** An earlier run cancelled without a record. */
  readonly hasNote: boolean
  readonly account: VirtualAccount
  readonly faults: ProcessFaults
  /** Keyed by bytes: batches sent or about to be. */
  readonly batches: Map<string, OutgoingBatch>
  isOver: boolean
  isRetreating: boolean
  isDead: boolean
}

/**
 * An account in virtual time, run by a process that can die or stand still between any two effects;
 * {@link start} begins a new one on the kept journal. With several machines a standing run may be
 * passed over: another becomes the process, and the former lives on unheard until it ends by
 * itself.
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

  /** Clock of the process's present or last machine: it may be set. */
  get machineClock(): MachineClock {
    return this.#machine.clock
  }

  get #disk(): VirtualDisk {
    return this.#machine.disk
  }

  get journal(): LossyJournal {
    return this.#disk.journal
  }

  /** A process exists; the core of an ended one is still readable. */
  get isAlive(): boolean {
    return this.#run?.isOver === false
  }

  get engine(): Engine | undefined {
    return this.#run?.account.engine
  }

  /** A process without a journal is about to end. */
  isRetreating = false

  /** Settings of the present or last process. */
  get settings(): EngineSettings {
    return copyRoster(this.#settingsAfter(this.#run?.hasNote === true))
  }

  /**
   * The process got the lease because another's time was over, which may have acted without a
   * record.
   */
  hasTakenOver = false

  /** Journal content that the present or last process found. */
  found: JournalContents = { checkpoint: undefined, records: [] }

  /**
   * Begins a process: the book is rebuilt, and the clock measured first. With leases only if it is
   * free; a process that had it is passed over.
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
    // Like the daemon: no run begins on a state proved to be older.
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
        ...this.#buildEnvironment(faults, () => run, lease),
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

  /** Ends the process at once; non-durable records are lost. */
  kill(): void {
    if (this.#run && !this.#run.isOver) this.#die(this.#run)
  }

  /** Dies after this many further effects, or earlier. */
  dieAfter(effects: number): void {
    this.#run?.faults.dieAfter(effects)
  }

  /** Stands still for this long after so many further effects, and calls `begun`. */
  stallAfter(effects: number, forMs: number, begun?: () => void): void {
    this.#run?.faults.stallAfter(effects, forMs, begun)
  }

  /** Stands still from now on, on a sleeping machine. */
  sleep(forMs: number): void {
    if (this.isAlive) this.#run?.faults.standStill(forMs)
  }

  /** Records appended long ago are on the disk. */
  settleJournal(): void {
    if (this.isAlive) this.#disk.settle()
  }

  /** From now on the process lives until it is told to stop. */
  spare(): void {
    this.#run?.faults.spare()
  }

  /** Like the daemon: before the core has begun nothing needs an end. */
  stop(policy: StopPolicy): void {
    const run = this.#run
    if (run && !run.isOver && !run.account.hasBegun) this.#endUnbegun(run)
    else this.dispatch({ kind: 'commanded', command: { kind: 'stop', policy } })
  }

  /** The process moves and has its lease. */
  get holdsLease(): boolean {
    return this.isAlive && !this.isStill && this.#run?.lease?.isOver === false
  }

  /** While it stands still, input waits. */
  get isStill(): boolean {
    return this.#run?.faults.isStill === true
  }

  dispatch(event: EngineEvent): void {
    const run = this.#run
    if (!run || run.isOver) return
    // Like in the daemon, commands wait until the clock is measured; the worlds' operator repeats
    // them.
    const isEarly =
      event.kind === 'commanded' && event.command.kind !== 'kill' && !run.account.hasBegun
    if (isEarly) return
    run.account.dispatch(event)
  }

  #settingsAfter(hasNote: boolean): EngineSettings {
    const { settings } = this.#options
    // Orders cancelled without a record may be gone, whatever the book says.
    return hasNote ? { ...settings, onRestart: 'cancel', hasRetreated: true } : settings
  }

  /** The environment of one process, with its faults. */
  #buildEnvironment(
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
      environment: {
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
    // Watchers of steps only, since there are thousands of steps.
    this.#stepLooks ??= this.#options.watchers.flatMap((watcher) => watcher.afterStep ?? [])
    for (const look of this.#stepLooks) look(event, effects, at)
    // Between two steps the book equals the journal.
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

  /** Another run has the lease. Non-durable records of this one stay its own from now on. */
  #passOver(): void {
    if (this.isRetreating) {
      this.isRetreating = false
      for (const watcher of this.#options.watchers) watcher.onRetreated?.('left')
    }
    this.#sayDeath()
    // It wakes when the next one starts, or already trades.
    this.#run?.faults.wakeAfter(this.#leases?.drawWaking() ?? 0)
    this.#run = undefined
  }

  /** Nothing is created or decided: resting orders are left or cancelled, and the process ends. */
  #retreat(run: Run, onStop: StopPolicy): void {
    const { settings, isKilled } = this.#options
    const { account, lease } = run
    run.isOver = true
    run.isRetreating = true
    account.close()
    this.isRetreating = run === this.#run
    const isBarred = () => lease?.objection() !== undefined
    for (const watcher of this.#watchersOf(run)) watcher.onRetreat?.()
    // The core gets nothing more; input during a standstill returns its grants.
    run.faults.empty()
    new Retreat({
      ports: account.ports,
      // A kill counts even if its record did not reach the disk.
      policy: isBarred()
        ? 'leave'
        : isKilled() || killOf(account.engine.book) !== undefined
          ? 'cancel'
          : onStop,
      onRestart: this.settings.onRestart,
      instruments: [...account.engine.settings.instruments.values()],
      isSending: () => account.interpreter.isSending,
      isBarred,
      patienceMs: settings.execution.stopTimeoutMs,
      onEnd: (end) => {
        if (run === this.#run) this.isRetreating = false
        // A run that lost its lease on the way has proved nothing.
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

  /** Empty if it was passed over. */
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
