import { decimal, ZERO } from '../../lib/decimal.ts'
import { DayStatistics } from '../market/day-statistics.ts'
import type { Market, StoredMarketState, MarketStep } from '../market/market.ts'
import { showQuote } from '../matching/displayed-market.ts'
import { matchResting } from '../matching/match-orders.ts'
import { type AccountRef, type ExchangeAccountSetup, assertAccounts } from '../shared/account.ts'
import {
  bindHandlers,
  type BoundHandlers,
  type HandlerRequest,
  type ReplyOf,
} from '../shared/handlers.ts'
import { type RowStore, StoredRows } from '../store/stored-rows.ts'
import { ledgerStatement, type LedgerStatement } from './accounts/ledger-view.ts'
import { bookSum, type BookSum } from './accounts/ledger.ts'
import {
  applyCheckpoint,
  assertSameGrids,
  assertSameMarket,
  keepMinuteHistories,
  openMinuteHistories,
  putCheckpoint,
  readCheckpoint,
} from './checkpoint.ts'
import {
  type ExchangeAccount,
  type AccountCounts,
  accountOf,
  type CoreState,
  createCoreState,
  createSymbolState,
  NO_COUNTS,
  recordedAt,
  type SymbolState,
  matchingOf,
} from './core-state.ts'
import { futuresHandlers } from './futures-handlers.ts'
import { isTrading, settleContract, settlementAt } from './instruments/delivery.ts'
import { type ListedContract, toMarketInstrument } from './instruments/instruments.ts'
import { createFuturesMatching, enterMatching } from './orders/futures-matching.ts'
import { pruneWindow } from './orders/idempotency.ts'
import { triggerPlanOrders } from './plans/plan-orders.ts'
import { nextFundingAfter, settleFunding } from './positions/funding.ts'
import { liquidateAtMark } from './positions/liquidation.ts'
import { fireExits } from './positions/position-exits.ts'
import { bookFor } from './positions/settle-trade.ts'
import { type CoreSettings, defaultCoreSettings } from './settings.ts'
import { CLOCK, restoreState, type SymbolRow, SYMBOLS } from './stored-entities.ts'

type FuturesHandlers = typeof futuresHandlers
type FuturesName = keyof FuturesHandlers

/** The futures exchange. `now` is of its clock; an earlier one counts as the latest seen. */
export class ExchangeCore {
  readonly #state: CoreState
  readonly #market: Market
  readonly #answers: BoundHandlers<FuturesHandlers>
  readonly #byKey: ReadonlyMap<string, ExchangeAccount>
  readonly #played: ((now: number) => void)[] = []
  #checkpointAt: number

