import { type ClientOid } from '../domain/ids.ts'
import { type OrderIntent } from '../domain/intent.ts'

/** An order that should be placed now, if risk agrees: a new one, or one that waits to be sent again. */
export interface Candidate {
  readonly intent: OrderIntent
  /** The waiting order that this sends again, unchanged; absent for a new order. */
  readonly again?: ClientOid
}
