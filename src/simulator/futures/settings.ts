import type { FillModelName } from '../matching/fill-model.ts'
import { NO_LATENCY } from '../shared/latency.ts'
import { oneOf } from '../shared/one-of.ts'

/**
 * Settings where the document is silent or ambiguous. The default is what the document supports, or
 * else what most clients do.
 */
export type CoreSettings = Readonly<typeof defaultCoreSettings>

export const defaultCoreSettings = {
  makerFeeRate: '0.0002',
  takerFeeRate: '0.0006',
  postOnlyCross: oneOf('reject', 'cancel'),
  /** A fee coin has the price of its instrument, such as BGBUSDT; empty: the margin coin. */
  feeCoin: '',
  feeCoinPrice: '1.25',
  /** A vendor's guide has `pendingOnly`, which refuses only while the first order is open. */
  idempotency: oneOf('duplicateError', 'replay', 'pendingOnly'),
  /** Document: "clientOid idempotency: 20 minutes". */
  idempotencyWindowMs: 20 * 60_000,
  cancelAllEmpty: oneOf('error', 'emptyLists'),
  reduceOnlyExcess: oneOf('cancelOlder', 'reject'),
  hedgeCloseExcess: oneOf('closeRemainder', 'reject', 'cancelResting'),
  /** The document's `open`/`close`, or `buy_single`/`sell_single`. */
  oneWayTradeSide: oneOf('openClose', 'single'),
  totalDeductionFee: oneOf('zero', 'null'),
  selfTrades: oneOf('never', 'meet'),
  presetTriggerType: oneOf('fill_price', 'mark_price'),
  fillModel: oneOf<FillModelName>('default'),
  marketLevelsMax: 20,
  matchingLagMs: 0,
  entryLatency: NO_LATENCY,
  fillVisibilityLagMs: 0,
  deliverySettlementMs: 60_000,
  deliveryConfigMs: 10 * 60_000,
  delisting: oneOf('close', 'hold'),
  fillsMax: 100_000,
  idempotencyEntriesMax: 300_000,
  planOrdersMax: 100,
  marketStateEveryMs: 60_000,
}
