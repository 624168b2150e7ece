import type { ClientOid } from '../domain/ids.ts'
import type { Instrument, PositionMode } from '../domain/instrument.ts'
import type { OrderIntent } from '../domain/intent.ts'
import type { Order } from '../domain/order.ts'
import type { Holding } from '../domain/position.ts'

/** An order that should be placed now, if risk approves: a new one, or one that waits to be sent again. */
export interface Candidate {
  readonly intent: OrderIntent
  /** The waiting order that is sent again, unchanged; absent for a new order. */
  readonly again?: ClientOid
  /** Whether it is reduced if less than its size is left to close (`risk/approve.ts`). */
  readonly isCut?: true
}

/** The input of a plan for a ladder or a target. */
export interface PlanInput {
  readonly strategyId: string
  readonly instrument: Instrument
  readonly positionMode: PositionMode
  /** The strategy's own orders of the purpose on the instrument. */
  readonly orders: readonly Order[]
  /** The strategy's position in the instrument. */
  readonly holding: Holding
  /** The ordinal in the key of the first new order; further ones count up. Each is used once. */
  readonly ordinal: number
  /** Unix ms, our clock: no order of the plan is sent later. */
  readonly deadlineAt: number
}
