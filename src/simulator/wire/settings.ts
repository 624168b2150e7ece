import { oneOf } from '../shared/one-of.ts'
import { defaultPlatformCoin } from '../wallet/platform-coin.ts'
import { defaultRateLimitSettings } from './checks/rate-limits.ts'
import type { ServedName } from './served-rows.ts'

/**
 * Endpoints whose envelope has `requestTime` as a string: answers that public clients have recorded, of cancelling and
 * of the list of coins.
 */
export const REQUEST_TIME_TEXTS: readonly ServedName[] = [
  'cancelOrder',
  'batchCancelOrders',
  'cancelPlanOrder',
  'spotCoins',
]

/** The settings of the wire: what the document leaves open, or where its readers disagree. */
export type WireSettings = Readonly<typeof defaultWireSettings>

export const defaultWireSettings = {
  rateLimits: defaultRateLimitSettings,
  /**
   * HTTP status of an answer whose code is not `00000`; authentication failures are 400 either way. Sources disagree;
   * the tests of a public client, recorded from the real exchange, say 400.
   */
  businessErrorStatus: oneOf<200 | 400>(400),
  /** How far ACCESS-TIMESTAMP may stand from the exchange's clock, either way, ms: the vendor's signature page. */
  timestampToleranceMs: 30_000,
  /**
   * Calls of the signed gateway that a client has before HTTP 429. The document names the answer and no
   * number: this is the simulator's own.
   */
  gatewayLimit: { calls: 10, perMs: 1000 },
  /** The ticker of the platform's own coin: it stands in the path of the conversion history. */
  platformCoin: defaultPlatformCoin.name,
  /** What happens to parameters that no row lists: the document's own samples carry some. */
  unknownParameters: oneOf('ignore', 'refuse'),
  /**
   * A `limit` beyond the document's maximum of a page: refused with 40053, or silently cut to the maximum. A client that
   * asks for more counts on more than it would get: cut in silence, its pages would look like the last one.
   */
  limitAboveMaximum: oneOf('refuse', 'cut'),
  /** A longer request body is refused. A full batch of 50 orders is about 15,000. */
  bodyBytesMax: 1_048_576,
}
