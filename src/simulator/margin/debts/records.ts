import { type Decimal } from '../../../lib/decimal.ts'
import { serviceIdText } from '../../shared/order-sequence.ts'
import { modeOf, type LiquidationRecord, type MarginOrder, type BalanceRef } from '../orders/margin-order.ts'
import { type MarginState } from '../margin-state.ts'

/** A forced order that has ended; one that traded nothing leaves no record. */
export function recordForcedOrder(state: MarginState, order: MarginOrder): void {
  const { uid, mode, id, symbol, direction, price, size, filledBase, filledQuote } = order
  if (filledBase.eq('0')) return
  const { createdAt, updatedAt } = order
  state.records.add({
    ...{ type: 'place_order', uid, mode, id, symbol, direction, price, size, filledBase, filledQuote },
    ...{ createdAt, updatedAt },
  })
}

export interface Swap {
  readonly fromCoin: string
  readonly toCoin: string
  readonly fromSize: Decimal
  readonly toSize: Decimal
}

export function recordSwap(state: MarginState, ref: BalanceRef, swap: Swap): void {
  const { now } = state.clock
  const id = serviceIdText(state.ports.sequence.next())
  const owner = { uid: ref.uid, mode: modeOf(ref.balance) }
  state.records.add({ type: 'swap', ...owner, id, ...swap, createdAt: now, updatedAt: now })
}
