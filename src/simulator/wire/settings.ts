import { oneOf } from '../shared/one-of.ts'
import { defaultPlatformCoin } from '../wallet/platform-coin.ts'
import { defaultRateLimitSettings, type RateLimitSettings } from './checks/rate-limits.ts'
import type { ServedName } from './served-rows.ts'

/** Public clients recorded these with `requestTime` as a string. */
export const REQUEST_TIME_TEXTS: readonly ServedName[] = [
  'cancelOrder',
  'batchCancelOrders',
  'cancelPlanOrder',
  'spotCoins',
]

/** Settings where the document is silent or its readers disagree. */
export type WireSettings = Readonly<typeof defaultWireSettings>

const rateLimits: RateLimitSettings = defaultRateLimitSettings

export const defaultWireSettings = {
  rateLimits,
  /**
   * Source: a public client's tests, recorded from the real exchange. Authentication failures are
   * always 400.
   */
  businessErrorStatus: oneOf<200 | 400>(400),
  timestampToleranceMs: 30_000,
  /** The number is ours: the document mentions HTTP 429 without one. */
  gatewayLimit: { calls: 10, perMs: 1000 },
  platformCoin: defaultPlatformCoin.name,
  /** Default `ignore`, because the document's own samples contain some. */
  unknownParameters: oneOf('ignore', 'refuse'),
  /** Default `refuse`, because a client would take a page that is cut silently for the last one. */
  limitAboveMaximum: oneOf('refuse', 'cut'),
  bodyBytesMax: 1_048_576,
}
