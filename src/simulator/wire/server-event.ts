import { type FaultKind } from './faults.ts'
import { type ServedName } from './served-rows.ts'
import { type WireEvent } from './wire-event.ts'

/** What the simulator has to say of itself, for a log. */
export type ServerEvent =
  | WireEvent
  | { readonly kind: 'faultInjected'; readonly fault: FaultKind; readonly endpoint: ServedName | undefined }
  /** The market could not be played; quotes stand still until it can. */
  | { readonly kind: 'marketFailed'; readonly reason: string }
  | { readonly kind: 'serverFailed'; readonly reason: string }
