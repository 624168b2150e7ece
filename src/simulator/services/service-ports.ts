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
  /** Grid of the contract. */
  readonly tickSize: string
  readonly lotSize: string
  /** The current display; its `at` is 0 before the first quote. */
  readonly shown: Readonly<DisplayedMarket>
  /**
   * Calls `hear` at every later quote in order of time, after futures were matched with it: the
   * quote is in `shown`.
   */
  follow(hear: () => void): void
}

/**
 * Dependencies of the services besides futures (spot, margin, conversion, copy trading,
 * sub-accounts). Services are synchronous and deterministic, without I/O, clock or randomness of
 * their own.
 */
export interface ServicePorts {
  /** The exchange's clock at the moment being played, Unix ms. */
  readonly clock: { readonly now: number }
  /** Undefined if there are no futures of that name. */
  readonly market: (symbol: string) => FollowedMarket | undefined
  /**
   * Ticker of the futures of that name; undefined if there are none, or before their first quote.
   */
  readonly ticker: (symbol: string) => WireTicker | undefined
  readonly matching: MatchingRules
  readonly accounts: readonly AccountSetup[]
  readonly seed: string | number
  /** Unix ms of the exchange's clock at its first start, where an invented past ends. */
  readonly startAt: number
  readonly rows: StoredRows
  readonly wallet: Wallet
  readonly taken: PairsTaken
  readonly sequence: OrderSequence
}
