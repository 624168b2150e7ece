import { type Market } from '../market/market.ts'
import { decimal, ZERO } from '../../lib/decimal.ts'
import { type RequestOf, type ResponseOf } from '../../protocol/endpoints.ts'
import { type AccountRef, type AccountSetup } from './account.ts'
import { bookSums, type BookSum } from './book-sums.ts'
import { cancelAll } from './cancel-orders.ts'
import { putCheckpoint } from './checkpoint.ts'
import {
  accountOf,
  addCounts,
  createAccountCounts,
  type AccountCounts,
  type Account,
  type CoreState,
} from './core-state.ts'
import { bookFor } from './execute-fill.ts'
import { fillsPage } from './fills-page.ts'
import { pruneWindow } from './idempotency.ts'
import { type Instrument } from './instruments.ts'
import { type LedgerStatement } from './ledger-statement.ts'
import { ledgerStatement } from './ledger-view.ts'
import { longShortSeries } from './long-short-ratio.ts'
import { modifyPlan } from './modify-plan-order.ts'
import { listedSymbol, placeBatch } from './place-orders.ts'
import { placePlanOrder, type PlacePlanOrderRequest } from './plan-orders.ts'
import { positionRows } from './position-view.ts'
import { type StoredRows } from '../store/stored-rows.ts'
import { CLOCK } from './stored-entities.ts'
import { refusals } from './refusals.ts'
import { accept, refuse, type Reply } from './reply.ts'
import { TickerBoard } from './ticker-board.ts'
import { playUntil } from './timeline.ts'

export interface ServedCoreParts {
  readonly state: CoreState
  readonly market: Market
}

/**
 * The exchange while it runs: each request plays the market up to its time, is carried out, and is stored
 * once. What each method promises stands at ExchangeCore in exchange-core.ts.
 */
export class ServedCore {
  readonly #state: CoreState
  readonly #market: Market
  readonly #tickers = new TickerBoard()
  readonly #byKey: ReadonlyMap<string, Account>
  /** When the market was last stored, on the exchange's clock. */
  #checkpointAt: number

  constructor({ state, market }: ServedCoreParts) {
    this.#state = state
    this.#market = market
    this.#byKey = new Map([...state.accounts.values()].map((account) => [account.setup.key, account]))
    this.#checkpointAt = state.clock.now
    if (state.rows.isFresh) this.#checkpoint()
    this.#save()
  }

  get now(): number {
    return this.#state.clock.now
  }

  get speed(): number {
    return this.#market.speed
  }

  get rows(): StoredRows {
    return this.#state.rows
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
    return this.#serve(account, now, (named) => fillsPage(this.#state, named, request))
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
    return accept(this.#tickers.rows(this.#state, productType))
  }

  longShortRatio(request: RequestOf<'longShortRatio'>, now: number): Reply<ResponseOf<'longShortRatio'>> {
    this.#playAll(now)
    const symbol = this.#state.symbols.get(request.symbol)
    if (symbol === undefined) return refuse(refusals.symbolUnknown(request.symbol))
    const { baseCoin, quoteCoin } = symbol.instrument
    const { coin = baseCoin, period = '24h' } = request
    if (coin !== baseCoin && coin !== quoteCoin) return refuse(refusals.parameter('coin'))
    return accept(
      longShortSeries({ seed: this.#state.seed, symbol: `${request.symbol}/${coin}`, period, now: this.now }),
    )
  }

  carryOut<Result>(now: number, handle: (state: CoreState) => Result): Result {
    this.#playAll(now)
    const result = handle(this.#state)
    this.#save()
    return result
  }

  accounts(): readonly AccountSetup[] {
    return [...this.#state.accounts.values()].map(({ setup }) => setup)
  }

  instruments(): readonly Instrument[] {
    return [...this.#state.symbols.values()].map(({ instrument }) => instrument)
  }

  accountByKey(apiKey: string): AccountSetup | undefined {
    return this.#byKey.get(apiKey)?.setup
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

  counters(): AccountCounts {
    const sums = createAccountCounts()
    for (const { counts } of this.#state.accounts.values()) addCounts(sums, counts)
    return sums
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
    putCheckpoint(this.#state, this.#market)
  }

  #save(): void {
    const { rows, clock, settings } = this.#state
    if (!rows.isKept) return
    if (this.now - this.#checkpointAt >= settings.marketStateEveryMs) this.#checkpoint()
    if (!rows.hasChanges) return
    rows.put(CLOCK, clock)
    rows.save()
  }
}
