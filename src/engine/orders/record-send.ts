import { buildBatchRequest } from '../../execution/batch-request.ts'
import { type OrderTerms } from '../../domain/order.ts'
import { type AccountCall } from '../../domain/account-call.ts'
import { type Approved, type Recorded } from '../../domain/proofs.ts'
import { type Core, exchangeNow, specOf, record } from '../state/core.ts'
import { type OutgoingBatch, type OutgoingCall } from '../effect.ts'
import { type InstrumentState } from '../state/instrument-state.ts'
import { freshUntil, sightOf } from '../state/market-view.ts'

/**
 * The horizon is counted from the record of a batch, and the exchange counts from its signature: between the two
 * lies a tenth of the horizon at most, however long the disk takes or the process stands still. Later it does not
 * leave. By default 3.5 s of 35, of which the exchange's tolerance takes 30 (A1).
 */
const SIGNED_WITHIN = 10

/** An approved order under the name that it carries for ever. */
export interface BatchOrder {
  readonly terms: OrderTerms
  /** It was sent before: the terms are the old ones. */
  readonly isAgain: boolean
  /** Unix ms, our clock: not sent later than this. */
  readonly deadlineAt: number
}

/**
 * Writes a batch down, bytes and all, before anybody may send it (ORD1). The one place that makes a
 * `Recorded<OutgoingBatch>`. It is good for as long as its shortest-lived order, and the prices (MKT1).
 */
export function recordSend(
  core: Core,
  instrument: InstrumentState,
  orders: readonly BatchOrder[],
): Recorded<OutgoingBatch> {
  const batchId = core.book.batchId + 1
  const waitedMs = core.now - (instrument.wantsBatchSince ?? core.now)
  const terms = orders.map((order) => order.terms)
  const body = JSON.stringify(buildBatchRequest(core.settings, specOf(core, instrument.symbol), terms))
  record(
    core,
    {
      kind: 'send',
      at: core.now,
      batchId,
      symbol: instrument.symbol,
      orders: orders.filter((order) => !order.isAgain).map((order) => order.terms),
      again: orders.filter((order) => order.isAgain).map((order) => order.terms.clientOid),
      requestAt: exchangeNow(core),
      body,
      seen: { snapshot: core.snapshots, market: sightOf(core, instrument.symbol), waitedMs },
    },
    true,
  )
  const batch: OutgoingBatch = {
    batchId,
    symbol: instrument.symbol,
    clientOids: terms.map(({ clientOid }) => clientOid),
    body,
    validUntilAt: Math.min(
      freshUntil(core, instrument.symbol),
      core.now + core.settings.execution.acceptanceWindowMs / SIGNED_WITHIN,
      ...orders.map((order) => order.deadlineAt),
    ),
  }
  return batch as Recorded<OutgoingBatch>
}

/** The same for a call that places no order. */
export function recordCall(core: Core, callId: number, call: Approved<AccountCall>): Recorded<OutgoingCall> {
  const { strategyId, key, endpoint, body, deadlineAt } = call
  record(core, { kind: 'call', at: core.now, strategyId, key }, true)
  const outgoing: OutgoingCall = { callId, endpoint, body, validUntilAt: deadlineAt }
  return outgoing as Recorded<OutgoingCall>
}
