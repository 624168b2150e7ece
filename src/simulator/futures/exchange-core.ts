import { DayStatistics } from '../market/day-statistics.ts'
import type { Market, MarketState } from '../market/market.ts'
import { decimal, ZERO } from '../../lib/decimal.ts'
import {
  bindHandlers,
  type BoundHandlers,
  type ReplyOf,
  type HandlerRequest,
} from '../shared/handlers.ts'
import type { RowStore } from '../store/row-store.ts'
import { StoredRows } from '../store/stored-rows.ts'
import { assertAccounts, type AccountRef, type AccountSetup } from '../shared/account.ts'
import { bookSum, type BookSum } from './accounts/ledger.ts'
import {
  applyCheckpoint,
  assertSameGrids,
  assertSameMarket,
  keepLived,
  openLived,
  putCheckpoint,
  readCheckpoint,
} from './checkpoint.ts'
import {
  accountOf,
  createCoreState,
  createSymbolState,
  NO_COUNTS,
  type Account,
  type AccountCounts,
  type CoreState,
} from './core-state.ts'
import { bookFor } from './positions/settle-trade.ts'
import { createFuturesVenue } from './orders/futures-venue.ts'
import { futuresHandlers } from './futures-handlers.ts'
import { pruneWindow } from './orders/idempotency.ts'
import { toMarketInstrument, type Instrument } from './instruments/instruments.ts'
import { ledgerStatement, type LedgerStatement } from './accounts/ledger-view.ts'
import { defaultCoreSettings, type CoreSettings } from './settings.ts'
import { CLOCK, restoreState, SYMBOLS } from './stored-entities.ts'
import { findDueTimes, playUntil, replayQuotes } from './timeline.ts'

type FuturesHandlers = typeof futuresHandlers
type FuturesName = keyof FuturesHandlers

/**
 * Synchronous and deterministic. `now` is Unix ms of the exchange's clock; an earlier one counts as
 * the latest seen. Orders trade only against the displayed market, never with other accounts.
 */
export class ExchangeCore {
  readonly #state: CoreState
  readonly #market: Market
  readonly #answers: BoundHandlers<FuturesHandlers>
  readonly #byKey: ReadonlyMap<string, Account>
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

  /** The last recording's end, moved by pauses. */
  get endsAt(): number | undefined {
    const { now, pausedAt, pausedMs } = this.#state.clock
    const { endsAt } = this.#market
    return endsAt && endsAt + pausedMs + (pausedAt > 0 ? now - pausedAt : 0)
  }

  get isPaused(): boolean {
    return this.#state.clock.pausedAt > 0
  }

  /** @returns false after 100 ms with work left: call again with the same `now` */
  advance(now: number): boolean {
    // After a kill all of an unfinished stretch is played again.
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

  /** The single entry: plays up to `now`, handles, and stores all changes as one operation. */
  carryOut<Result>(now: number, handle: (state: CoreState) => Result, asking?: AccountRef): Result {
    this.#playAll(now)
    const result = handle(this.#state)
    const account = asking && this.#state.accounts.get(asking.uid)
    if (account !== undefined) pruneWindow(this.#state, account)
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
    this.carryOut(now, (state) =>
      bookFor(state, accountOf(state, uid), { coin, booking: 'deposit', amount: money }),
    )
  }

  ledger(uid: string): LedgerStatement {
    return ledgerStatement(this.#state, accountOf(this.#state, uid))
  }

  /** For each margin coin; `sum` is always zero. */
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

  /** Quotes stop; requests are served and funding continues. */
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
    while (!playUntil(this.#state, this.#market, now)) keepLived(this.#state)
    for (const play of this.#played) play(this.now)
  }

  #checkpoint(): void {
    this.#checkpointAt = this.now
    keepLived(this.#state)
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

export interface ExchangeCoreOptions {
  readonly instruments: readonly Instrument[]
  readonly accounts: readonly AccountSetup[]
  readonly market: (stored: MarketState | undefined) => Market
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
  for (const symbol of state.symbols.values()) symbol.venue = createFuturesVenue(state, symbol)
  openLived(state)
  if (checkpoint !== undefined) {
    restoreState(state, rows)
    applyCheckpoint(state, checkpoint)
    replayQuotes(state, market, new Map(rows.read(SYMBOLS).map((row) => [row.symbol, row])))
  }
  findDueTimes(state)
  openAccounts(state)
  return new ExchangeCore(state, market)
}

interface SymbolParts {
  readonly market: Market
  readonly settings: CoreSettings
  readonly seed: string | number
  readonly checkpoint: ReturnType<typeof readCheckpoint>
}

function openSymbol(instrument: Instrument, { market, settings, seed, checkpoint }: SymbolParts) {
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

/** A coin gets its opening balance only once. */
function openAccounts(state: CoreState): void {
  for (const account of state.accounts.values()) {
    for (const [coin, amount] of Object.entries(account.setup.balances)) {
      if (account.coins.has(coin)) continue
      bookFor(state, account, { coin, booking: 'opening', amount: decimal(amount) })
    }
  }
}
