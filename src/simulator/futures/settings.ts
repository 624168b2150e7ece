import type { FillModelName } from '../matching/fill-model.ts'
import { NO_LATENCY } from '../shared/latency.ts'
import { oneOf } from '../shared/one-of.ts'

/**
 * Settings of the simulated exchange where its document is silent or its readers disagree. Every
 * default is the reading supported by the document, or else by most of its clients.
 */
export type CoreSettings = Readonly<typeof defaultCoreSettings>

export const defaultCoreSettings = {
  /** Fee rates as decimals: 0.0002 is 0.02 %. */
  makerFeeRate: '0.0002',
  takerFeeRate: '0.0006',
  /** A post-only order that would take: refused with a code, or accepted and cancelled at once. */
  postOnlyCross: oneOf('reject', 'cancel'),
  /**
   * Coin in which trading fees are taken while the account has enough of it, such as the platform's
   * own; empty: the margin coin. Its price in the margin coin is that of its instrument (BGBUSDT),
   * if there is one.
   */
  feeCoin: '',
  feeCoinPrice: '1.25',
  /**
   * A repeated clientOid within the window: answered with the first orderId (`replay`), or refused
   * with 40786 (`duplicateError`). `pendingOnly` refuses it only while the first order is open:
   * there is no window, against the document, as in a guide of the vendor.
   */
  idempotency: oneOf('duplicateError', 'replay', 'pendingOnly'),
  /** Document: "clientOid idempotency: 20 minutes". */
  idempotencyWindowMs: 20 * 60_000,
  /** cancel-all without open orders: error 22001, or a success with empty lists. */
  cancelAllEmpty: oneOf('error', 'emptyLists'),
  /**
   * One-way reduce-only orders that together exceed the position: cancel older ones and answer
   * without orderId, or refuse.
   */
  reduceOnlyExcess: oneOf('cancelOlder', 'reject'),
  /**
   * Hedge close beyond the available size: close the rest, refuse, or cancel resting closes to make
   * room.
   */
  hedgeCloseExcess: oneOf('closeRemainder', 'reject', 'cancelResting'),
  /** Fill field `tradeSide` in one-way mode: the document's `open`/`close`, or `buy_single`/`sell_single`. */
  oneWayTradeSide: oneOf('openClose', 'single'),
  /** Fill field `totalDeductionFee` without a discount: `0`, or null as in samples. */
  totalDeductionFee: oneOf('zero', 'null'),
  /**
   * An order without self-trade prevention that reaches a resting one of its own account: both
   * trade with the market, or with each other.
   */
  selfTrades: oneOf('never', 'meet'),
  /** Price watched by preset take-profits and stop-losses. */
  presetTriggerType: oneOf('fill_price', 'mark_price'),
  /** Assumptions on fills: see fill-model.ts. */
  fillModel: oneOf<FillModelName>('default'),
  /**
   * Levels of a quote, including the displayed one. Beyond them an account's market order is
   * cancelled.
   */
  marketLevelsMax: 20,
  /** Time from the answer to matching, in which an accepted order is open but cannot trade. */
  matchingLagMs: 0,
  /** Additional time to the market, drawn for each request. */
  entryLatency: NO_LATENCY,
  /** Time from a fill to its first appearance in the fills endpoint. */
  fillVisibilityLagMs: 0,
  /** Time from delivery to settlement of a delivery contract; in between nothing can be done. */
  deliverySettlementMs: 60_000,
  /** Time from the listing of a delivery contract to its trading. */
  deliveryConfigMs: 10 * 60_000,
  /**
   * Positions of a contract whose prices end: closed at the last price, or held without funding.
   */
  delisting: oneOf('close', 'hold'),
  /** Fills kept for each account; the oldest are dropped. */
  fillsMax: 100_000,
  /** Idempotency entries kept for each account: a full window of 5 calls a second of 50 orders. */
  idempotencyEntriesMax: 300_000,
  /** Maximum pending trigger orders of an account. */
  planOrdersMax: 100,
  /**
   * The market's state is stored at most this often between pauses; a restart replays it from
   * there.
   */
  marketStateEveryMs: 60_000,
}
