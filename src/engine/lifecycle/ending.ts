import type { StopPolicy } from '../event.ts'
import { isUnreadable, refusalOfInstrument } from '../resolution/unreadable.ts'
import type { Core, InstrumentState } from '../state/core.ts'
import type { KillState, StopState } from '../state/run-state.ts'
import { isKilling } from '../state/trading-mode.ts'
import { unprovedByKill } from './kill.ts'
import { unprovedByStop } from './stop.ts'

export interface Ending {
  readonly kind: 'kill' | StopPolicy
  /**
   * `closing`: a flattening stop has not closed everything · `killing`: it waits for a kill's
   * proof.
   */
  readonly phase: KillState['phase'] | StopState['phase'] | 'closing' | 'killing'
  /** Keyed by symbol, why it cannot be proved yet; empty: it takes its time. */
  readonly unproved: ReadonlyMap<string, string>
}

export function listEndings(core: Core): readonly Ending[] {
  const { kill, stop, flatBeforeStop, phase } = core.run
  if (kill && isKilling(core)) {
    const { stopAskedAt, stopPolicy } = kill
    const unproved = toReasons(core, unprovedByKill(core))
    return [
      ...(kill.phase === 'clean' ? [] : [{ kind: 'kill', phase: kill.phase, unproved } as const]),
      ...(stopAskedAt === undefined
        ? []
        : [{ kind: stopPolicy, phase: 'killing', unproved: NONE } as const]),
    ]
  }
  const unproved = (): Ending['unproved'] => toReasons(core, unprovedByStop(core))
  if (stop && phase === 'stopping')
    return [{ kind: stop.policy, phase: stop.phase, unproved: unproved() }]
  return flatBeforeStop === undefined || phase === 'stopped'
    ? []
    : [{ kind: 'flatten', phase: 'closing', unproved: unproved() }]
}

const NONE: Ending['unproved'] = new Map()

function toReasons(core: Core, instruments: readonly InstrumentState[]): Ending['unproved'] {
  return new Map(instruments.map((one) => [one.symbol, reasonOf(core, one)]))
}

function reasonOf(core: Core, instrument: InstrumentState): string {
  const { symbol, resolution } = instrument
  const refused = refusalOfInstrument(core, instrument) ?? resolution?.refusal ?? ''
  return refused === '' && isUnreadable(core, symbol) ? 'its readings cannot be read' : refused
}
