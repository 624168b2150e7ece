import { type StrategyId } from '../../src/domain/ids.ts'
import { type PositionMode } from '../../src/domain/instrument.ts'
import { type StopPolicy } from '../../src/engine/event.ts'
import { type CoreSettings } from '../../src/simulator/core/settings.ts'
import { type Strategy } from '../../src/strategy/define-strategy.ts'
import { type FaultRates } from './virtual-faults.ts'

/** What a world is made of. Follows from its seed alone; a test may change any part of it. */
export interface WorldPlan {
  readonly seed: string
  readonly positionMode: PositionMode
  readonly symbols: readonly string[]
  readonly strategies: ReadonlyMap<
    StrategyId,
    { readonly strategy: Strategy; readonly symbols: readonly string[] }
  >
  readonly core: Partial<CoreSettings>
  readonly faults: FaultRates
  /** How many effects a process lives for, about; infinite for one that does not die. */
  readonly lifeEffects: number
  readonly skewMs: number
  readonly pageFills: number
  readonly onRestart: 'fence' | 'adopt'
  readonly stop: StopPolicy
  readonly faultyMs: number
  readonly moveTicks: number
  /** Whether a second core runs along and must say the same (DET1). */
  readonly hasTwin: boolean
}
