import type { AccountCallEndpoint } from '../domain/account-call.ts'
import type { ClientOid, StrategyId } from '../domain/ids.ts'
import type { LogEvent } from '../domain/log-events.ts'
import type { JournalRecord } from '../domain/record.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import type { Recorded } from '../domain/proofs.ts'
import type { Booking } from '../journal/booking.ts'
import type { GrantedEndpoint } from './event.ts'

/** A batch of orders to send. */
export interface OutgoingBatch {
  readonly batchId: number
  readonly symbol: string
  readonly clientOids: readonly ClientOid[]
  /** The exact bytes of the request. */
  readonly body: string
  /** Unix ms, our clock: looked at once more right before the first byte; later than this it does not leave. */
  readonly validUntilAt: number
}

/** A call on the account that places no order. */
export interface OutgoingCall {
  readonly callId: number
  readonly endpoint: AccountCallEndpoint
  readonly body: string
  /** Unix ms, our clock: looked at once more right before the first byte; later than this it does not leave. */
  readonly validUntilAt: number
}

/** `reduce` goes before `add` when calls are scarce (LIM2). */
export type Priority = 'reduce' | 'add'

/** A line for the log: the name of what happened, and its facts. */
export interface Announcement {
  readonly kind: 'announce'
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly event: LogEvent
  readonly fields: Readonly<Record<string, unknown>>
}

/** What the core wants done. The interpreter performs effects in order, and sends nothing before the records in front of it are durable. */
export type Effect =
  | { readonly kind: 'decide'; readonly strategyId: StrategyId; readonly snapshot: Snapshot }
  | { readonly kind: 'askGrant'; readonly endpoint: GrantedEndpoint; readonly priority: Priority }
  /** The grant that was just given is not needed. */
  | { readonly kind: 'returnGrant'; readonly endpoint: GrantedEndpoint }
  | {
      readonly kind: 'record'
      readonly record: JournalRecord
      readonly durable: boolean
      /** What the record adds to the tables of fills and funding payments. Absent: nothing. */
      readonly bookings?: readonly Booking[]
    }
  | { readonly kind: 'sendBatch'; readonly batch: Recorded<OutgoingBatch> }
  | { readonly kind: 'sendCall'; readonly call: Recorded<OutgoingCall> }
  | {
      readonly kind: 'sendCancelAll'
      readonly cancelId: number
      readonly body: string
      /** How far ahead of ours the clock is that signs it, ms. Absent: the exchange's, as it is known. */
      readonly clockAheadMs?: number
    }
  /** Read every fill since `sinceAt`: Unix ms, exchange clock. */
  | { readonly kind: 'readFills'; readonly sinceAt: number }
  /** An urgent reading goes before those that are read in turn. */
  | { readonly kind: 'readPosition'; readonly symbol: string; readonly isUrgent?: true }
  | Announcement
  /** Tells the operator how far a kill is; `released` also removes the kill file. */
  | { readonly kind: 'killState'; readonly state: 'seen' | 'clean' | 'released' }
  /** A stop: nothing of ours is on the wire any more; the last readings follow. */
  | { readonly kind: 'quiesced' }
  /** The state is an older copy: the run ends, and another one must not begin on it. */
  | { readonly kind: 'stateOlder'; readonly proof: string }
  /** A stop has come to its end. */
  | { readonly kind: 'stopped'; readonly clean: boolean }
