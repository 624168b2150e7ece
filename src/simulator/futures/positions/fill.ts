import type { Decimal } from '../../../lib/decimal.ts'
import type { Direction } from '../../matching/book-order.ts'

export interface Fill {
  /** Position in the exchange's sequence of trades. */
  readonly sequence: number
  /** The sequence of the fill just before it, whose id it has: they are the two sides of a self-trade. Absent: its own. */
  readonly idSequence?: number
  readonly uid: string
  readonly symbol: string
  readonly orderSequence: number
  readonly priceTicks: number
  readonly lots: number
  /** How it traded: `buy` adds to the account's net size, `sell` takes from it. */
  readonly direction: Direction
  /** The wire's side and trade side, fixed when it happened. */
  readonly side: Direction
  readonly tradeSide: string
  readonly tradeScope: 'taker' | 'maker'
  readonly source: 'API' | 'SYS'
  /** Margin coin, positive when paid: exactly what was booked. */
  readonly fee: Decimal
  /** The fee that was taken in another coin instead. Amount: a decimal as text. */
  readonly otherFee?: { readonly coin: string; readonly amount: string }
  /** Margin coin: exactly what was booked; zero when it opened. */
  readonly profit: Decimal
  readonly at: number
}
