import { DayStatistics } from '../market/day-statistics.ts'
import { type MarketState } from '../market/market-state.ts'
import { type Market } from '../market/market.ts'
import { decimal } from '../../lib/decimal.ts'
import { type RequestOf, type ResponseOf } from '../../protocol/endpoints.ts'
import { assertAccounts, type AccountRef, type AccountSetup } from './account.ts'
import { type BookSum } from './book-sums.ts'
import { applyCheckpoint, assertSameMarket, readCheckpoint, type SymbolCheckpoint } from './checkpoint.ts'
import { createCoreState, createSymbolState, type AccountCounts, type CoreState } from './core-state.ts'
import { bookFor } from './execute-fill.ts'
import { toMarketInstrument, type Instrument } from './instruments.ts'
import { type LedgerStatement } from './ledger-statement.ts'
import { type PlacePlanOrderRequest, type PlanOrderReference } from './plan-orders.ts'
import { type Reply } from './reply.ts'
import { ServedCore } from './served-core.ts'
import { defaultCoreSettings, type CoreSettings } from './settings.ts'
import { type RowStore } from '../store/row-store.ts'
import { StoredRows } from '../store/stored-rows.ts'
import { restoreState, SYMBOLS } from './stored-entities.ts'
import { findNextSettlement, replayQuotes } from './timeline.ts'

/**
 * The futures side of the simulated exchange: synchronous, deterministic, without I/O, clock or randomness.
 *
 * Requests are parsed wire requests; answers are wire-shaped (strings). `now` is Unix ms of the exchange's
 * clock and never goes back: an earlier one counts as the latest seen. Every request first plays the market
 * up to `now`. Orders trade against the displayed market only: accounts never trade with one another.
 */
export interface ExchangeCore {
  /**
   * Plays the market up to `now`: matching, triggers, funding, liquidation, delivery.
   * @returns false after a tenth of a second of work with more to do: call again with the same `now`.
   */
  advance(now: number): boolean

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

  /** Makes a trigger order: the document only modifies them, so something must make them first. */
  placePlanOrder(account: AccountRef, request: PlacePlanOrderRequest, now: number): Reply<PlanOrderReference>

  /**
   * Plays up to `now`, does something else that belongs to the exchange (a service's request, one of an undocumented
   * endpoint), and stores what it changed as one operation.
   */
  carryOut<Result>(now: number, handle: (state: CoreState) => Result): Result
  /** Ms of the market's time in one of the exchange's clock. */
  readonly speed: number
  /** Where every part of the exchange keeps its rows. */
  readonly rows: StoredRows

  accounts(): readonly AccountSetup[]
  instruments(): readonly Instrument[]
  accountByKey(apiKey: string): AccountSetup | undefined
  /** Adds play money. @param amount A positive decimal. */
  deposit(uid: string, deposit: { readonly coin: string; readonly amount: string }, now: number): void
  /** As of the latest `now`. @throws Failure SIMULATOR_ACCOUNT_UNKNOWN */
  ledger(uid: string): LedgerStatement
  /** The books of the whole exchange by margin coin: `sum` is always zero. */
  books(): readonly BookSum[]

  /** What happened so far, over all accounts. */
  counters(): AccountCounts
  /** Stops the market: quotes stay as they are, requests are still served, funding goes on. */
  pause(now: number): void
  /** The market goes on from where it stopped. */
  resume(now: number): void
  readonly isPaused: boolean
  /** Unix ms: the latest `now` that was played. */
  readonly now: number
}

export interface ExchangeCoreOptions {
  readonly instruments: readonly Instrument[]
  readonly accounts: readonly AccountSetup[]
  /**
   * Opens the market of these instruments: afresh, or from the stored state that the core hands over. A
   * market whose identity is not the stored one is refused.
   */
  readonly market: (stored: MarketState | undefined) => Market
  readonly settings?: Partial<CoreSettings>
  /** Without one the core lives in memory alone and costs nothing for it. */
  readonly store?: RowStore
  /** For the statistics that the market has none of: premium, open interest, long/short ratio. */
  readonly seed: string | number
}

/**
 * Starts the exchange, afresh or from its store.
 * @throws Failure SIMULATOR_ACCOUNT_INVALID, SIMULATOR_MARKET_CHANGED, SIMULATOR_ACCOUNT_MISSING,
 *   SIMULATOR_SYMBOL_MISSING, SIMULATOR_POSITION_MODE_CHANGED, SIMULATOR_STORE_DAMAGED, SIMULATOR_STORE_VERSION, SIMULATOR_COIN_UNKNOWN
 */
export function createExchangeCore(options: ExchangeCoreOptions): ExchangeCore {
  assertAccounts(options.accounts)
  const rows = new StoredRows(options.store)
  const checkpoint = readCheckpoint(rows)
  const market = options.market(checkpoint?.market)
  if (checkpoint !== undefined) assertSameMarket(market, checkpoint)
  const state = createCoreState({
    settings: { ...defaultCoreSettings, ...options.settings },
    symbols: options.instruments.map((instrument) =>
      createSymbolState(
        instrument,
        openStatistics(options, market, { instrument, stored: checkpoint?.symbols.get(instrument.symbol) }),
      ),
    ),
    accounts: options.accounts,
    rows,
    seed: options.seed,
    speed: market.speed,
  })
  if (checkpoint !== undefined) {
    restoreState(state, rows)
    applyCheckpoint(state, checkpoint)
    replayQuotes(state, market, new Map(rows.read(SYMBOLS).map((row) => [row.symbol, row])))
  }
  findNextSettlement(state)
  openAccounts(state)
  return new ServedCore({ state, market })
}

function openStatistics(
  { seed }: ExchangeCoreOptions,
  market: Market,
  { instrument, stored }: { readonly instrument: Instrument; readonly stored: SymbolCheckpoint | undefined },
): DayStatistics {
  return new DayStatistics({
    instrument: toMarketInstrument(instrument),
    seed,
    speed: market.speed,
    isRecorded: market.isRecorded(instrument.symbol),
    past: stored === undefined ? market.pastDay(instrument.symbol) : [],
    ...(stored && { state: stored.statistics }),
  })
}

/** Books the opening balance of every coin that the account has never had. */
function openAccounts(state: CoreState): void {
  for (const account of state.accounts.values()) {
    for (const [coin, amount] of Object.entries(account.setup.balances)) {
      if (account.coins.has(coin)) continue
      bookFor(state, account, { coin, booking: 'opening', amount: decimal(amount) })
    }
  }
}
