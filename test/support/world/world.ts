import { type TradingMode } from '../../../src/domain/trading-mode.ts'
import { type JournalRecord } from '../../../src/domain/record.ts'
import { type OutgoingBatch } from '../../../src/engine/effect.ts'
import { type EngineSettings } from '../../../src/engine/settings.ts'
import { type BatchPlaceRequest } from '../../../src/protocol/futures/batch-place-order.ts'
import { type AccountAllocation } from '../invariants/account-allocation.ts'
import { type VirtualExchange } from '../virtual/virtual-exchange.ts'
import { type VirtualFaults } from '../faults/virtual-faults.ts'
import { type Quiet } from '../months/quiet.ts'
import { type VirtualNetwork } from '../virtual/virtual-network.ts'
import { type ProcessWatcher } from './process-watcher.ts'
import { type VirtualProcess } from './virtual-process.ts'
import { type VirtualTime } from '../../../src/backtest/virtual-time.ts'
import { type WorldPlan } from './world-plan.ts'

export interface Violation {
  readonly id: string
  /** Unix ms, exchange clock. */
  readonly at: number
  readonly detail: string
}

/** Facts about the copy, for the checkers. */
export interface CopyFacts {
  /** The names that the journal in use has sent. */
  readonly known: ReadonlySet<string>
  /** Unix ms, exchange clock: when the run on the copy began. */
  readonly bornAt: number
  /** Proof with which the run on the copy ended. */
  proof: string | undefined
  isRepaired: boolean
  /** Whether the daemon traded before its last stop. */
  isTradingLast: boolean
}

/** A world while it runs. */
export interface World {
  readonly plan: WorldPlan
  readonly settings: EngineSettings
  readonly time: VirtualTime
  readonly process: VirtualProcess
  readonly exchange: VirtualExchange
  readonly network: VirtualNetwork
  readonly faults: VirtualFaults
  /** Hours and days of a world that lasts for months. */
  readonly quiet: Quiet
  readonly violations: Violation[]
  /** Whose what the account holds is. */
  readonly allocation: AccountAllocation
  readonly facts: {
    /** Keyed by clientOid: whose order it is. */
    readonly strategyOf: Map<string, string>
    /** Keyed by scope: what is halted, as the journal has it, and since when (Unix ms, exchange clock). */
    readonly halted: Map<
      string,
      { readonly mode: TradingMode; readonly reason: string; readonly at: number }
    >
    /** Fills of others on whose account an instrument was halted, by `fillKey`. */
    readonly answered: Set<string>
    /** The fills of the process's journal, those that its book has forgotten too, by `fillKey`. */
    readonly booked: Set<string>
    /** Keyed by strategy and key: what the process's journal has placed by name, whatever its book has forgotten. */
    readonly placed: Set<string>
    /** OrderIds whose fills the process's journal calls those of another program. */
    readonly disowned: Set<string>
    /** Everything that was ever recorded, lost or not. */
    readonly records: JournalRecord[]
    /** What was entered as capital, less what was withdrawn, by the journal. */
    deposited: number
    isCalm: boolean
    /** Nobody looks at what is halted. */
    isUnattended: boolean
    /** Where an older copy of the journal was put back. */
    copy: CopyFacts | undefined
    isStopping: boolean
    /** The stop that goes on is the one that ends the world. */
    isLastStop: boolean
    /** Unix ms, exchange clock. */
    diskFullUntil: number
    /** Unix ms, exchange clock, when the process is started again that ended last. */
    downUntil: number
    /** Unix ms, exchange clock: before that no process is started again. */
    restUntil: number
    /** Unix ms, exchange clock, since when the kill file is there; undefined when it is not. */
    killedAt: number | undefined
    /** How the stop ended; undefined while it goes on. */
    stoppedClean: boolean | undefined
  }
}

export interface WorldWatcher extends ProcessWatcher {
  /** The world has come to its end. */
  atEnd?(): void
}

/** Something that always holds, by its number in ARCHITECTURE.md. */
export interface Invariant {
  readonly id: string
  readonly watch: (world: World) => WorldWatcher
}

/** Whether the process knows of a fill (by `fillKey`), or did before its book forgot it. */
export function isKnownFill({ process, facts }: World, key: string): boolean {
  return facts.booked.has(key) || (process.engine?.book.trades.has(key) ?? false)
}

/** Those that the account has now: rules may choose them. */
export function symbolsNow({ process, plan }: World): readonly string[] {
  const { engine } = process
  return plan.universe && engine ? [...engine.settings.instruments.keys()] : plan.symbols
}

export function violate(world: World, id: string, detail: string): void {
  world.violations.push({ id, at: world.time.now, detail })
}

/** What equity is counted from; NaN where that is not configured. */
export function capitalOf({ settings, facts }: Pick<World, 'settings' | 'facts'>): number {
  return Number(settings.capital?.toString()) + facts.deposited
}

const BODIES = new WeakMap<OutgoingBatch, BatchPlaceRequest>()

/** A batch as on the wire. */
export function bodyOf(batch: OutgoingBatch): BatchPlaceRequest {
  const known = BODIES.get(batch)
  if (known) return known
  const body = JSON.parse(batch.body) as BatchPlaceRequest
  BODIES.set(batch, body)
  return body
}
