import type { FaultKind } from './faults.ts'
import type { ServedName } from './served-rows.ts'

/** What the wire has to say of itself, for a log. Never a secret, never a signature. */
export type WireEvent =
  | {
      readonly kind: 'requestRefused'
      /** Undefined when the path is none of the table's. */
      readonly endpoint: ServedName | undefined
      /** Undefined while nobody is authenticated. */
      readonly uid: string | undefined
      readonly code: string
      readonly message: string
    }
  /** The exchange itself broke: a defect to be reported. */
  | {
      readonly kind: 'handlerFailed'
      readonly endpoint: ServedName | undefined
      readonly reason: string
    }

export interface WireCounters {
  /** Requests by endpoint, refused ones too. */
  readonly requests: Readonly<Record<ServedName, number>>
  /** Refused requests by code. */
  readonly refusals: Readonly<Record<string, number>>
  /** Those of them that met a rate limit. */
  readonly tooManyRequests: number
}

/** What the simulator has to say of itself, for a log. */
export type ServerEvent =
  | WireEvent
  | {
      readonly kind: 'faultInjected'
      readonly fault: FaultKind
      readonly endpoint: ServedName | undefined
    }
  /** The market could not be played; quotes stand still until it can. */
  | { readonly kind: 'marketFailed'; readonly reason: string }
  /** A recording has rows with more than so many lots, which are played as so many. */
  | {
      readonly kind: 'volumesCut'
      readonly file: string
      readonly symbol: string
      readonly rows: number
      readonly lotsMax: number
    }
  /** The state keeps settings of its first start; each as `name: what is kept, configured: what is not obeyed`. */
  | { readonly kind: 'settingsKept'; readonly settings: readonly string[] }
  | { readonly kind: 'serverFailed'; readonly reason: string }
