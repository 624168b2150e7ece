import type { WireTicker } from '../../protocol/futures/tickers.ts'
import type { AccountSetup } from '../shared/account.ts'
import type { DisplayedMarket } from '../matching/displayed-market.ts'
import type { MatchingRules } from '../matching/fill-model.ts'
import type { PairsTaken } from './pairs-taken.ts'
import type { StoredRows } from '../store/stored-rows.ts'
import type { OrderSequence } from '../shared/order-sequence.ts'
import type { Wallet } from '../wallet/wallet.ts'

/** The futures market of a symbol, for a service that trades at its prices. */
export interface FollowedMarket {
  /** The contract's grid. */
  readonly tickSize: string
  readonly lotSize: string
  /** What it displays, at any moment; its `at` is 0 before the first quote. */
  readonly shown: Readonly<DisplayedMarket>
  /** Calls at every later quote, in the order of time, when futures have matched at it: it stands in `shown`. */
  follow(hear: () => void): void
}

/**
 * What the parts of the exchange beside futures (spot, margin, conversion, copy trading, sub-accounts) are opened with.
 * They are synchronous and deterministic, without I/O, clock or randomness of their own.
 */
export interface ServicePorts {
  /** The exchange's clock, which stands at the moment that is played: Unix ms. */
  readonly clock: { readonly now: number }
  /** Undefined where there are no futures of that name. */
  readonly market: (symbol: string) => FollowedMarket | undefined
  /** Of the futures of that name; undefined where there are none, or before their first quote. */
  readonly ticker: (symbol: string) => WireTicker | undefined
  readonly matching: MatchingRules
  readonly accounts: readonly AccountSetup[]
  readonly seed: string | number
  /** Unix ms of the exchange's clock at its very first start: a made-up past ends here. */
  readonly startAt: number
  readonly rows: StoredRows
  readonly wallet: Wallet
  readonly taken: PairsTaken
  readonly sequence: OrderSequence
}
