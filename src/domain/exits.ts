import type { StrategyId } from './ids.ts'
import type { HoldSide } from './position.ts'

/** If several are due, the protective level that was met first names the exit. */
export const EXIT_KINDS = {
  stop: 'the stop-loss',
  trailing: 'the trailing stop',
  breakEven: 'the break-even stop',
  timeLimit: 'the time limit',
  profitTable: 'the table of profit by time held',
  takeProfit: 'a partial take-profit',
} as const

export type ExitKind = keyof typeof EXIT_KINDS

/** A share of the price, or a multiple of the ATR at entry, in millionths. */
export type ExitDistance =
  | { readonly kind: 'share'; readonly millionths: number }
  | { readonly kind: 'atr'; readonly millionths: number }

/** Shares are whole millionths (0.05 is 50,000), so that levels are exact in ticks. */
export interface ExitRules {
  readonly stop?: ExitDistance
  /** Opening orders carry a stop-loss at this share, which the exchange keeps. */
  readonly stopAtExchange?: number
  /** Follows the best price, once the profit at it has reached `after`. */
  readonly trailing?: { readonly after: number; readonly distance: ExitDistance }
  /**
   * The stop moves to entry plus `offset`, once the profit at the best price has reached `after`.
   */
  readonly breakEven?: { readonly after: number; readonly offset: number }
  /**
   * Rows are sorted by time, from 0. The last one whose time has come counts: a profit of `least`
   * closes.
   */
  readonly profitTable?: readonly { readonly fromMs: number; readonly least: number }[]
  readonly timeLimitMs?: number
  /**
   * Rows are sorted. At a profit of `at`, the share `close` of the largest size closes, once in a
   * trade.
   */
  readonly takeProfits?: readonly { readonly at: number; readonly close: number }[]
  readonly coolDownMs?: number
  readonly protections?: ExitProtections
  /** Distances of the kind `atr` need it. */
  readonly atr?: { readonly intervalMs: number; readonly period: number }
}

/** A pause of entries ends by itself. */
export interface ExitProtections {
  /** Entries pause after so many trades that a stop ended at a loss. */
  readonly stops?: { readonly count: number; readonly withinMs: number; readonly pauseMs: number }
  /**
   * Entries pause after so many trades whose profit together is less than this share of their
   * worth.
   */
  readonly lowProfit?: {
    readonly trades: number
    readonly withinMs: number
    readonly below: number
    readonly pauseMs: number
  }
}

/** An exit is due until nothing above `keptLots` can be closed. */
export interface DueExit {
  readonly kind: ExitKind
  readonly keptLots: number
  /** Exchange clock. */
  readonly since: number
}

/** A trade from flat to flat. Null: not known yet, or not needed. */
export interface ExitTrade {
  /** Exchange clock, of the opening fill; for an older position, when it was first seen. */
  readonly openedAt: number
  /** An average, which need not be whole; null: own fills do not explain what is held. */
  readonly entryTicks: number | null
  readonly lotsMax: number
  /** The best price that two answers in a row have shown. */
  readonly bestTicks: number | null
  readonly atrTicks: number | null
  readonly taken: number
  /** After a partial exit, a target counts up to these lots. */
  readonly capLots: number | null
  readonly due: DueExit | null
  /** The last exit that was due for the whole position. */
  readonly leftBy: ExitKind | null
  /** Realised profit less fees before this trade, margin coin. */
  readonly netBefore: number
}

export interface EndedTrade {
  /** Exchange clock. */
  readonly at: number
  readonly isStop: boolean
  /** Realised less fees, margin coin. */
  readonly net: number
  /** The largest size at the average entry price, margin coin. */
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
  /**
   * A target on this side opens nothing until the strategy wants something else, or the cool-down
   * is over.
   */
  readonly lock: HoldSide | null
  readonly pause: EntryPause | null
  /** As many as protections look at, the oldest first. */
  readonly ended: readonly EndedTrade[]
  /** Realised less fees of trades that ended with less than can be closed; margin coin. */
  readonly rests?: Readonly<Partial<Record<HoldSide, number>>>
}

/** The last two believed prices; a level is passed once both have passed it. */
export interface BelievedTicks {
  readonly low: number
  readonly high: number
}

/** Lost at a restart. Only `engine/state/exits.ts` changes it. */
export interface ExitWatch {
  /** Keyed by strategy and symbol. */
  readonly states: ReadonlyMap<string, WatchedExits>
  readonly prices: ReadonlyMap<string, WatchedPrice>
}

/** Instants are of our clock, 0: never. Only `engine/state/kept-exits.ts` changes it. */
export interface KeptExitsWatch {
  /** Names the exits and positions that the list was read for. */
  readonly listedFor: string
  readonly listedAt: number
  readonly askedAt: number
  readonly isListing: boolean
  readonly missingSince: number | undefined
  readonly move: StopMove | undefined
  readonly moveNotBefore: number
  /** The failure that was logged last; undefined once it worked again. */
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
  /** Undefined: the price was not believed. */
  readonly last: BelievedTicks | undefined
  readonly before: BelievedTicks | undefined
  /** Since when prices of the answers contradict each other; our clock. */
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
