import { type Decimal } from '../../lib/decimal.ts'
import { countFirst } from '../history-page.ts'
import { serviceIdText } from '../wallet/order-sequence.ts'
import {
  modeOf,
  balanceRefOf,
  type LiquidationRecord,
  type MarginOrder,
  type BalanceRef,
} from './margin-order.ts'
import { dropRecord, putRecord } from './margin-rows.ts'
import { accountOf, type MarginState } from './margin-state.ts'

/** A forced order that has ended; one that traded nothing leaves no record. */
export function recordForcedOrder(state: MarginState, order: MarginOrder): void {
  const { id, symbol, direction, price, base, filledBase, filledQuote, createdAt, updatedAt } = order
  if (price === undefined || base === undefined || filledBase.eq('0')) return
  const times = { createdAt, updatedAt }
  keep(state, balanceRefOf(order), {
    ...{ type: 'place_order', id, symbol, direction, price, size: base, filledBase, filledQuote },
    ...times,
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
  keep(state, ref, { type: 'swap', id, ...swap, createdAt: now, updatedAt: now })
}

function keep(state: MarginState, ref: BalanceRef, record: LiquidationRecord): void {
  const place = { uid: ref.uid, mode: modeOf(ref.balance) }
  const records = accountOf(state, ref.uid).records[place.mode]
  // By their ids, which are older than their ends: pages are cut by them.
  records.splice(
    countFirst(records, ({ id }) => id < record.id),
    0,
    record,
  )
  putRecord(state, place, record)
  while (records.length > state.settings.recordsMax) {
    const oldest = records.shift()
    if (oldest !== undefined) dropRecord(state, place, oldest)
  }
}
