import { type AccountSetup } from './core/account.ts'
import { type ServiceStore } from './service-store.ts'
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
  /** Plays what falls due up to `now`: matching, triggers, interest, liquidation. Cheap when nothing is due. */
  advance(now: number): void
  /** What the account has at this service, for the operator; a row of exact decimals in strings a coin. */
  ledger(uid: string): unknown
}

/** The displayed market of a symbol, as decimal strings in quote coin. */
export interface DisplayedPrice {
  readonly bid: string
  readonly ask: string
  readonly last: string
}

/** What every service is created with. A service's own settings and facts come as a second argument. */
export interface ServicePorts {
  /** From the futures market of the same symbol, displayed from a service's creation on; else undefined. */
  readonly prices: (symbol: string) => DisplayedPrice | undefined
  readonly accounts: readonly AccountSetup[]
  readonly seed: string | number
  /** Unix ms of the exchange's clock at its very first start: a seeded past ends here. */
  readonly startAt: number
  readonly store: ServiceStore
  readonly wallet: Wallet
  readonly sequence: OrderSequence
}
