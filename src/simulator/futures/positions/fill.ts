import type { Decimal } from '../../../lib/decimal.ts'
import type { Direction } from '../../matching/book-order.ts'

export interface Fill {
  /** Number in the exchange's sequence of trades. */
  readonly sequence: number
  /**
   * In a self-trade, the sequence of the fill just before it, whose id both sides have. Absent: its
   * own.
   */
  readonly idSequence?: number
  readonly uid: string
  readonly symbol: string
  readonly orderSequence: number
  readonly priceTicks: number
  readonly lots: number
  /** Direction of the trade: `buy` adds to the account's net size, `sell` reduces it. */
  readonly direction: Direction
  /** Wire side and trade side at the time of the fill. */
  readonly side: Direction
  readonly tradeSide: string
  readonly tradeScope: 'taker' | 'maker'
  readonly source: 'API' | 'SYS'
  /** The exact fee booked, in the margin coin; positive when paid. */
  readonly fee: Decimal
  /** A fee taken in another coin instead. The amount is a decimal as text. */
  readonly otherFee?: { readonly coin: string; readonly amount: string }
  /** The exact profit booked, in the margin coin; zero for an opening fill. */
  readonly profit: Decimal
  readonly at: number
}
