import { decimal, ZERO } from '../../lib/decimal.ts'
import { type RequestOf, type ResponseOf } from '../../protocol/endpoints.ts'
import { DayStatistics } from '../market/day-statistics.ts'
import { type Market } from '../market/market.ts'
import { type MarketState } from '../market/market-state.ts'
import { type AccountRef, type AccountSetup } from './account.ts'
import { bookSums, type BookSum } from './book-sums.ts'
import { cancelAll } from './cancel-orders.ts'
import { ChangeSet } from './change-set.ts'
import { applyCheckpoint, assertSameMarket, takeCheckpoint, type SymbolCheckpoint } from './checkpoint.ts'
import { accountOf, createCoreState, createSymbolState, type Account, type CoreState } from './core-state.ts'
import { bookFor } from './execute-fill.ts'
import { fillsPage } from './fills-page.ts'
import { pruneWindow } from './idempotency.ts'
import { toMarketInstrument, type Instrument } from './instruments.ts'
import { type LedgerStatement } from './ledger-statement.ts'
import { ledgerStatement } from './ledger-view.ts'
import { longShortSeries } from './long-short-ratio.ts'
import { modifyPlan } from './modify-plan-order.ts'
import { listedSymbol, placeBatch } from './place-orders.ts'
import { placePlanOrder, type PlacePlanOrderRequest, type PlanOrderReference } from './plan-orders.ts'
import { positionRows } from './position-view.ts'
import { putClock } from './record-changes.ts'
import { refusals } from './refusals.ts'
import { accept, refuse, type Reply } from './reply.ts'
import {
  parseRows,
  restoreState,
  restoreTaken,
  storedCheckpoint,
  STORE_VERSION,
  type StoredTables,
} from './restore.ts'
import { defaultCoreSettings, type CoreSettings } from './settings.ts'
import { type CoreStore } from './store.ts'
import { tickerRows } from './ticker-view.ts'
import { findNextSettlement, playUntil, replayQuotes } from './timeline.ts'

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

  accounts(): readonly AccountSetup[]
  instruments(): readonly Instrument[]
  accountByKey(apiKey: string): AccountSetup | undefined
  /** Adds play money. @param amount A positive decimal. */
  deposit(uid: string, deposit: { readonly coin: string; readonly amount: string }, now: number): void
  /** As of the latest `now`. @throws Failure SIMULATOR_ACCOUNT_UNKNOWN */
  ledger(uid: string): LedgerStatement
  /** The books of the whole exchange by margin coin: `sum` is always zero. */
  books(): readonly BookSum[]

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
  readonly store?: CoreStore
  /** For the statistics that the market has none of: premium, open interest, long/short ratio. */
  readonly seed: string | number
}

/**
 * Starts the exchange, afresh or from its store.
 * @throws Failure SIMULATOR_MARKET_CHANGED, SIMULATOR_ACCOUNT_MISSING, SIMULATOR_SYMBOL_MISSING,
 *   SIMULATOR_POSITION_MODE_CHANGED, SIMULATOR_STORE_DAMAGED, SIMULATOR_STORE_VERSION, SIMULATOR_COIN_UNKNOWN
 */
