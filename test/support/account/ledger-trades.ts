export interface LedgerFill {
  readonly strategyId: string
  readonly symbol: string
  readonly isBuy: boolean
  /** The position: the net one, or one side in hedge mode. */
  readonly slot: 'long' | 'short' | 'net'
  readonly lots: number
  /** Value of all lots, margin coin. */
  readonly value: number
  readonly fee: number
}

export interface LedgerSums {
  count: number
  /** Proceeds of sales minus costs of purchases and fees, margin coin. */
  net: number
}

interface Leg {
  lots: number
  cash: number
}

/**
 * It shares neither code nor method with the product on purpose: it knows no average price, only
 * money that came and went between two moments without a position.
 */
export class LedgerTrades {
  readonly closed = new Map<string, LedgerSums>()
  /** A strategy has closed more than it held: others have closed with it. */
  isUncertain = false
  readonly #legs = new Map<string, Leg>()

  add(fill: LedgerFill): void {
    const { isBuy, lots, slot, fee } = fill
    const bought = isBuy ? lots : -lots
    const held = this.#legOf(fill).lots
    if (Math.sign(held) * Math.sign(bought) >= 0 || lots <= Math.abs(held))
      return this.#move(fill, bought, fee)
    // It turns the position: its whole fee belongs to what it ends.
    if (slot !== 'net') this.isUncertain = true
    this.#move(fill, -held, fee)
    this.#move(fill, bought + held, 0)
  }

  #move(fill: LedgerFill, change: number, fee: number): void {
    const leg = this.#legOf(fill)
    leg.cash -= (fill.value * change) / fill.lots + fee
    leg.lots += change
    if ((fill.slot === 'long' && leg.lots < 0) || (fill.slot === 'short' && leg.lots > 0))
      this.isUncertain = true
    if (leg.lots !== 0) return
    const key = `${fill.strategyId}|${fill.symbol}`
    const sums = this.closed.get(key) ?? { count: 0, net: 0 }
    this.closed.set(key, sums)
    sums.count += 1
    sums.net += leg.cash
    leg.cash = 0
  }

  #legOf({ strategyId, symbol, slot }: LedgerFill): Leg {
    const key = `${strategyId}|${symbol}|${slot}`
    const leg = this.#legs.get(key) ?? { lots: 0, cash: 0 }
    this.#legs.set(key, leg)
    return leg
  }
}
