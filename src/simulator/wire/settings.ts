import { oneOf } from '../shared/one-of.ts'
import { defaultPlatformCoin } from '../wallet/platform-coin.ts'
import { defaultRateLimitSettings } from './checks/rate-limits.ts'
import type { ServedName } from './served-rows.ts'

/**
 * Endpoints whose envelope has `requestTime` as a string, according to recordings of public
 * clients: cancels and the list of coins.
 */
export const REQUEST_TIME_TEXTS: readonly ServedName[] = [
  'cancelOrder',
  'batchCancelOrders',
  'cancelPlanOrder',
  'spotCoins',
]

/** Settings of the wire where the document is silent or its readers disagree. */
export type WireSettings = Readonly<typeof defaultWireSettings>

export const defaultWireSettings = {
  rateLimits: defaultRateLimitSettings,
  /**
   * HTTP status of an answer whose code is not `00000`; authentication failures are always 400.
   * Sources disagree; the tests of a public client, recorded from the real exchange, say 400.
   */
  businessErrorStatus: oneOf<200 | 400>(400),
  /**
   * Maximum distance of ACCESS-TIMESTAMP from the exchange's clock, either way, ms: the vendor's
   * signature page.
   */
  timestampToleranceMs: 30_000,
  /**
   * Calls of a signed gateway's client before HTTP 429. The document mentions the answer without a
   * number, so this is the simulator's own.
   */
  gatewayLimit: { calls: 10, perMs: 1000 },
  /** Ticker of the platform's own coin, which is part of the path of the conversion history. */
  platformCoin: defaultPlatformCoin.name,
  /** Treatment of parameters that no row lists; the document's own samples contain some. */
  unknownParameters: oneOf('ignore', 'refuse'),
  /**
   * A `limit` above the document's maximum: refused with 40053, or silently cut. A client that
   * requests more expects more, and would take a silently cut page for the last one.
   */
  limitAboveMaximum: oneOf('refuse', 'cut'),
  /** A longer request body is refused. A full batch of 50 orders is about 15,000. */
  bodyBytesMax: 1_048_576,
}
