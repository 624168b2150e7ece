/** The real list of coins, except as noted. */
export interface CoinChain {
  readonly chain: string
  readonly withdrawFee: string
  readonly minWithdrawAmount: string
  readonly withdrawMinScale: number
}

export interface Coin {
  readonly coin: string
  readonly chains: readonly CoinChain[]
}

export const TRANSFER_SCALE = 8

/** ETH's row is ours, modelled on the others. */
export const COINS: readonly Coin[] = [
  {
    coin: 'USDT',
    chains: [
      { chain: 'TRC20', withdrawFee: '1', minWithdrawAmount: '10', withdrawMinScale: 8 },
      { chain: 'ERC20', withdrawFee: '3', minWithdrawAmount: '10', withdrawMinScale: 8 },
    ],
  },
  {
    coin: 'BTC',
    chains: [
      { chain: 'BTC', withdrawFee: '0.0001', minWithdrawAmount: '0.0005', withdrawMinScale: 8 },
    ],
  },
  {
    coin: 'ETH',
    chains: [
      { chain: 'ERC20', withdrawFee: '0.001', minWithdrawAmount: '0.01', withdrawMinScale: 8 },
    ],
  },
]

/** Samples write `erc20`, lists `ERC20`. */
export function isSameName(one: string, other: string): boolean {
  return one.toUpperCase() === other.toUpperCase()
}
