import { type RequestOf, type ResponseOf } from '../../protocol/endpoints.ts'
import { type AccountRef, type AccountSetup } from './account.ts'
import { type LedgerStatement } from './ledger-statement.ts'
import { type Reply } from './reply.ts'

/**
 * The futures side of the simulated exchange: synchronous, deterministic, without I/O, clock or randomness.
 *
 * Requests are parsed wire requests; answers are wire-shaped (strings). `now` is Unix ms of the exchange's
 * clock and never goes back: an earlier one counts as the latest seen. Every request first plays the market
 * up to `now`. Orders trade against the displayed market only: accounts never trade with one another.
 */
export interface ExchangeCore {
  /** Plays the market up to `now`: matching, triggers, funding, liquidation, delivery. */
  advance(now: number): void

  batchPlaceOrder(
    account: AccountRef,
    request: RequestOf<'batchPlaceOrder'>,
    now: number,
  ): Reply<ResponseOf<'batchPlaceOrder'>>
  cancelAllOrders(
    account: AccountRef,
    request: RequestOf<'cancelAllOrders'>,
    now: number,
  ): Reply<ResponseOf<'cancelAllOrders'>>
  modifyPlanOrder(
    account: AccountRef,
    request: RequestOf<'modifyPlanOrder'>,
    now: number,
  ): Reply<ResponseOf<'modifyPlanOrder'>>
  orderFills(
    account: AccountRef,
    request: RequestOf<'orderFills'>,
    now: number,
  ): Reply<ResponseOf<'orderFills'>>
  singlePosition(
    account: AccountRef,
    request: RequestOf<'singlePosition'>,
    now: number,
  ): Reply<ResponseOf<'singlePosition'>>
  tickers(request: RequestOf<'tickers'>, now: number): Reply<ResponseOf<'tickers'>>
  longShortRatio(request: RequestOf<'longShortRatio'>, now: number): Reply<ResponseOf<'longShortRatio'>>

  accounts(): readonly AccountSetup[]
  accountByKey(apiKey: string): AccountSetup | undefined
  /** @throws Failure SIMULATOR_ACCOUNT_UNKNOWN */
  ledger(uid: string): LedgerStatement

  /** Stops the market: quotes stay as they are, requests are still served. Stores the market's state. */
  pause(now: number): void
  /** The market goes on from where it stopped. */
  resume(now: number): void
}
