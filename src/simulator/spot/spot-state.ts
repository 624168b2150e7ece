import type { PairMarket } from '../services/pair-market.ts'
import { openPairs, type PairTrading } from '../services/pair-order.ts'
import type { ServicePorts } from '../services/service-ports.ts'
import { Histories } from '../shared/histories.ts'
import type { SpotOrder } from './spot-order.ts'
import type { SpotSettings } from './spot-settings.ts'
import { readSpotSymbol, type SpotSymbol } from './spot-symbol.ts'

/** Everything the spot service knows. One writer; each function of this module takes it first. */
export interface SpotState extends PairTrading<SpotOrder, SpotSymbol> {
  readonly settings: SpotSettings
  /** Of each account at most `withdrawalsMax`. */
  readonly withdrawals: Histories<WithdrawalRecord>
}

/** A withdrawal that was made; nothing of it is pending. */
export interface WithdrawalRecord {
  readonly orderId: string
  readonly uid: string
  /** Empty where the client sent none. */
  readonly clientOid: string
  readonly coin: string
  readonly transferType: 'on_chain' | 'internal_transfer'
  /** The chain address, or the UID of the receiving account. */
  readonly to: string
  readonly chain: string
  /** What left the account, the fee included. */
  readonly size: string
  readonly fee: string
  readonly remark: string
  readonly createdAt: number
}

export type SpotPair = PairMarket<SpotOrder, SpotSymbol>

/** The state as it was stored; empty at the very first start. */
export function openSpotState(ports: ServicePorts, settings: SpotSettings): SpotState {
  const { symbols, ordersMax, withdrawalsMax } = settings
  return {
    ...openPairs<SpotOrder, SpotSymbol>(ports, symbols.map(readSpotSymbol), {
      table: 'spot_orders',
      ordersMax,
      decimals: ['quoteSize', 'total', 'deducted', 'remainder'],
    }),
    settings,
    withdrawals: new Histories(ports.rows, {
      codec: { table: 'withdrawals', id: ({ orderId }) => orderId },
      max: withdrawalsMax,
      ownerOf: ({ uid }) => uid,
    }),
  }
}
