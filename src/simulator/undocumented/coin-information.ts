import { COINS, type Coin } from '../spot/coins.ts'

/** What of a chain the services have no use for. Facts of the real list of coins. */
interface ChainFacts {
  readonly depositConfirm: string
  readonly withdrawConfirm: string
  readonly minDepositAmount: string
  readonly browserUrl: string
  readonly contractAddress: string | null
}

const COIN_IDS: Readonly<Record<string, string>> = { BTC: '1', USDT: '2', ETH: '3' }

/** By coin and chain; a pair that is not here shows {@link OTHER_CHAIN}. */
const CHAIN_FACTS: Readonly<Record<string, ChainFacts>> = {
  'USDT TRC20': {
    depositConfirm: '1',
    withdrawConfirm: '1',
    minDepositAmount: '0.01',
    browserUrl: 'https://tronscan.org/#/transaction/',
    contractAddress: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
  },
  'USDT ERC20': {
    depositConfirm: '12',
    withdrawConfirm: '64',
    minDepositAmount: '0.01',
    browserUrl: 'https://etherscan.io/tx/',
    contractAddress: '0xdac17f958d2ee523a2206206994597c13d831ec7',
  },
  'BTC BTC': {
    depositConfirm: '1',
    withdrawConfirm: '1',
    minDepositAmount: '0.00001',
    browserUrl: 'https://www.blockchain.com/explorer/transactions/btc/',
    contractAddress: null,
  },
}

const OTHER_CHAIN: ChainFacts = {
  depositConfirm: '12',
  withdrawConfirm: '64',
  minDepositAmount: '0.0001',
  browserUrl: 'https://etherscan.io/tx/',
  contractAddress: null,
}

/** The coins that the spot service can withdraw, or the one that is asked for. */
export function coinInformation(asked: string | undefined) {
  return COINS.filter(({ coin }) => asked === undefined || coin === asked.toUpperCase()).map(toRow)
}

function toRow({ coin, chains }: Coin, index: number) {
  return {
    coinId: COIN_IDS[coin] ?? String(1000 + index),
    coin,
    transfer: 'true',
    chains: chains.map(({ chain, withdrawFee, minWithdrawAmount, withdrawMinScale }) => ({
      chain,
      needTag: 'false',
      withdrawable: 'true',
      rechargeable: 'true',
      withdrawFee,
      extraWithdrawFee: '0',
      minWithdrawAmount,
      withdrawMinScale: String(withdrawMinScale),
      withdrawStep: '0',
      congestion: 'normal',
      ...(CHAIN_FACTS[`${coin} ${chain}`] ?? OTHER_CHAIN),
    })),
  }
}
