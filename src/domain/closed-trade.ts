export const EXIT_REASONS = {
  order: "an order of the strategy, or an older one than the journal's records",
  flatten: 'an order of a flatten, a limit or a stop',
  stop: 'the stop-loss of `exits`',
  trailing: 'the trailing stop of `exits`',
  breakEven: 'the break-even stop of `exits`',
  timeLimit: 'the time limit of `exits`',
  profitTable: 'the table of profit by time held, of `exits`',
  takeProfit: 'a take-profit, of `exits` or one that the exchange kept',
  stopLoss: 'a stop-loss that the exchange kept',
  liquidation: 'a liquidation',
  autoDeleveraging: 'auto-deleveraging',
  delivery: 'the delivery of the contract',
  system: "another act of the exchange's system",
  otherStrategy: 'an order of another strategy, which closed more than it held',
  byHand: 'an order that is none of ours',
  adopted: 'the position was taken over from the exchange, or given to the strategy',
} as const

export type ExitReason = keyof typeof EXIT_REASONS

export function isExitReason(text: string): text is ExitReason {
  return Object.hasOwn(EXIT_REASONS, text)
}

/**
 * From flat to flat, of one strategy on one side. A fill that turns a position ends one trade and
 * begins the next; its fee counts for the first. Margin coin, at the strategy's own average price.
 */
export interface ClosedTrade {
  readonly strategyId: string
  readonly symbol: string
  readonly side: 'long' | 'short'
  readonly openedAt: number
  readonly closedAt: number
  readonly size: string
  /** The mean of all fills, quote coin; null: not known. */
  readonly entryPrice: string | null
  readonly exitPrice: string | null
  readonly gross: string
  readonly fees: string
  /** Keyed by coin; `fees` include their worth if it is known. */
  readonly otherFees: Readonly<Record<string, string>>
  readonly funding: string
  /** gross - fees + funding */
  readonly net: string
  readonly coin: string
  /** Net over the largest size at the mean entry price. */
  readonly share: number | null
  readonly fills: number
  readonly reason: ExitReason
  /** The tag of the order of the first fill, and of the last; empty: none. */
  readonly entryTag: string
  readonly exitTag: string
  readonly uncounted: string
}

export interface TradeFigures {
  readonly coin: string
  readonly trades: number
  readonly wins: number
  /** Above and below zero; both are positive. */
  readonly gains: number
  readonly losses: number
  readonly heldMs: number
}

export interface TradeSums extends TradeFigures {
  readonly reason: ExitReason
}

/** Trades without a tag are under the empty one. */
export interface TagSums extends TradeFigures {
  readonly tag: string
}

export function addToSums(sums: Map<string, TradeSums>, trade: ClosedTrade): void {
  const { reason, coin } = trade
  const key = `${reason} ${coin}`
  sums.set(key, { reason, ...addToFigures(sums.get(key), trade) })
}

/** @param tagsMax trades of further tags are counted together: a strategy may give each its own */
export function addToTags(sums: Map<string, TagSums>, trade: ClosedTrade, tagsMax: number): void {
  const { entryTag, coin } = trade
  const isOther = sums.size >= tagsMax && !sums.has(`${coin} ${entryTag}`)
  const tag = isOther ? 'other tags' : entryTag
  const key = `${coin} ${tag}`
  sums.set(key, { tag, ...addToFigures(sums.get(key), trade) })
}

function addToFigures(known: TradeFigures | undefined, trade: ClosedTrade): TradeFigures {
  const net = Number(trade.net)
  return {
    coin: trade.coin,
    trades: (known?.trades ?? 0) + 1,
    wins: (known?.wins ?? 0) + (net > 0 ? 1 : 0),
    gains: (known?.gains ?? 0) + Math.max(0, net),
    losses: (known?.losses ?? 0) + Math.max(0, -net),
    heldMs: (known?.heldMs ?? 0) + trade.closedAt - trade.openedAt,
  }
}
