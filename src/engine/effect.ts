import type { AccountCallEndpoint } from '../domain/account-call.ts'
import type { ClientOid, StrategyId } from '../domain/ids.ts'
import type { LogEvent } from '../domain/log-events.ts'
import type { JournalRecord } from '../domain/record.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import type { Recorded } from '../domain/proofs.ts'
import type { Booking } from '../journal/booking.ts'
import type { GrantedEndpoint } from './event.ts'

export interface OutgoingBatch {
  readonly batchId: number
  readonly symbol: string
  readonly clientOids: readonly ClientOid[]
  readonly body: string
  /** Unix ms, our clock; judged right before the first byte. */
  readonly validUntilAt: number
}

/** A call that places no order. */
export interface OutgoingCall {
  readonly callId: number
  readonly endpoint: AccountCallEndpoint
  readonly body: string
  readonly validUntilAt: number
}

/** `reduce` goes before `add` when calls are scarce (LIM2). */
export type GrantPriority = 'reduce' | 'add'

export interface Announcement {
  readonly kind: 'announce'
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly event: LogEvent
  readonly fields: Readonly<Record<string, unknown>>
}

/** Effects are performed in order; nothing is sent before the records in front are durable. */
export type Effect =
  | { readonly kind: 'decide'; readonly strategyId: StrategyId; readonly snapshot: Snapshot }
  | {
      readonly kind: 'askGrant'
      readonly endpoint: GrantedEndpoint
      readonly priority: GrantPriority
    }
  /** The grant just given is not needed. */
  | { readonly kind: 'returnGrant'; readonly endpoint: GrantedEndpoint }
  | {
      readonly kind: 'record'
      readonly record: JournalRecord
      readonly durable: boolean
      readonly bookings?: readonly Booking[]
    }
  | { readonly kind: 'sendBatch'; readonly batch: Recorded<OutgoingBatch> }
  | { readonly kind: 'sendCall'; readonly call: Recorded<OutgoingCall> }
  | {
      readonly kind: 'sendCancelAll'
      readonly cancelId: number
      readonly body: string
      /** The request is signed with our clock and this lead. Absent: with the exchange's clock. */
      readonly clockAheadMs?: number
    }
  /** `sinceAt`: Unix ms, exchange clock. */
  | { readonly kind: 'readFills'; readonly sinceAt: number }
  /** An urgent reading goes before those in turn. */
  | { readonly kind: 'readPosition'; readonly symbol: string; readonly isUrgent?: true }
  | { readonly kind: 'listExits'; readonly symbol: string }
  | Announcement
  /** `released` also removes the kill file. */
  | { readonly kind: 'killState'; readonly state: 'seen' | 'clean' | 'released' }
  /** In a stop: nothing is on the wire any more, and the last readings follow. */
  | { readonly kind: 'quiesced' }
  /** The state is an older copy, so the run ends, and no other may begin on it. */
  | { readonly kind: 'stateOlder'; readonly proof: string }
  | { readonly kind: 'stopped'; readonly clean: boolean }
