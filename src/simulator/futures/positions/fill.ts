import type { Decimal } from '../../../lib/decimal.ts'
import type { Direction } from '../../matching/book-order.ts'

export interface FuturesFill {
  readonly sequence: number
  /** Both sides of a self-trade have the id of the fill just before. */
  readonly idSequence?: number
  readonly uid: string
  readonly symbol: string
  readonly orderSequence: number
  readonly priceTicks: number
  readonly lots: number
  readonly direction: Direction
  readonly side: Direction
  readonly tradeSide: string
  readonly tradeScope: 'taker' | 'maker'
  readonly source: 'API' | 'SYS'
  /** Margin coin; positive when paid. */
  readonly fee: Decimal
  readonly otherFee?: { readonly coin: string; readonly amount: string }
  readonly profit: Decimal
  readonly at: number
}
