import { type Decimal } from '../../../lib/decimal.ts'
import { countFirst } from '../../shared/history-page.ts'
import { serviceIdText } from '../../shared/order-sequence.ts'
import { modeOf, type LiquidationRecord, type MarginOrder, type BalanceRef } from '../orders/margin-order.ts'
import { LIQUIDATION_RECORDS } from '../margin-rows.ts'
import { accountOf, type MarginState } from '../margin-state.ts'

/** A forced order that has ended; one that traded nothing leaves no record. */
export function recordForcedOrder(state: MarginState, order: MarginOrder): void {
  const { uid, mode, id, symbol, direction, price, size, filledBase, filledQuote } = order
  if (filledBase.eq('0')) return
  const { createdAt, updatedAt } = order
  keep(state, {
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
  keep(state, { type: 'swap', ...owner, id, ...swap, createdAt: now, updatedAt: now })
}

function keep(state: MarginState, record: LiquidationRecord): void {
  const records = accountOf(state, record.uid).records[record.mode]
  // By their ids, which are older than their ends: pages are cut by them.
  records.splice(
    countFirst(records, ({ id }) => id < record.id),
    0,
    record,
  )
  state.ports.rows.put(LIQUIDATION_RECORDS, record)
  while (records.length > state.settings.recordsMax) {
    const oldest = records.shift()
    if (oldest !== undefined) state.ports.rows.drop(LIQUIDATION_RECORDS, oldest)
  }
}
