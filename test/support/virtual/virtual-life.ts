import { type StrategyId } from '../../../src/domain/ids.ts'
import { type Effect } from '../../../src/engine/effect.ts'
import { type Engine } from '../../../src/engine/engine.ts'
import { type EngineEvent, type StopPolicy } from '../../../src/engine/event.ts'
import { type EngineSettings } from '../../../src/engine/settings.ts'
import { type Strategy } from '../../../src/strategy/define-strategy.ts'
import { type StrategyRunner } from '../../../src/strategy/strategy-runner.ts'
import { type ShellWatcher } from './shell-watcher.ts'
import { type Standstill } from '../faults/standstill.ts'
import { type VirtualOrderSender } from './virtual-order-sender.ts'
import { type VirtualExchange } from './virtual-exchange.ts'
import { type VirtualFaults } from '../faults/virtual-faults.ts'
import { type VirtualGround } from './virtual-ground.ts'
import { type VirtualNetwork } from './virtual-network.ts'
import { type VirtualPolling } from './virtual-pollers.ts'
import { type VirtualReader } from './virtual-reader.ts'
import { type VirtualTime } from './virtual-time.ts'

/** What processes live on, one after the other. */
export interface VirtualShellOptions {
  readonly time: VirtualTime
  readonly exchange: VirtualExchange
  readonly network: VirtualNetwork
  readonly faults: VirtualFaults
  readonly settings: EngineSettings
  readonly strategies: ReadonlyMap<StrategyId, Strategy>
  readonly polling: VirtualPolling
  readonly pageFills: number
  /** How far our clock is ahead of the exchange's, ms. */
  readonly skewMs: number
  /** By how much it is too quick, in millionths. */
  readonly driftPpm: number
  /** What a process does with what rests when it must end. */
  readonly onStop: StopPolicy
  /** Whether nothing can be written just now. */
  readonly isDiskFull: () => boolean
  /** Whether the kill file is there. */
  readonly isKilled: () => boolean
  readonly watchers: readonly ShellWatcher[]
}

/** Everything that dies with the process. */
export interface Life {
  /** A life before this one cancelled without a record. */
  readonly hasNote: boolean
  readonly engine: Engine
  readonly runners: ReadonlyMap<StrategyId, StrategyRunner>
  readonly reader: VirtualReader
  readonly ground: VirtualGround
  readonly sender: VirtualOrderSender
  readonly queue: EngineEvent[]
  /** What is heard a second time. */
  repeated: EngineEvent | undefined
  /** Effects of the last step that are not performed yet. */
  readonly effects: Effect[]
  readonly standstill: Standstill
  /** So many effects from now the process stands still, for so long. */
  stallIn: { effects: number; readonly forMs: number } | undefined
  effectsLeft: number
  hasBegun: boolean
  isBusy: boolean
  isOver: boolean
}
