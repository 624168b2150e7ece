import type { ClientOid, StrategyId } from '../../domain/ids.ts'
import type { OrderIntent } from '../../domain/intent.ts'
import type { OrderTerms } from '../../domain/order.ts'
import type { Recorded } from '../../domain/proofs.ts'
import { buildBatchRequest, deriveClientOid } from '../../execution/batch-request.ts'
import type { ApprovedItem } from '../../execution/pack-batch.ts'
import { pairKey } from '../book/book.ts'
import type { OutgoingBatch } from '../effect.ts'
import { exchangeNow, freshUntil, seenMarketOf } from '../state/market-state.ts'
import { type Core, recordBefore, specOf, type InstrumentState } from '../state/core.ts'
import { notePace } from '../state/open-calls.ts'
import { noteModeSent } from '../resolution/account-setup.ts'

/**
 * Our acceptance window counts from the batch's record, the exchange's from its signature. So it is
 * signed within a tenth of the window, or not sent. By default that is 3.5 of 35 s; the exchange
 * tolerates 30 s (A1).
 */
const SIGNED_WITHIN = 10

export function signedWithinMs({
  acceptanceWindowMs,
}: {
  readonly acceptanceWindowMs: number
}): number {
  return acceptanceWindowMs / SIGNED_WITHIN
}

interface NamedOrder {
  readonly terms: OrderTerms
  /** Sent before, with the same terms. */
  readonly isAgain: boolean
  /** Our clock: not sent later. */
  readonly deadlineAt: number
}

/** The clientOid that it had, or a new one. */
export function nameOrder(core: Core, { intent, again }: ApprovedItem): NamedOrder | undefined {
  const { deadlineAt } = intent
  if (again === undefined) return { terms: toTerms(core, intent), isAgain: false, deadlineAt }
  const terms = core.book.orders.get(again)?.terms
  return terms && { terms, isAgain: true, deadlineAt }
}

/** A key that had orders gets the next generation. */
function toTerms(core: Core, intent: OrderIntent): OrderTerms {
  const last = core.book.keys.get(pairKey(intent.strategyId, intent.key))
  const generation = last === undefined ? 0 : last.generation + 1
  const { ticks, takeProfitTicks, stopLossTicks, ...terms } = intent
  return {
    ...terms,
    strategyId: intent.strategyId as StrategyId,
    clientOid: deriveClientOid({
      salt: core.settings.salt,
      strategyId: intent.strategyId,
      key: intent.key,
      generation,
    }),
    generation,
    ...(ticks === undefined ? {} : { ticks }),
    ...(takeProfitTicks === undefined ? {} : { takeProfitTicks }),
    ...(stopLossTicks === undefined ? {} : { stopLossTicks }),
  }
}

/**
 * With its exact bytes, before it may be sent (ORD1): as long as prices (MKT1) and orders are
 * valid. The account's age is judged right before its first byte (MKT3).
 */
export function recordBatch(
  core: Core,
  instrument: InstrumentState,
  orders: readonly NamedOrder[],
): Recorded<OutgoingBatch> {
  const { symbol, wantsBatchSince } = instrument
  const batchId = core.book.batchId + 1
  const terms = orders.map((order) => order.terms)
  const { positionMode } = core.settings
  const account = { positionMode, marginMode: noteModeSent(core, instrument, terms) }
  const body = JSON.stringify(buildBatchRequest(account, specOf(core, symbol), terms))
  const batch: OutgoingBatch = {
    batchId,
    symbol,
    clientOids: terms.map(({ clientOid }): ClientOid => clientOid),
    body,
    validUntilAt: Math.min(
      freshUntil(core, symbol),
      core.now + signedWithinMs(core.settings.execution),
      ...orders.map((order) => order.deadlineAt),
    ),
  }
  notePace(core, terms)
  const waitedMs = core.now - (wantsBatchSince ?? core.now)
  return recordBefore(
    core,
    {
      kind: 'send',
      at: core.now,
      batchId,
      symbol,
      orders: orders.filter((order) => !order.isAgain).map((order) => order.terms),
      again: orders.filter((order) => order.isAgain).map((order) => order.terms.clientOid),
      requestAt: exchangeNow(core),
      body,
      seen: { snapshot: core.market.snapshots, market: seenMarketOf(core, symbol), waitedMs },
    },
    batch,
  )
}