export function createExchangeCore(options: ExchangeCoreOptions): ExchangeCore {
  const rows = options.store?.load()
  const tables = rows && parseRows(rows)
  const checkpoint = tables && storedCheckpoint(tables)
  const market = options.market(checkpoint?.market)
  if (checkpoint !== undefined) assertSameMarket(market, checkpoint)
  const bySymbol = new Map(checkpoint?.symbols.map((entry) => [entry.symbol, entry]))
  const state = createCoreState({
    settings: { ...defaultCoreSettings, ...options.settings },
    symbols: options.instruments.map((instrument) =>
      createSymbolState(
        instrument,
        openStatistics(options, market, { instrument, stored: bySymbol.get(instrument.symbol) }),
      ),
    ),
    accounts: options.accounts,
    changes: new ChangeSet(options.store !== undefined),
  })
  if (tables !== undefined && checkpoint !== undefined) {
    restoreState(state, tables)
    applyCheckpoint(state, checkpoint)
    replayQuotes(state, market)
    restoreTaken(state, tables)
  }
  findNextSettlement(state)
  openAccounts(state)
  return new Core({ state, market, store: options.store, seed: options.seed, tables })
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

interface CoreParts {
  readonly state: CoreState
  readonly market: Market
  readonly store: CoreStore | undefined
  readonly seed: string | number
  readonly tables: StoredTables | undefined
}

class Core implements ExchangeCore {
  readonly #state: CoreState
  readonly #market: Market
  readonly #store: CoreStore | undefined
  readonly #seed: string | number
  readonly #byKey: ReadonlyMap<string, AccountSetup>
  /** When the market was last stored, on the exchange's clock. */
  #checkpointAt: number

  constructor({ state, market, store, seed, tables }: CoreParts) {
    this.#state = state
    this.#market = market
    this.#store = store
    this.#seed = seed
    this.#byKey = new Map([...state.accounts.values()].map(({ setup }) => [setup.key, setup]))
    this.#checkpointAt = state.clock.now
    if (tables === undefined) this.#checkpoint()
    this.#save()
  }

  get now(): number {
    return this.#state.clock.now
  }

  get isPaused(): boolean {
    return this.#state.clock.pausedAt > 0
  }

  advance(now: number): boolean {
    const isDone = playUntil(this.#state, this.#market, now)
    // A stretch that is not over is not stored: after a kill it is played again, whole.
    if (isDone) this.#save()
    return isDone
  }

  batchPlaceOrder(account: AccountRef, request: RequestOf<'batchPlaceOrder'>, now: number) {
    return this.#serve(account, now, (named) => placeBatch(this.#state, named, request))
  }

  cancelAllOrders(account: AccountRef, request: RequestOf<'cancelAllOrders'>, now: number) {
    return this.#serve(account, now, (named) => cancelAll(this.#state, named, request))
  }

  modifyPlanOrder(account: AccountRef, request: RequestOf<'modifyPlanOrder'>, now: number) {
    return this.#serve(account, now, (named) => modifyPlan(this.#state, named, request))
  }

  placePlanOrder(account: AccountRef, request: PlacePlanOrderRequest, now: number) {
    return this.#serve(account, now, (named) => placePlanOrder(this.#state, named, request))
  }

  orderFills(account: AccountRef, request: RequestOf<'orderFills'>, now: number) {
    return this.#serve(account, now, (named) => accept(fillsPage(this.#state, named, request)))
  }

  singlePosition(
    account: AccountRef,
    request: RequestOf<'singlePosition'>,
    now: number,
  ): Reply<ResponseOf<'singlePosition'>> {
    return this.#serve(account, now, (named) => {
      const symbol = listedSymbol(this.#state, request)
      if (symbol === undefined) return refuse(refusals.symbolUnknown(request.symbol))
      if (request.marginCoin !== symbol.instrument.marginCoin) return refuse(refusals.parameter('marginCoin'))
      return accept(positionRows(this.#state, named, request.symbol))
    })
  }

  tickers({ productType }: RequestOf<'tickers'>, now: number): Reply<ResponseOf<'tickers'>> {
    this.#playAll(now)
    return accept(tickerRows(this.#state, productType))
  }

  longShortRatio(request: RequestOf<'longShortRatio'>, now: number): Reply<ResponseOf<'longShortRatio'>> {
    this.#playAll(now)
    const symbol = this.#state.symbols.get(request.symbol)
    if (symbol === undefined) return refuse(refusals.symbolUnknown(request.symbol))
    const { baseCoin, quoteCoin } = symbol.instrument
    const { coin = baseCoin, period = '24h' } = request
    if (coin !== baseCoin && coin !== quoteCoin) return refuse(refusals.parameter('coin'))
    return accept(
      longShortSeries({ seed: this.#seed, symbol: `${request.symbol}/${coin}`, period, now: this.now }),
    )
  }

  accounts(): readonly AccountSetup[] {
    return [...this.#state.accounts.values()].map(({ setup }) => setup)
  }

  instruments(): readonly Instrument[] {
    return [...this.#state.symbols.values()].map(({ instrument }) => instrument)
  }

  accountByKey(apiKey: string): AccountSetup | undefined {
    return this.#byKey.get(apiKey)
  }

  deposit(
    uid: string,
    { coin, amount }: { readonly coin: string; readonly amount: string },
    now: number,
  ): void {
    const money = decimal(amount)
    if (money.lte(ZERO)) throw new RangeError(`a deposit must be positive, got ${amount}`)
    this.#serve({ uid }, now, (account) =>
      bookFor(this.#state, account, { coin, booking: 'deposit', amount: money }),
    )
  }

  ledger(uid: string): LedgerStatement {
    return ledgerStatement(this.#state, accountOf(this.#state, uid))
  }

  books(): readonly BookSum[] {
    return bookSums(this.#state)
  }

  pause(now: number): void {
    this.#playAll(now)
    const { clock } = this.#state
    if (clock.pausedAt === 0) clock.pausedAt = clock.now
    this.#checkpoint()
    this.#save()
  }

  resume(now: number): void {
    this.#playAll(now)
    const { clock } = this.#state
    if (clock.pausedAt === 0) return
    clock.pausedMs += clock.now - clock.pausedAt
    clock.pausedAt = 0
    this.#checkpoint()
    this.#save()
  }

  /** Plays up to the request's time, does it, forgets what the window has left behind, and stores once. */
  #serve<Result>(ref: AccountRef, now: number, handle: (account: Account) => Result): Result {
    const account = accountOf(this.#state, ref.uid)
    this.#playAll(now)
    const result = handle(account)
    pruneWindow(this.#state, account)
    this.#save()
    return result
  }

  #playAll(now: number): void {
    while (!playUntil(this.#state, this.#market, now));
  }

  #checkpoint(): void {
    this.#checkpointAt = this.now
    if (this.#store === undefined) return
    const checkpoint = takeCheckpoint(this.#state, this.#market)
    this.#state.changes.put('meta', 'version', () => STORE_VERSION)
    this.#state.changes.put('meta', 'market', () => checkpoint)
  }

  #save(): void {
    const { changes, settings } = this.#state
    if (this.#store === undefined) return
    if (this.now - this.#checkpointAt >= settings.marketStateEveryMs) this.#checkpoint()
    if (changes.isEmpty) return
    putClock(this.#state)
    this.#store.save(changes.drain())
  }
}
