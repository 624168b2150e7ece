import { defaultPlatformCoin } from '../wallet/platform-coin.ts'
import { SPOT_SYMBOLS } from './spot-symbol.ts'

/** Coin to amount. */
const OPENING: Readonly<Record<string, string>> = { USDT: '50000', BTC: '0.8', ETH: '12' }

/** The settings of the spot service. */
export type SpotSettings = Readonly<typeof defaultSpotSettings>

export const defaultSpotSettings = {
  symbols: SPOT_SYMBOLS,
  platformCoin: defaultPlatformCoin,
  /** What every account has in its spot balance before its first order. */
  opening: OPENING,
  /** The same of the platform's own coin. */
  platformOpening: '400',
  /** Whether new orders pay their fees in the platform's own coin, as far as its balance goes. */
  deductsFees: false,
  /** What of a fee remains when it is paid in the platform's own coin: 0.8 is a discount of 20 %. */
  deductionRatio: '0.8',
  /** Orders kept an account: the oldest that are done go first. */
  ordersMax: 20_000,
  /** Withdrawals kept an account, and their clientOids with them. */
  withdrawalsMax: 10_000,
}
