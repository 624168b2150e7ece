import { defaultPlatformCoin } from '../wallet/platform-coin.ts'
import { SPOT_SYMBOLS } from './spot-symbol.ts'

const OPENING: Readonly<Record<string, string>> = { USDT: '50000', BTC: '0.8', ETH: '12' }

export type SpotSettings = Readonly<typeof defaultSpotSettings>

export const defaultSpotSettings = {
  symbols: SPOT_SYMBOLS,
  platformCoin: defaultPlatformCoin,
  opening: OPENING,
  platformOpening: '400',
  deductsFees: false,
  /** The share of a fee that is paid: 0.8 is a discount of 20 %. */
  deductionRatio: '0.8',
  ordersMax: 20_000,
  withdrawalsMax: 10_000,
}
