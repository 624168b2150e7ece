import type { FillModelName } from '../matching/fill-model.ts'
import { NO_LATENCY } from '../shared/latency.ts'
import { oneOf } from '../shared/one-of.ts'

/**
 * The exchange's document is silent here, or its readers disagree. Every default is the reading
 * that the document supports, or else most of its clients.
 */
export type CoreSettings = Readonly<typeof defaultCoreSettings>

export const defaultCoreSettings = {
  /** 0.0002 is 0.02 %. */
  makerFeeRate: '0.0002',
  takerFeeRate: '0.0006',
  /** Refused with a code, or accepted and cancelled at once. */
  postOnlyCross: oneOf('reject', 'cancel'),
  /**
   * Fees are taken in this coin while the account has enough of it, such as the platform's own;
   * empty: the margin coin. Its price is that of its instrument (BGBUSDT), if there is one.
   */
  feeCoin: '',
  feeCoinPrice: '1.25',
  /**
   * A repeated clientOid within the window gets the first orderId (`replay`) or refusal 40786
   * (`duplicateError`). `pendingOnly` refuses it only while the first order is open, as in a guide
   * of the vendor, against the document.
   */
  idempotency: oneOf('duplicateError', 'replay', 'pendingOnly'),
  /** Document: "clientOid idempotency: 20 minutes". */
  idempotencyWindowMs: 20 * 60_000,
  /** Error 22001, or a success with empty lists. */
  cancelAllEmpty: oneOf('error', 'emptyLists'),
  /**
   * One-way reduce-only orders exceed the position together: older ones are cancelled and the
   * answer has no orderId, or refusal.
   */
  reduceOnlyExcess: oneOf('cancelOlder', 'reject'),
  /** Beyond the available size: close the rest, refuse, or cancel resting closes. */
  hedgeCloseExcess: oneOf('closeRemainder', 'reject', 'cancelResting'),
  /** The document's `open`/`close`, or `buy_single`/`sell_single`. */
  oneWayTradeSide: oneOf('openClose', 'single'),
  /** Without a discount: `0`, or null as in samples. */
  totalDeductionFee: oneOf('zero', 'null'),
  /**
   * Two orders of one account without self-trade prevention trade with the market, or with each
   * other.
   */
  selfTrades: oneOf('never', 'meet'),
  /** For preset take-profits and stop-losses. */
  presetTriggerType: oneOf('fill_price', 'mark_price'),
  /** See fill-model.ts. */
  fillModel: oneOf<FillModelName>('default'),
  /** With the displayed one. A market order is cancelled beyond them. */
  marketLevelsMax: 20,
  /** From the answer to matching an accepted order is open but cannot trade. */
  matchingLagMs: 0,
  /** Drawn for each request, in addition. */
  entryLatency: NO_LATENCY,
  /** From a fill to its appearance in the fills endpoint. */
  fillVisibilityLagMs: 0,
  /** Between delivery and settlement nothing can be done. */
  deliverySettlementMs: 60_000,
  /** From listing to trading. */
  deliveryConfigMs: 10 * 60_000,
  /** When its prices end: closed at the last price, or held without funding. */
  delisting: oneOf('close', 'hold'),
  fillsMax: 100_000,
  /** A full window of 5 calls a second of 50 orders. */
  idempotencyEntriesMax: 300_000,
  planOrdersMax: 100,
  /** A restart replays the market from its last stored state. */
  marketStateEveryMs: 60_000,
}
