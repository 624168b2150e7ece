import type { FaultKind } from './faults.ts'
import type { ServedName } from './served-rows.ts'

export type WireEvent =
  | {
      readonly kind: 'requestRefused'
      readonly endpoint: ServedName | undefined
      readonly uid: string | undefined
      readonly code: string
      readonly message: string
    }
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
  | { readonly kind: 'marketFailed'; readonly reason: string }
  | {
      readonly kind: 'volumesCut'
      readonly file: string
      readonly symbol: string
      readonly rows: number
      readonly lotsMax: number
    }
  | { readonly kind: 'settingsKept'; readonly settings: readonly string[] }
  | { readonly kind: 'serverFailed'; readonly reason: string }
