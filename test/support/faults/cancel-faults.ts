import { type CancelAllRequest } from '../../../src/protocol/futures/cancel-all-orders.ts'
import { type BatchResult } from '../../../src/protocol/values.ts'
import { cancelAll } from '../../../src/simulator/futures/orders/cancel-orders.ts'
import { accountOf, type CoreState } from '../../../src/simulator/futures/core-state.ts'
import { type ExchangeCore } from '../../../src/simulator/futures/exchange-core.ts'
import { cancelOrder } from '../../../src/simulator/futures/orders/order-lifecycle.ts'
import { type FuturesOrder, orderIdText } from '../../../src/simulator/futures/orders/order.ts'
import { accept, type Reply } from '../../../src/simulator/shared/reply.ts'
import { type VirtualFaults } from './virtual-faults.ts'
import { type VirtualTime } from '../../../src/backtest/virtual-time.ts'

export interface FaultyCancel {
  readonly core: ExchangeCore
  readonly uid: string
  readonly request: CancelAllRequest
  readonly time: VirtualTime
  readonly faults: VirtualFaults
}

/**
 * How long an order that was called cancelled may still be filled, within the assumed matching lag
 * (A4).
 */
const LINGERS_MS = [1, 140] as const

/**
 * A cancel-all that leaves some orders and says so, and takes its time with others without saying
 * so.
 */
export function cancelInPart({
  core,
  uid,
  request,
  time,
  faults,
}: FaultyCancel): Reply<BatchResult> {
  return core.carryOut(time.now, (state) => {
    const met = [...accountOf(state, uid).openOrders.values()].filter(
      ({ symbol }) => request.symbol === undefined || symbol === request.symbol,
    )
    const skipped = met.filter(() => faults.strikes('cancelSkipped', 'item'))
    const lingering = met.filter((order) => {
      const lingers = !skipped.includes(order) && faults.strikes('cancelLingers', 'item')
      if (lingers) endLater({ core, time, order, delayMs: faults.severity(...LINGERS_MS) })
      return lingers
    })
    if (skipped.length + lingering.length === 0) return cancelAll(state, { uid }, request)
    return accept(cancelOthers(state, { met, skipped, lingering }))
  })
}

function endLater({
  core,
  time,
  order,
  delayMs,
}: Pick<FaultyCancel, 'core' | 'time'> & {
  readonly order: FuturesOrder
  readonly delayMs: number
}): void {
  time.after(delayMs, () => core.carryOut(time.now, (state) => cancelOrder(state, order, 'user')))
}

function cancelOthers(
  state: CoreState,
  {
    met,
    skipped,
    lingering,
  }: Readonly<Record<'met' | 'skipped' | 'lingering', readonly FuturesOrder[]>>,
): BatchResult {
  const result: BatchResult = { successList: [], failureList: [] }
  for (const order of met) {
    const ids = { orderId: orderIdText(order.sequence), clientOid: order.clientOid }
    if (skipped.includes(order)) {
      result.failureList.push({
        ...ids,
        errorMsg: 'Concurrent operation failed',
        errorCode: '40908',
      })
      continue
    }
    if (!lingering.includes(order)) cancelOrder(state, order, 'user')
    result.successList.push(ids)
  }
  return result
}
