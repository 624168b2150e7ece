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

/**
 * From flat to flat, of one strategy on one side of one instrument. A fill that turns a position
 * ends one trade and begins the next; its fee counts for the first. Margin coin, at the strategy's
 * own average price.
 */
export interface ClosedTrade {
  readonly strategyId: string
  readonly symbol: string
  readonly side: 'long' | 'short'
  readonly openedAt: number
  readonly closedAt: number
  readonly size: string
  /** Quote coin: means of all that opened and closed it; null: not known. */
  readonly entryPrice: string | null
  readonly exitPrice: string | null
  readonly gross: string
  readonly fees: string
  /** Their worth is part of `fees` as far as known. */
  readonly otherFees: Readonly<Record<string, string>>
  readonly funding: string
  /** gross - fees + funding */
  readonly net: string
  readonly coin: string
  /** Net over the largest size at the mean entry price. */
  readonly share: number | null
  readonly fills: number
  readonly reason: ExitReason
  /** Unknown amounts, in words. */
  readonly uncounted: string
}

export interface TradeSums {
  readonly reason: ExitReason
  readonly coin: string
  readonly trades: number
  readonly wins: number
  /** Above and below zero; both are positive. */
  readonly gains: number
  readonly losses: number
  readonly heldMs: number
}

export function addToSums(sums: Map<string, TradeSums>, trade: ClosedTrade): void {
  const { reason, coin } = trade
  const key = `${reason} ${coin}`
  const known = sums.get(key) ?? {
    reason,
    coin,
    trades: 0,
    wins: 0,
    gains: 0,
    losses: 0,
    heldMs: 0,
  }
  const net = Number(trade.net)
  sums.set(key, {
    ...known,
    trades: known.trades + 1,
    wins: known.wins + (net > 0 ? 1 : 0),
    gains: known.gains + Math.max(0, net),
    losses: known.losses + Math.max(0, -net),
    heldMs: known.heldMs + trade.closedAt - trade.openedAt,
  })
}
