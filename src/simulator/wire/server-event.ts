import type { FaultKind } from './faults.ts'
import type { ServedName } from './served-rows.ts'

/** Never contains a secret or a signature. */
export type WireEvent =
  | {
      readonly kind: 'requestRefused'
      /** Undefined if the path is in no row. */
      readonly endpoint: ServedName | undefined
      /** Undefined before authentication. */
      readonly uid: string | undefined
      readonly code: string
      readonly message: string
    }
  /** A defect of the exchange, to be reported. */
  | {
      readonly kind: 'handlerFailed'
      readonly endpoint: ServedName | undefined
      readonly reason: string
    }

export interface WireCounters {
  readonly requests: Readonly<Record<ServedName, number>>
  readonly refusals: Readonly<Record<string, number>>
  readonly tooManyRequests: number
}

export type ServerEvent =
  | WireEvent
  | {
      readonly kind: 'faultInjected'
      readonly fault: FaultKind
      readonly endpoint: ServedName | undefined
    }
  /** Quotes stand still until the market can be played again. */
  | { readonly kind: 'marketFailed'; readonly reason: string }
  /** They have more lots than the maximum, to which they were cut. */
  | {
      readonly kind: 'volumesCut'
      readonly file: string
      readonly symbol: string
      readonly rows: number
      readonly lotsMax: number
    }
  /**
   * The first start's settings are kept; each reads `name: what is kept, configured: what is not
   * obeyed`.
   */
  | { readonly kind: 'settingsKept'; readonly settings: readonly string[] }
  | { readonly kind: 'serverFailed'; readonly reason: string }
