import type { ClientOid } from '../domain/ids.ts'
import type { Instrument, PositionMode } from '../domain/instrument.ts'
import type { OrderIntent } from '../domain/intent.ts'
import type { Order } from '../domain/order.ts'
import type { Holding } from '../domain/position.ts'

/** To be placed now if risk approves: new, or sent again. */
export interface Candidate {
  readonly intent: OrderIntent
  /** The waiting order that is sent again, unchanged. */
  readonly again?: ClientOid
  /** Reduced to what is left to close (`risk/approve.ts`). */
  readonly isCut?: true
}

export interface PlanInput {
  readonly strategyId: string
  readonly instrument: Instrument
  readonly positionMode: PositionMode
  readonly orders: readonly Order[]
  readonly holding: Holding
  /** In the key of the first new order; further ones count up, each once. */
  readonly ordinal: number
  /** Unix ms, our clock. */
  readonly deadlineAt: number
}
