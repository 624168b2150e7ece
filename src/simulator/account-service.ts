import { type AccountSetup } from './core/account.ts'
import { type DisplayedMarket } from './matching/displayed-market.ts'
import { type MatchingRules } from './matching/fill-model.ts'
import { type StoredRows } from './store/stored-rows.ts'
import { type OrderSequence } from './wallet/order-sequence.ts'
import { type Wallet } from './wallet/wallet.ts'

/**
 * A service is a part of the exchange beside futures (spot, margin, conversion, copy trading, sub-accounts).
 * It is synchronous and deterministic, without I/O, clock or randomness of its own. For every endpoint that
 * it serves it has a method of the endpoint's name in the protocol table:
 *
 *     (account: AccountRef, request: WireRequestOf<Name>, now: number) => Reply<WireResponseOf<Name>>
 *
 * and public endpoints take no account: `(request, now)`. `now` is Unix ms of the exchange's clock; an
 * earlier one than before counts as the latest seen.
 */
export interface AccountService {
  /** Plays what falls due by the clock alone, up to `now`; what the market brings is heard. Cheap when nothing is due. */
  advance?(now: number): void
  /** What the account has at this service, for the operator; a row of exact decimals in strings a coin. */
  ledger(uid: string): unknown
}

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

/** What every service is created with. A service's own settings and facts come as a second argument. */
export interface ServicePorts {
  /** Undefined where there are no futures of that name. */
  readonly market: (symbol: string) => FollowedMarket | undefined
  readonly matching: MatchingRules
  readonly accounts: readonly AccountSetup[]
  readonly seed: string | number
  /** Unix ms of the exchange's clock at its very first start: a seeded past ends here. */
  readonly startAt: number
  readonly rows: StoredRows
  readonly wallet: Wallet
  readonly sequence: OrderSequence
}
