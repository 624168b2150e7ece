import type { PairMarket } from '../services/pair-market.ts'
import type { PairTrading } from '../services/pair-service.ts'
import type { Histories } from '../shared/histories.ts'
import type { SpotOrder } from './spot-order.ts'
import type { SpotSettings } from './spot-settings.ts'
import type { SpotSymbol } from './spot-symbol.ts'

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
