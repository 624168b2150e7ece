import type { WireTicker } from '../../protocol/futures/tickers.ts'
import type { ExchangeAccountSetup } from '../shared/account.ts'
import type { DisplayedMarket } from '../matching/displayed-market.ts'
import type { MatchingRules } from '../matching/fill-model.ts'
import type { PairsTaken } from './pairs-taken.ts'
import type { StoredRows } from '../store/stored-rows.ts'
import type { OrderSequence } from '../shared/order-sequence.ts'
import type { Wallet } from '../wallet/wallet.ts'

export interface FollowedMarket {
  readonly tickSize: string
  readonly lotSize: string
  readonly shown: Readonly<DisplayedMarket>
  /** Calls `hear` after futures were matched with a quote, which is then in `shown`. */
  follow(hear: () => void): void
}

export interface ServicePorts {
  readonly clock: { readonly now: number }
  readonly market: (symbol: string) => FollowedMarket | undefined
  /** Undefined without such futures, or before their first quote. */
  readonly ticker: (symbol: string) => WireTicker | undefined
  readonly matching: MatchingRules
  readonly accounts: readonly ExchangeAccountSetup[]
  readonly seed: string | number
  /** The exchange's first start, where an invented past ends. */
  readonly startAt: number
  readonly rows: StoredRows
  readonly wallet: Wallet
  readonly taken: PairsTaken
  readonly sequence: OrderSequence
}
