import { defaultPlatformCoin, type PlatformCoin } from '../wallet/platform-coin.ts'

/** The settings of the conversion service. */
export interface ConvertSettings {
  readonly platformCoin: PlatformCoin
  /** A share of what is received: 0.02 is 2 %, as in the vendor's sample. */
  readonly feeRate: string
  /** What a conversion must be worth, in USDT. */
  readonly worthMin: string
  /** Records kept an account; the oldest go first. */
  readonly recordsMax: number
}

export const defaultConvertSettings: ConvertSettings = {
  platformCoin: defaultPlatformCoin,
  feeRate: '0.02',
  worthMin: '0.01',
  recordsMax: 10_000,
}
