import { defaultRateLimitSettings, type RateLimitSettings } from './rate-limits.ts'

/** The knobs of the wire: what the document leaves open, or where its readers disagree. */
export interface WireSettings {
  readonly rateLimits: RateLimitSettings
  /** HTTP status of an answer whose code is not `00000`; authentication failures are 400 either way. */
  readonly businessErrorStatus: 200 | 400
  /** How far ACCESS-TIMESTAMP may stand from the exchange's clock, either way, ms. */
  readonly timestampToleranceMs: number
  /** What happens to parameters that no row lists. */
  readonly unknownParameters: 'ignore' | 'refuse'
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
  unknownParameters: 'ignore',
  bodyBytesMax: 1_048_576,
  headersMax: 64,
}