  constructor(state: CoreState, market: Market) {
    this.#state = state
    this.#market = market
    this.#answers = bindHandlers(state, futuresHandlers)
    this.#byKey = new Map(
      [...state.accounts.values()].map((account) => [account.setup.key, account]),
    )
    this.#checkpointAt = state.clock.now
    if (state.rows.isFresh) this.#checkpoint()
    this.#save()
  }

  get now(): number {
    return this.#state.clock.now
  }

  get priceStepsMs(): ReadonlyMap<string, number> {
    return this.#market.priceStepsMs ?? new Map()
  }

  get endsAt(): number | undefined {
    const { now, pausedAt, pausedMs } = this.#state.clock
    const { endsAt } = this.#market
    return endsAt && endsAt + pausedMs + (pausedAt > 0 ? now - pausedAt : 0)
  }

  get isPaused(): boolean {
    return this.#state.clock.pausedAt > 0
  }

  advance(now: number): boolean {
    if (!playUntil(this.#state, this.#market, now)) return false
    for (const play of this.#played) play(this.now)
    this.#save()
    return true
  }

  playAlso(play: (now: number) => void): void {
    this.#played.push(play)
  }

  answer<Name extends FuturesName>(
    name: Name,
    account: AccountRef,
    request: HandlerRequest<FuturesHandlers[Name]>,
    now: number,
  ): ReplyOf<FuturesHandlers[Name]> {
    return this.carryOut(now, () => this.#answers[name](account, request), account)
  }

  carryOut<Result>(now: number, handle: (state: CoreState) => Result, asking?: AccountRef): Result {
    this.#playAll(now)
    const result = handle(this.#state)
    const account = asking && this.#state.accounts.get(asking.uid)
    if (account !== undefined) pruneWindow(this.#state, account)
    this.#save()
    return result
  }

  accounts(): readonly ExchangeAccountSetup[] {
    return [...this.#state.accounts.values()].map(({ setup }) => setup)
  }

  instruments(): readonly ListedContract[] {
    return [...this.#state.symbols.values()].map(({ instrument }) => instrument)
  }

  accountByKey(apiKey: string): ExchangeAccountSetup | undefined {
    return this.#byKey.get(apiKey)?.setup
  }

  deposit(
    uid: string,
    { coin, amount }: { readonly coin: string; readonly amount: string },
    now: number,
  ): void {
    const money = decimal(amount)
    if (money.lte(ZERO)) throw new RangeError(`a deposit must be positive, got ${amount}`)
    this.carryOut(now, (state) =>
      bookFor(state, accountOf(state, uid), { coin, booking: 'deposit', amount: money }),
    )
  }

  ledger(uid: string): LedgerStatement {
    return ledgerStatement(this.#state, accountOf(this.#state, uid))
  }

  books(): readonly BookSum[] {
    const { counterparties, accounts } = this.#state
    return [...counterparties].map(([coin, others]) => {
      const balances = [...accounts.values()].flatMap(({ coins }) => coins.get(coin)?.balance ?? [])
      return bookSum(coin, others, balances)
    })
  }

  counters(): AccountCounts {
    const sums = { ...NO_COUNTS }
    for (const { counts } of this.#state.accounts.values()) {
      for (const [name, count] of Object.entries(counts)) sums[name as keyof AccountCounts] += count
    }
    return sums
  }

  pause(now: number): void {
    this.#playAll(now)
    const { clock } = this.#state
    if (clock.pausedAt === 0) clock.pausedAt = clock.now
    findDueTimes(this.#state)
    this.#checkpoint()
    this.#save()
  }

  resume(now: number): void {
    this.#playAll(now)
    const { clock } = this.#state
    if (clock.pausedAt === 0) return
    clock.pausedMs += clock.now - clock.pausedAt
    clock.pausedAt = 0
    findDueTimes(this.#state)
    this.#checkpoint()
    this.#save()
  }

  #playAll(now: number): void {
    while (!playUntil(this.#state, this.#market, now)) keepMinuteHistories(this.#state)
    for (const play of this.#played) play(this.now)
  }

  #checkpoint(): void {
    this.#checkpointAt = this.now
    keepMinuteHistories(this.#state)
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

interface ExchangeCoreOptions {
  readonly instruments: readonly ListedContract[]
  readonly accounts: readonly ExchangeAccountSetup[]
  readonly market: (stored: StoredMarketState | undefined) => Market
  readonly settings?: Partial<CoreSettings>
  readonly store?: RowStore
  readonly seed: string | number
}

/**
 * @throws Failure SIMULATOR_ACCOUNT_INVALID, SIMULATOR_GRIDS_CHANGED, SIMULATOR_MARKET_CHANGED,
 * SIMULATOR_ACCOUNT_MISSING, SIMULATOR_SYMBOL_MISSING, SIMULATOR_POSITION_MODE_CHANGED,
 * SIMULATOR_STORE_DAMAGED, SIMULATOR_STORE_VERSION, SIMULATOR_COIN_UNKNOWN
 */
export function createExchangeCore(options: ExchangeCoreOptions): ExchangeCore {
  assertAccounts(options.accounts)
  const rows = new StoredRows(options.store)
  const checkpoint = readCheckpoint(rows)
  if (checkpoint !== undefined) assertSameGrids(options.instruments, checkpoint)
  const market = options.market(checkpoint?.market)
  if (checkpoint !== undefined) assertSameMarket(market, checkpoint)
  const settings = { ...defaultCoreSettings, ...options.settings }
  const state = createCoreState({
    settings,
    symbols: options.instruments.map((instrument) =>
      openSymbol(instrument, { market, settings, seed: options.seed, checkpoint }),
    ),
    accounts: options.accounts,
    rows,
    seed: options.seed,
    speed: market.speed,
  })
  for (const symbol of state.symbols.values())
    symbol.matching = createFuturesMatching(state, symbol)
  openMinuteHistories(state)
  if (checkpoint !== undefined) {
    restoreState(state, rows)
    applyCheckpoint(state, checkpoint)
    replayQuotes(state, market, new Map(rows.read(SYMBOLS).map((row) => [row.symbol, row])))
  }
  findDueTimes(state)
  openAccounts(state)
  return new ExchangeCore(state, market)
}

interface OpenSymbolOptions {
  readonly market: Market
  readonly settings: CoreSettings
  readonly seed: string | number
  readonly checkpoint: ReturnType<typeof readCheckpoint>
}

function openSymbol(
  instrument: ListedContract,
  { market, settings, seed, checkpoint }: OpenSymbolOptions,
) {
  const listedAt = instrument.delivery?.listedAt ?? 0
  const statistics = new DayStatistics({
    instrument: toMarketInstrument(instrument),
    seed,
    speed: market.speed,
    past: market.pastDay(instrument.symbol)?.filter(({ startAt }) => startAt >= listedAt),
    state: checkpoint?.symbols.get(instrument.symbol)?.statistics,
  })
  return createSymbolState(instrument, { statistics, market, settings })
}

function openAccounts(state: CoreState): void {
  for (const account of state.accounts.values()) {
    for (const [coin, amount] of Object.entries(account.setup.balances)) {
      if (account.coins.has(coin)) continue
      bookFor(state, account, { coin, booking: 'opening', amount: decimal(amount) })
    }
  }
}

/**
 * At one instant arrivals come first, then funding, settlements, and quotes, however time is
 * divided into calls.
 * @returns false if the market stopped at its limit: call again with the same `now`
 */
function playUntil(state: CoreState, market: Market, now: number): boolean {
  const { clock } = state
  if (now < clock.now) return true
  if (clock.pausedAt === 0) {
    const isDone = market.advance(now - clock.pausedMs, (step) => playStep(state, step))
    if (!isDone) return false
  }
  playTimers(state, now)
  clock.now = now
  refreshMarks(state)
  return true
}

/** @param stored symbols as they were at the quote at which they were stored */
function replayQuotes(
  state: CoreState,
  market: Market,
  stored: ReadonlyMap<string, SymbolRow>,
): void {
  const { clock } = state
  for (const symbol of state.symbols.values()) putBack(symbol, stored)
  const takeIn = (step: MarketStep) => {
    const symbol = state.symbols.get(step.symbol)
    if (symbol === undefined || step.at + clock.pausedMs < symbol.listedAt) return
    applyQuote(state, symbol, step)
    putBack(symbol, stored)
  }
  const until = (clock.pausedAt === 0 ? clock.now : clock.pausedAt) - clock.pausedMs
  while (!market.advance(until, takeIn));
  refreshMarks(state)
}

function putBack(symbol: SymbolState, stored: ReadonlyMap<string, SymbolRow>): void {
  const row = stored.get(symbol.instrument.symbol)
  if (row === undefined) return
  symbol.isSettled = row.isSettled
  if (row.taken.at === symbol.market.at) Object.assign(symbol.market.taken, row.taken)
}

function playStep(state: CoreState, step: MarketStep): void {
  const { clock } = state
  const at = step.at + clock.pausedMs
  if (clock.nextFundingAt === 0) clock.nextFundingAt = nextFundingAfter(state, at)
  playTimers(state, at)
  clock.now = at
  const symbol = state.symbols.get(step.symbol)
  if (symbol === undefined || at < symbol.listedAt) return
  applyQuote(state, symbol, step)
  if (!isTrading(symbol, at)) return
  if (symbol.positions.length > 0 || symbol.planOrders.length > 0) refreshMark(state, symbol, at)
  matchResting(matchingOf(symbol))
  if (symbol.positions.length > 0) {
    fireExits(state, symbol)
    liquidateAtMark(state, symbol)
  }
  triggerPlanOrders(state, symbol)
  for (const hear of symbol.followers) hear()
}

function applyQuote(
  state: CoreState,
  symbol: SymbolState,
  { at, quote, reference }: MarketStep,
): void {
  const shownAt = at + state.clock.pausedMs
  showQuote(symbol.market, quote, shownAt, state.matching)
  symbol.quoteCount++
  symbol.statistics.apply(shownAt, quote, reference)
}

function playTimers(state: CoreState, until: number): void {
  const { clock, arrivals } = state
  for (;;) {
    const arrivalAt = arrivals[0]?.dueAt ?? Number.POSITIVE_INFINITY
    const fundingAt = clock.nextFundingAt === 0 ? Number.POSITIVE_INFINITY : clock.nextFundingAt
    const dueAt = Math.min(arrivalAt, fundingAt, state.nextSettlement.at)
    if (dueAt > until) return
    clock.now = Math.max(clock.now, dueAt)
    if (dueAt === arrivalAt) {
      const order = arrivals.shift()
      if (order !== undefined) enterMatching(state, order)
    } else if (dueAt === fundingAt) {
      refreshMarks(state)
      settleFunding(state, dueAt)
      clock.nextFundingAt = nextFundingAfter(state, dueAt)
    } else {
      settleDue(state, dueAt)
    }
  }
}

function settleDue(state: CoreState, dueAt: number): void {
  for (const symbol of state.symbols.values()) {
    if (settlementAt(state, symbol) <= dueAt) settleContract(state, symbol)
  }
  findNextSettlement(state)
}

function findDueTimes(state: CoreState): void {
  const { clock } = state
  // Stored JSON has null for infinity.
  if (clock.nextFundingAt !== 0) clock.nextFundingAt = nextFundingAfter(state, clock.now)
  findNextSettlement(state)
}

function findNextSettlement(state: CoreState): void {
  let next = Number.POSITIVE_INFINITY
  for (const symbol of state.symbols.values()) next = Math.min(next, settlementAt(state, symbol))
  state.nextSettlement.at = next
}

function refreshMarks(state: CoreState): void {
  for (const symbol of state.symbols.values()) refreshMark(state, symbol, state.clock.now)
}

/** The premium changes once a minute, and so does a mark price that is not recorded. */
function refreshMark(state: CoreState, symbol: SymbolState, at: number): void {
  if (symbol.market.at === 0) return
  const recorded = recordedAt(state, symbol, { column: 'markTicks', at })
  symbol.markTicks = recorded ?? symbol.statistics.markTicks(at) ?? symbol.market.lastTicks
}
