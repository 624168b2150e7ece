import { defaultPlatformCoin } from '../wallet/platform-coin.ts'
import { SPOT_SYMBOLS } from './spot-symbol.ts'

const OPENING: Readonly<Record<string, string>> = { USDT: '50000', BTC: '0.8', ETH: '12' }

export type SpotSettings = Readonly<typeof defaultSpotSettings>

export const defaultSpotSettings = {
  symbols: SPOT_SYMBOLS,
  platformCoin: defaultPlatformCoin,
  /** Spot balance of every account before its first order. */
  opening: OPENING,
  /** Opening balance of the platform's own coin. */
  platformOpening: '400',
  /** Whether new orders pay their fees in the platform's own coin, as far as its balance goes. */
  deductsFees: false,
  /** Remaining share of a fee paid in the platform's own coin: 0.8 is a discount of 20 %. */
  deductionRatio: '0.8',
  /** Orders kept for each account: the oldest ended ones are dropped. */
  ordersMax: 20_000,
  /** Withdrawals kept for each account, with their clientOids. */
  withdrawalsMax: 10_000,
}
