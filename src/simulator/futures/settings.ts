import type { FillModelName } from '../matching/fill-model.ts'
import { NO_LATENCY } from '../shared/latency.ts'
import { oneOf } from '../shared/one-of.ts'

/**
 * The settings of the simulated exchange: what its document leaves open, or where its readers disagree.
 * Every default is the reading that the document, or else the majority of its clients, supports.
 */
export type CoreSettings = Readonly<typeof defaultCoreSettings>

export const defaultCoreSettings = {
  /** Fee rates as decimals: 0.0002 is 0.02 %. */
  makerFeeRate: '0.0002',
  takerFeeRate: '0.0006',
  /** A post-only order that would take: refused with a code, or accepted and cancelled at once. */
  postOnlyCross: oneOf('reject', 'cancel'),
  /**
   * A coin in which fees of trades are taken while the account has enough of it, such as the platform's own; empty: the
   * margin coin. Its price in the margin coin is that of its instrument (BGBUSDT), where there is one.
   */
  feeCoin: '',
  feeCoinPrice: '1.25',
  /**
   * A clientOid seen within the window: answered again with the first orderId (`replay`), or refused with
   * 40786 (`duplicateError`). Refused only while the first order is still open (`pendingOnly`): no window at
   * all, against the document, as a guide of the vendor has it.
   */
  idempotency: oneOf('duplicateError', 'replay', 'pendingOnly'),
  /** Document: "clientOid idempotency: 20 minutes". */
  idempotencyWindowMs: 20 * 60_000,
  /** cancel-all with no open order: error 22001, or a success with empty lists. */
  cancelAllEmpty: oneOf('error', 'emptyLists'),
  /** One-way reduce-only orders that together exceed the position: cancel older ones and answer without orderId, or refuse. */
  reduceOnlyExcess: oneOf('cancelOlder', 'reject'),
  /** Hedge close beyond what is available: close the rest, refuse, or cancel resting closes to make room. */
  hedgeCloseExcess: oneOf('closeRemainder', 'reject', 'cancelResting'),
  /** Fill field `tradeSide` in one-way mode: the document's `open`/`close`, or `buy_single`/`sell_single`. */
  oneWayTradeSide: oneOf('openClose', 'single'),
  /** Fill field `totalDeductionFee`: no discount is `0`, or null as samples have it. */
  totalDeductionFee: oneOf('zero', 'null'),
  /** An order without self-trade prevention that reaches a resting one of its own account: both trade with the market, or with each other. */
  selfTrades: oneOf('never', 'meet'),
  /** What preset take-profits and stop-losses watch. */
  presetTriggerType: oneOf('fill_price', 'mark_price'),
  /** What is assumed of fills: see fill-model.ts. */
  fillModel: oneOf<FillModelName>('default'),
  /** Levels of a quote, the displayed one included. Beyond them an account's market order is cancelled. */
  marketLevelsMax: 20,
  /** From the answer to matching: the time an accepted order is open but cannot trade yet. */
  matchingLagMs: 0,
  /** On top of that, drawn for each request: its way to the market. */
  entryLatency: NO_LATENCY,
  /** From a fill to its first appearance in the fills endpoint. */
  fillVisibilityLagMs: 0,
  /** How long after the delivery time a delivery contract settles; until then nothing can be done. */
  deliverySettlementMs: 60_000,
  /** How long a newly listed delivery contract is shown before it is traded. */
  deliveryConfigMs: 10 * 60_000,
  /** A contract whose prices end: its positions are closed at the last price, or held without funding. */
  delisting: oneOf('close', 'hold'),
  /** Fills kept an account; the oldest go first. */
  fillsMax: 100_000,
  /** Idempotency entries kept an account: a full window of 5 calls a second of 50 orders. */
  idempotencyEntriesMax: 300_000,
  /** Pending trigger orders an account may have. */
  planOrdersMax: 100,
  /** The market's state is stored at most this often between pauses; a restart replays it from there. */
  marketStateEveryMs: 60_000,
}
