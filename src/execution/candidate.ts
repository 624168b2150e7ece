import { type ClientOid } from '../domain/ids.ts'
import { type Instrument, type PositionMode } from '../domain/instrument.ts'
import { type OrderIntent } from '../domain/intent.ts'
import { type Order } from '../domain/order.ts'
import { type Holding } from '../domain/position.ts'

/** An order that should be placed now, if risk agrees: a new one, or one that waits to be sent again. */
export interface Candidate {
  readonly intent: OrderIntent
  /** The waiting order that this sends again, unchanged; absent for a new order. */
  readonly again?: ClientOid
}

/** What orders are planned from, whichever way. */
export interface PlanInput {
  readonly strategyId: string
  readonly instrument: Instrument
  readonly positionMode: PositionMode
  /** The strategy's own of that purpose on the instrument. */
  readonly orders: readonly Order[]
  /** The strategy's own. */
  readonly holding: Holding
  /** Names the first new order, the next one follows: an ordinal is used once. */
  readonly ordinal: number
  /** Unix ms, our clock: nothing of it is sent later. */
  readonly deadlineAt: number
}
