import { type ClientOid } from '../../domain/ids.ts'
import { type OrderTerms } from '../../domain/order.ts'
import { type Holding, type HoldingChange } from '../../domain/position.ts'

/**
 * One instrument an instrument: at most one creating request of it is on the wire, and nothing is placed on it
 * between a cancel-all and the readings that prove what happened meanwhile.
 *
 *     idle ──batch granted──► placing ──answered──► idle
 *      │                        (an unknown order) ──► resolving
 *      └──unwanted, unknown or gone orders, a command──► resolving ──proved──► idle
 *
 * A resolution goes through `waiting` (for the horizon of unknown requests), `cancelling` (granted or on the
 * wire) and `settling` (until fills and position were read late enough).
 *
 * A cancel-all of the whole product resolutions every instrument with one call. A instrument that is `placing` then is resolved
 * when its batch is answered: which of its orders the cancel-all met is not known.
 */
export type InstrumentPhase = 'idle' | 'placing' | 'resolving'

/** Why a instrument is resolved: it decides what is placed again and what is said. */
export type ResolutionCause =
  | 'unwanted'
  | 'unknown'
  | 'missing'
  | 'command'
  | 'restart'
  | 'released'
  | 'cancelledAlong'

export type ResolutionStage = 'waiting' | 'cancelling' | 'settling'

export interface Resolution {
  readonly cause: ResolutionCause
  stage: ResolutionStage
  /** False when nothing can rest: there is nothing to cancel, though there may be something to wait for. */
  cancels: boolean
  /** Unix ms, our clock: the cancel-all is not sent earlier. */
  notBefore: number
  /** Unix ms, exchange clock, which must be sure then: no request of an unknown order is accepted later. 0 for none. */
  readonly acceptanceDeadlineAt: number
  /** After this somebody must look. */
  patientUntil: number
  /** Unix ms, our clock, when the cancel-all was answered, or the wait ended; 0 before. */
  provedAt: number
  /** Complete reads of the fills that were asked for late enough, and when the last of them was. */
  fillsReads: number
  fillsReadAt: number
  positionRead: boolean
  /** Reads asked for, to space repeated asks. */
  askedAt: number
}

/** By how much the exchange's position differs from the book's, seen once: the next reading decides. */
export interface Mismatch {
  /** Lots, either may be negative; in one-way mode the net difference is the long one. */
  readonly difference: Holding
  /** Unix ms, our clock, when the reading that showed it was asked for. */
  readonly requestedAt: number
}

/** A fill as far as the position knows it. */
export interface RecentFill {
  readonly change: HoldingChange
  /** Unix ms, exchange clock. */
  readonly filledAt: number
}

/** An order that has to be placed again after a cancel-all. */
export interface DisplacedOrder {
  readonly terms: OrderTerms
  /** Unix ms, our clock, when the cancel-all was answered. */
  readonly since: number
  /** Whether it was told that it takes too long. */
  readonly isLateLogged: boolean
}

export interface InstrumentState {
  readonly symbol: string
  phase: InstrumentPhase
  resolution: Resolution | undefined
  /** Unix ms, our clock, since when it has something to send; undefined when not. */
  wantsBatchSince: number | undefined
  wantsReduce: boolean
  /** Unix ms, our clock: until then a cancel-all that was never answered may arrive; a resolution stays closed. */
  lateUntil: number
  /** Since when each order rests that nobody wants. Unix ms, our clock. */
  readonly unwantedSince: Map<ClientOid, number>
  /** An order has been unwanted for too long: nothing that could rest is placed until a cancel-all was granted. */
  wantsCancel: boolean
  /** Wanted orders that a cancel-all took away and that do not rest again yet, the longest missing first. */
  displaced: readonly DisplacedOrder[]
  /** Since when an order stands through the market without a fill. */
  readonly crossedSince: Map<ClientOid, number>
  /** Unix ms, our clock: the position of the exchange and the book agreed on a reading asked for then. */
  positionReadAt: number
  mismatch: Mismatch | undefined
  /** The fills of the last minute, oldest first: a reading is compared with the book as it stood then. */
  recentFills: readonly RecentFill[]
  /** Position reading waiting for the fills that it must be compared with. */
  pendingReading: PendingReading | undefined
  /** Denials that were already told, by strategy and code. */
  readonly denials: Map<string, LoggedDenial>
}

export interface LoggedDenial {
  /** Unix ms, our clock. */
  readonly loggedAt: number
  /** The snapshot for which it was counted last. */
  readonly snapshot: number
  /** How many came since it was told. */
  readonly unlogged: number
}

export interface PendingReading {
  readonly holding: Holding
  /** The answer said nothing at all, which may mean flat. */
  readonly isSilent: boolean
  readonly requestedAt: number
  readonly exchangeTime: number
}

export function createInstrumentState(symbol: string): InstrumentState {
  return {
    symbol,
    phase: 'idle',
    resolution: undefined,
    wantsBatchSince: undefined,
    wantsReduce: false,
    lateUntil: 0,
    unwantedSince: new Map(),
    wantsCancel: false,
    displaced: [],
    crossedSince: new Map(),
    positionReadAt: 0,
    mismatch: undefined,
    recentFills: [],
    pendingReading: undefined,
    denials: new Map(),
  }
}
