import { type EngineEvent } from '../../../src/engine/event.ts'
import { type TrustedClock } from '../../../src/exchange/clock/trusted-clock.ts'
import { type Clock } from '../../../src/lib/clock.ts'
import { type VirtualLimiter } from './virtual-limiter.ts'
import { type VirtualCall } from './virtual-network.ts'

/** What the parts of one process share; all of it ends with the process. */
export interface VirtualGround {
  /** Our machine's clock as it was when the process began: it does not step with it. */
  readonly clock: Clock
  /** The same, with the exchange's as far as answers have shown it, and whether both are sure. */
  readonly trusted: TrustedClock
  readonly limiter: VirtualLimiter
  /** Something reaches the process: at once, or when it moves again; never once it is dead. */
  readonly enter: (happens: () => void) => void
  readonly dispatch: (event: EngineEvent) => void
  readonly isOver: () => boolean
  /** Whether it stands still. */
  readonly isStalled: () => boolean
  /** Tells the core of the kill file, where that is new. */
  readonly lookForKill: () => void
}

/** What every call of a process has in common. */
export function callOf({ clock, trusted }: VirtualGround): Pick<VirtualCall<unknown>, 'ourNow' | 'onTime'> {
  return { ourNow: () => clock.now(), onTime: (sample) => trusted.offset.observe(sample) }
}
