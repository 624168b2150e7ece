/** What an account owns and how it came to it. Every amount is an exact decimal in a string. */
export interface LedgerStatement {
  readonly uid: string
  readonly label: string
  /** Unix ms of the exchange's clock. */
  readonly at: number
  /** A row a margin coin. balance = opening + deposits + realisedProfit - fees + funding + insurance, exactly. */
  readonly coins: readonly LedgerCoin[]
  readonly positions: readonly LedgerPosition[]
  readonly openOrders: readonly LedgerOrder[]
  readonly counts: {
    readonly ordersAccepted: number
    readonly ordersRefused: number
    readonly ordersOpen: number
    readonly ordersFilled: number
    readonly ordersCancelled: number
    readonly planOrdersOpen: number
    readonly fills: number
    readonly liquidations: number
  }
}

export interface LedgerCoin {
  readonly marginCoin: string
  readonly opening: string
  readonly deposits: string
  /** Profit and loss that closed positions realised, before fees and funding. */
  readonly realisedProfit: string
  /** What was paid, positive. */
  readonly fees: string
  /** What was received, negative when paid. */
  readonly funding: string
  /** What the insurance fund paid so that a liquidation could not leave a debt. */
  readonly insurance: string
  readonly balance: string
}

export interface LedgerPosition {
  readonly symbol: string
  readonly holdSide: 'long' | 'short'
  readonly marginMode: 'isolated' | 'crossed'
  /** Base coin. */
  readonly size: string
  readonly openPriceAvg: string
  /** At the mark price, in the margin coin. */
  readonly unrealised: string
}

export interface LedgerOrder {
  readonly orderId: string
  readonly clientOid: string
  readonly symbol: string
  readonly side: 'buy' | 'sell'
  readonly tradeSide: 'open' | 'close' | undefined
  readonly reduceOnly: boolean
  readonly price: string
  readonly size: string
  readonly filled: string
}
