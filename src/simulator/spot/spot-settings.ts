import { defaultPlatformCoin, type PlatformCoin } from '../wallet/platform-coin.ts'
import { SPOT_SYMBOLS, type SpotSymbolRow } from './spot-symbol.ts'

/** The settings of the spot service. */
export interface SpotSettings {
  readonly symbols: readonly SpotSymbolRow[]
  readonly platformCoin: PlatformCoin
  /** What every account has in its spot balance before its first order: coin to amount. */
  readonly opening: Readonly<Record<string, string>>
  /** The same of the platform's own coin. */
  readonly platformOpening: string
  /** Whether new orders pay their fees in the platform's own coin, as far as its balance goes. */
  readonly deductsFees: boolean
  /** What of a fee remains when it is paid in the platform's own coin: 0.8 is a discount of 20 %. */
  readonly deductionRatio: string
  /** Orders kept an account: the oldest that are done go first. */
  readonly ordersMax: number
  /** Withdrawals kept an account, and their clientOids with them. */
  readonly withdrawalsMax: number
}

export const defaultSpotSettings: SpotSettings = {
  symbols: SPOT_SYMBOLS,
  platformCoin: defaultPlatformCoin,
  opening: { USDT: '50000', BTC: '0.8', ETH: '12' },
  platformOpening: '400',
  deductsFees: false,
  deductionRatio: '0.8',
  ordersMax: 20_000,
  withdrawalsMax: 10_000,
}
