import { SCHEME_B_TOLERANCE_MS } from '../../protocol/signing.ts'
import { defaultPlatformCoin } from '../wallet/platform-coin.ts'
import { defaultRateLimitSettings, type RateLimitSettings } from './checks/rate-limits.ts'
import { type ServedName } from './served-rows.ts'

/** The settings of the wire: what the document leaves open, or where its readers disagree. */
export interface WireSettings {
  readonly rateLimits: RateLimitSettings
  /** HTTP status of an answer whose code is not `00000`; authentication failures are 400 either way. */
  readonly businessErrorStatus: 200 | 400
  /** How far ACCESS-TIMESTAMP may stand from the exchange's clock, either way, ms. */
  readonly timestampToleranceMs: number
  /** The signed gateway's: how far x-api-timestamp may stand from the exchange's clock, either way, ms. */
  readonly gatewayToleranceMs: number
  /**
   * Calls of the signed gateway that a client has before HTTP 429. The document names the answer and no
   * number: this is the simulator's own.
   */
  readonly gatewayLimit: { readonly calls: number; readonly perMs: number }
  /** The ticker of the platform's own coin: it stands in the path of the conversion history. */
  readonly platformCoin: string
  /** Endpoints whose envelope has `requestTime` as a string, as answers of the real exchange now and then do. */
  readonly requestTimeTexts: readonly ServedName[]
  /** What happens to parameters that no row lists. */
  readonly unknownParameters: 'ignore' | 'refuse'
  /** A `limit` beyond the document's maximum of a page: refused with 40053, or silently cut to the maximum. */
  readonly limitAboveMaximum: 'refuse' | 'cut'
  /** A longer request body is refused. A full batch of 50 orders is about 15,000. */
  readonly bodyBytesMax: number
  readonly headersMax: number
}

export const defaultWireSettings: WireSettings = {
  rateLimits: defaultRateLimitSettings,
  // Sources disagree; the tests of a public client, recorded from the real exchange, say 400.
  businessErrorStatus: 400,
  // The vendor's signature page: "within 30 seconds of the API server time".
  timestampToleranceMs: 30_000,
  gatewayToleranceMs: SCHEME_B_TOLERANCE_MS,
  gatewayLimit: { calls: 10, perMs: 1000 },
  platformCoin: defaultPlatformCoin.name,
  // Answers that public clients have recorded: cancelling, and the list of coins.
  requestTimeTexts: ['cancelOrder', 'batchCancelOrders', 'cancelPlanOrder', 'spotCoins'],
  unknownParameters: 'ignore',
  // Document: "maximum 100" and the like. A client that asks for more counts on more than it would get: cut in
  // silence, its pages would look like the last one.
  limitAboveMaximum: 'refuse',
  bodyBytesMax: 1_048_576,
  headersMax: 64,
}
