import type { PairMarket } from '../services/pair-market.ts'
import type { PairTrading } from '../services/pair-service.ts'
import type { Histories } from '../shared/histories.ts'
import type { SpotOrder } from './spot-order.ts'
import { type SpotSymbol, SPOT_SYMBOLS } from './spot-symbol.ts'
import { defaultPlatformCoin } from '../wallet/platform-coin.ts'

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

export interface SpotState extends PairTrading<SpotOrder, SpotSymbol> {
  readonly settings: SpotSettings
  readonly withdrawals: Histories<WithdrawalRecord>
}

export interface WithdrawalRecord {
  readonly orderId: string
  readonly uid: string
  readonly clientOid: string
  readonly coin: string
  readonly transferType: 'on_chain' | 'internal_transfer'
  readonly to: string
  readonly chain: string
  readonly size: string
  readonly fee: string
  readonly remark: string
  readonly createdAt: number
}

export type SpotPair = PairMarket<SpotOrder, SpotSymbol>
