import { NO_LATENCY, type LatencySettings } from '../shared/latency.ts'
import { type FillModelName } from '../matching/fill-model.ts'

/**
 * The settings of the simulated exchange: what its document leaves open, or where its readers disagree.
 * Every default is the reading that the document, or else the majority of its clients, supports.
 */
export interface CoreSettings {
  /** Fee rates as decimals: 0.0002 is 0.02 %. */
  readonly makerFeeRate: string
  readonly takerFeeRate: string
  /** A post-only order that would take: refused with a code, or accepted and cancelled at once. */
  readonly postOnlyCross: 'reject' | 'cancel'
  /**
   * A clientOid seen within the window: answered again with the first orderId (`replay`), or refused with
   * 40786 (`duplicateError`). Refused only while the first order is still open (`pendingOnly`): no window at
   * all, against the document, as a guide of the vendor has it.
   */
  readonly idempotency: 'replay' | 'duplicateError' | 'pendingOnly'
  /** Document: "clientOid idempotency: 20 minutes". */
  readonly idempotencyWindowMs: number
  /** cancel-all with no open order: error 22001, or a success with empty lists. */
  readonly cancelAllEmpty: 'error' | 'emptyLists'
  /** One-way reduce-only orders that together exceed the position: cancel older ones and answer without orderId, or refuse. */
  readonly reduceOnlyExcess: 'cancelOlder' | 'reject'
  /** Hedge close beyond what is available: close the rest, refuse, or cancel resting closes to make room. */
  readonly hedgeCloseExcess: 'closeRemainder' | 'reject' | 'cancelResting'
  /** Fill field `tradeSide` in one-way mode: the document's `open`/`close`, or `buy_single`/`sell_single`. */
  readonly oneWayTradeSide: 'openClose' | 'single'
  /** Fill field `totalDeductionFee`: no discount is `0`, or null as samples have it. */
  readonly totalDeductionFee: 'zero' | 'null'
  /** What preset take-profits and stop-losses watch. */
  readonly presetTriggerType: 'fill_price' | 'mark_price'
  /** What is assumed of fills: see fill-model.ts. */
  readonly fillModel: FillModelName
  /** Levels of a quote, the displayed one included. Beyond them an account's market order is cancelled. */
  readonly marketLevelsMax: number
  /** From the answer to matching: the time an accepted order is open but cannot trade yet. */
  readonly matchingLagMs: number
  /** On top of that, drawn for each request: its way to the market. */
  readonly entryLatency: LatencySettings
  /** From a fill to its first appearance in the fills endpoint. */
  readonly fillVisibilityLagMs: number
  /** How long after the delivery time a delivery contract settles; until then nothing can be done. */
  readonly deliverySettlementMs: number
  /** Fills kept an account; the oldest go first. */
  readonly fillsMax: number
  /** Idempotency entries kept an account: a full window of full batches at the documented rate. */
  readonly idempotencyEntriesMax: number
  /** Pending trigger orders an account may have. */
  readonly planOrdersMax: number
  /** The market's state is stored at most this often between pauses; a restart replays it from there. */
  readonly marketStateEveryMs: number
}

export const defaultCoreSettings: CoreSettings = {
  makerFeeRate: '0.0002',
  takerFeeRate: '0.0006',
  postOnlyCross: 'reject',
  idempotency: 'duplicateError',
  idempotencyWindowMs: 20 * 60_000,
  cancelAllEmpty: 'error',
  reduceOnlyExcess: 'cancelOlder',
  hedgeCloseExcess: 'closeRemainder',
  oneWayTradeSide: 'openClose',
  totalDeductionFee: 'zero',
  presetTriggerType: 'fill_price',
  fillModel: 'default',
  marketLevelsMax: 20,
  matchingLagMs: 0,
  entryLatency: NO_LATENCY,
  fillVisibilityLagMs: 0,
  deliverySettlementMs: 60_000,
  fillsMax: 100_000,
  // 5 calls a second of 50 orders for 20 minutes.
  idempotencyEntriesMax: 300_000,
  planOrdersMax: 100,
  marketStateEveryMs: 60_000,
}
