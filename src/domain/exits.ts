import type { StrategyId } from './ids.ts'
import type { HoldSide } from './position.ts'

/**
 * The protective level that was met first names the exit; then come time, table, partial exits.
 */
export const EXIT_KINDS = {
  stop: 'the stop-loss',
  trailing: 'the trailing stop',
  breakEven: 'the break-even stop',
  timeLimit: 'the time limit',
  profitTable: 'the table of profit by time held',
  takeProfit: 'a partial take-profit',
} as const

export type ExitKind = keyof typeof EXIT_KINDS

/** A share in millionths, or so many millionths of the ATR at entry. */
export type ExitDistance =
  | { readonly kind: 'share'; readonly millionths: number }
  | { readonly kind: 'atr'; readonly millionths: number }

/**
 * Shares are whole millionths (0.05 is 50,000), so that levels are exact in ticks; durations in ms.
 */
export interface ExitRules {
  readonly stop?: ExitDistance
  /** Opening orders give the exchange a stop-loss at this share. */
  readonly stopAtExchange?: number
  /** From the best price, once that has brought `after`. */
  readonly trailing?: { readonly after: number; readonly distance: ExitDistance }
  /** The stop moves to entry plus `offset`, once the best price has brought `after`. */
  readonly breakEven?: { readonly after: number; readonly offset: number }
  /** The last row begun counts: a profit of `least` closes. Sorted by time, from 0. */
  readonly profitTable?: readonly { readonly fromMs: number; readonly least: number }[]
  readonly timeLimitMs?: number
  /** Each once in a trade: at a profit of `at`, this share of the largest size closes. Sorted. */
  readonly takeProfits?: readonly { readonly at: number; readonly close: number }[]
  readonly coolDownMs?: number
  readonly protections?: ExitProtections
  /** Distances of the kind `atr` need it. */
  readonly atr?: { readonly intervalMs: number; readonly period: number }
}

/** They end by themselves. */
export interface ExitProtections {
  /** After so many trades that a stop ended at a loss. */
  readonly stops?: { readonly count: number; readonly withinMs: number; readonly pauseMs: number }
  /** After so many trades that together brought less than `below` of what was put in. */
  readonly lowProfit?: {
    readonly trades: number
    readonly withinMs: number
    readonly below: number
    readonly pauseMs: number
  }
}

/** Due until nothing above `keptLots` can be closed. */
export interface DueExit {
  readonly kind: ExitKind
  readonly keptLots: number
  /** Exchange clock. */
  readonly since: number
}

/** From flat to flat, as its exits see it. */
export interface ExitTrade {
  /** Exchange clock, of the opening fill; of an older position, when first seen. */
  readonly openedAt: number
  /** Average, not necessarily whole; null: own fills do not explain what is held. */
  readonly entryTicks: number | null
  readonly lotsMax: number
  /** Shown by two answers in a row; null: none yet, or not needed. */
  readonly bestTicks: number | null
  /** Null: not known yet, or not needed. */
  readonly atrTicks: number | null
  readonly taken: number
  /** A target counts up to these after a partial exit; null: no bound. */
  readonly capLots: number | null
  readonly due: DueExit | null
  /** The last exit that was due for all of it. */
  readonly leftBy: ExitKind | null
  /** Realised less fees before it, margin coin. */
  readonly netBefore: number
}

export interface EndedTrade {
  /** Exchange clock. */
  readonly at: number
  readonly isStop: boolean
  /** Realised less fees, and the largest size at the average entry; margin coin. */
  readonly net: number
  readonly worth: number
}

export const PAUSE_CAUSES = {
  coolDown: 'the cool-down after an exit',
  stops: 'too many stops',
  lowProfit: 'too little profit',
} as const

export type PauseCause = keyof typeof PAUSE_CAUSES

export interface EntryPause {
  readonly cause: PauseCause
  /** Exchange clock. */
  readonly untilAt: number
}

export interface ExitState {
  readonly long: ExitTrade | null
  readonly short: ExitTrade | null
  /** An exited target counts again when the strategy wants something else. */
  readonly lock: HoldSide | null
  readonly pause: EntryPause | null
  /** The oldest first, as many as protections look at. */
  readonly ended: readonly EndedTrade[]
  /**
   * Margin coin: realised less fees when less was held than can be closed. Absent: nothing, as in
   * older journals.
   */
  readonly rests?: Readonly<Partial<Record<HoldSide, number>>>
}

/** The last two believed prices: what both have passed is passed. */
export interface BelievedTicks {
  readonly low: number
  readonly high: number
}

/** Not in the book. Only `exits.ts` changes it. */
export interface ExitWatch {
  /** Keyed by strategy and symbol. */
  readonly states: ReadonlyMap<string, WatchedExits>
  readonly prices: ReadonlyMap<string, WatchedPrice>
}

/** Our clock, 0: never. Only `exits.ts` changes it. */
export interface KeptExitsWatch {
  /** Other exits or positions must be listed anew. */
  readonly listedFor: string
  readonly listedAt: number
  readonly askedAt: number
  readonly isListing: boolean
  readonly missingSince: number | undefined
  readonly move: StopMove | undefined
  readonly moveNotBefore: number
  /** It has not worked since this was logged. */
  readonly failing: 'list' | 'missing' | 'move' | undefined
}

export interface StopMove {
  readonly callId: number
  readonly holdSide: HoldSide
  readonly strategyId: StrategyId
  readonly fromTicks: number
  readonly ticks: number
}

interface WatchedExits {
  readonly state: ExitState
  readonly recordedAt: number
}

interface WatchedPrice {
  /** Exchange clock, of the tickers' answer. */
  readonly answeredAt: number
  /** Undefined: not believed. */
  readonly last: BelievedTicks | undefined
  readonly before: BelievedTicks | undefined
  /** Our clock: since when prices of the answers contradict each other. */
  readonly contradictedSince: number | undefined
}

export const NO_EXITS: ExitState = { long: null, short: null, lock: null, pause: null, ended: [] }

export function dueExitOf(
  state: ExitState | undefined,
): (DueExit & { readonly holdSide: HoldSide }) | undefined {
  if (state?.long?.due) return { holdSide: 'long', ...state.long.due }
  if (state?.short?.due) return { holdSide: 'short', ...state.short.due }
  return undefined
}
