import type { HoldSide } from './position.ts'

/**
 * The parts of `exits:` that close a position. Of protective levels that the price has passed, the
 * one that it met first names the exit; then come time, table and partial exits.
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

/** How far a stop is from the price that it counts from: a share in millionths, or so many millionths of the ATR at entry. */
export type ExitDistance =
  | { readonly kind: 'share'; readonly millionths: number }
  | { readonly kind: 'atr'; readonly millionths: number }

/**
 * The `exits:` of a strategy file. Shares are whole millionths (0.05 is 50,000), so that a level is
 * an exact number of ticks; durations in ms.
 */
export interface ExitRules {
  readonly stop?: ExitDistance
  /** Each order that opens also gives the exchange a stop-loss, at this share from its price. */
  readonly stopAtExchange?: number
  /** Counts from the best price, once that has brought `after`. */
  readonly trailing?: { readonly after: number; readonly distance: ExitDistance }
  /** At entry plus `offset`, once the best price has brought `after`. */
  readonly breakEven?: { readonly after: number; readonly offset: number }
  /** The last row that has begun counts: a profit of `least` or more closes. Sorted by time, from 0 on. */
  readonly profitTable?: readonly { readonly fromMs: number; readonly least: number }[]
  readonly timeLimitMs?: number
  /** Each once in a trade: at a profit of `at`, this share of the largest size is closed. Sorted. */
  readonly takeProfits?: readonly { readonly at: number; readonly close: number }[]
  readonly coolDownMs?: number
  readonly protections?: ExitProtections
  /** The candles behind distances of the kind `atr`. */
  readonly atr?: { readonly intervalMs: number; readonly period: number }
}

/** Pauses of entries that end by themselves. */
export interface ExitProtections {
  /** After so many trades that a stop has ended at a loss. */
  readonly stops?: { readonly count: number; readonly withinMs: number; readonly pauseMs: number }
  /** After so many trades that together have brought less than `below` of what was put in. */
  readonly lowProfit?: {
    readonly trades: number
    readonly withinMs: number
    readonly below: number
    readonly pauseMs: number
  }
}

/** An exit that is due: it is until nothing above `keptLots` is left that could be closed. */
export interface DueExit {
  readonly kind: ExitKind
  readonly keptLots: number
  /** Unix ms, exchange clock. */
  readonly since: number
}

/** A position of a strategy on one side of an instrument, from flat to flat, as its exits see it. */
export interface ExitTrade {
  /** Unix ms, exchange clock, of the fill that opened it; of an older position, when it was first seen. */
  readonly openedAt: number
  /** Average price in ticks, not necessarily whole; null: own fills do not explain what is held. */
  readonly entryTicks: number | null
  readonly lotsMax: number
  /** The best price that two answers in a row have shown; null: none yet, or nothing needs it. */
  readonly bestTicks: number | null
  /** Whole ticks; null: not known yet, or nothing needs it. */
  readonly atrTicks: number | null
  /** How many partial take-profits are done or due. */
  readonly taken: number
  /** After a partial exit a target counts up to these lots; null: without a bound. */
  readonly capLots: number | null
  readonly due: DueExit | null
  /** The last exit that was due for all of it; null: none was. */
  readonly leftBy: ExitKind | null
  /** Realised less fees of the strategy on the instrument before it, margin coin. */
  readonly netBefore: number
}

/** A trade that ended, for the protections. */
export interface EndedTrade {
  /** Unix ms, exchange clock. */
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

/** No order of the strategy that adds leaves on the instrument until then. */
export interface EntryPause {
  readonly cause: PauseCause
  /** Unix ms, exchange clock. */
  readonly untilAt: number
}

/** The exits of one strategy on one instrument, as the journal keeps them. */
export interface ExitState {
  readonly long: ExitTrade | null
  readonly short: ExitTrade | null
  /** A target on this side has been exited: it does not count until the strategy wants something else. */
  readonly lock: HoldSide | null
  readonly pause: EntryPause | null
  /** The oldest first, and no more than the protections look at. */
  readonly ended: readonly EndedTrade[]
}

/** The two ends of the last two believed prices, whole ticks: what both of them have passed is passed. */
export interface BelievedTicks {
  readonly low: number
  readonly high: number
}

/** The state of judging exits that the book lacks. Changed by `exits.ts`. */
export interface ExitWatch {
  /** Keyed by strategy and symbol: the exits with the newest best prices, and when they were last recorded; Unix ms, our clock. */
  readonly states: ReadonlyMap<string, WatchedExits>
  /** Keyed by symbol. */
  readonly prices: ReadonlyMap<string, WatchedPrice>
}

interface WatchedExits {
  readonly state: ExitState
  readonly recordedAt: number
}

interface WatchedPrice {
  /** Which answer of the tickers it is from; Unix ms, exchange clock. */
  readonly answeredAt: number
  /** This answer and the one before it; undefined: it is not believed. */
  readonly last: BelievedTicks | undefined
  readonly before: BelievedTicks | undefined
  /** Unix ms, our clock, since when the prices of the answers contradict each other; undefined: they do not. */
  readonly contradictedSince: number | undefined
}

export const NO_EXITS: ExitState = { long: null, short: null, lock: null, pause: null, ended: [] }

/** The exit that is due of a position, the long side first. */
export function dueExitOf(
  state: ExitState | undefined,
): (DueExit & { readonly holdSide: HoldSide }) | undefined {
  if (state?.long?.due) return { holdSide: 'long', ...state.long.due }
  if (state?.short?.due) return { holdSide: 'short', ...state.short.due }
  return undefined
}
