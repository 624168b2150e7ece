import type { FeeRates } from '../wallet/fees.ts'
import type { WireTicker } from '../../protocol/futures/tickers.ts'
import type { DayStatistics } from '../market/day-statistics.ts'
import type { MinuteHistory } from '../market/minute-history.ts'
import type { FundingSeries, Market, PastMinutes, RecordedReferences } from '../market/market.ts'
import { decimal } from '../../lib/decimal.ts'
import { Failure } from '../../lib/failure.ts'
import { indexFrom } from '../../prices/recording.ts'
import type { AccountChoices, ExchangeAccountSetup } from '../shared/account.ts'
import { known } from '../shared/known.ts'
import type { StoredRows } from '../store/stored-rows.ts'
import type { FuturesFill } from './positions/fill.ts'
import type { ListedContract } from './instruments/instruments.ts'
import {
  NO_COUNTERPARTIES,
  NO_MONEY,
  type CoinBalance,
  type FuturesCounterparties,
} from './accounts/ledger.ts'
import { createDisplayedMarket } from '../matching/displayed-market.ts'
import { fillModel, type MatchingRules } from '../matching/fill-model.ts'
import { createBookSide, type OrderBook } from '../matching/order-book.ts'
import type { OrderMatching } from '../matching/order-matching.ts'
import type { FuturesOrder, PositionSide } from './orders/order.ts'
import type { PlanOrder } from './plans/plan-order.ts'
import { positionKey, type Position } from './positions/position.ts'
import type { CoreSettings } from './settings.ts'

export interface CoreState {
  readonly settings: CoreSettings
  /** Funding is paid at speed 1 only. */
  readonly matching: MatchingRules
  readonly seed: string | number
  readonly rates: FeeRates & { readonly takerFloat: number }
  readonly accounts: ReadonlyMap<string, ExchangeAccount>
  readonly symbols: ReadonlyMap<string, SymbolState>
  readonly counterparties: ReadonlyMap<string, FuturesCounterparties>
  readonly arrivals: FuturesOrder[]
  readonly clock: CoreClock
  readonly nextSettlement: { at: number }
  readonly rows: StoredRows
  readonly tickerBoards: Map<string, { readonly moves: number; readonly rows: WireTicker[] }>
}

/** Exchange clock; 0: never yet. */
export interface CoreClock {
  now: number
  nextFundingAt: number
  orderSequence: number
  tradeSequence: number
  pausedAt: number
  /** The sum of earlier pauses, by which the market's clock is behind. */
  pausedMs: number
}

export interface IdempotencyEntry {
  readonly clientOid: string
  readonly orderSequence: number
  readonly at: number
  readonly isWithoutId: boolean
}

export interface ExchangeAccount {
  setup: ExchangeAccountSetup
  choices: AccountChoices
  readonly coins: Map<string, CoinBalance>
  /** Oldest first, at most `productOrdersMax` for each product type. */
  readonly openOrders: Map<number, FuturesOrder>
  readonly closedOrders: Map<number, FuturesOrder>
  readonly positions: Map<string, Position>
  /** Completed ones stay within the idempotency window. */
  readonly planOrders: Map<number, PlanOrder>
  /** Keyed by clientOid, oldest first, at most `idempotencyEntriesMax`. */
  readonly idempotency: Map<string, IdempotencyEntry>
  fills: FuturesFill[]
  readonly counts: AccountCounts
}

export const NO_COUNTS = {
  ordersAccepted: 0,
  ordersRefused: 0,
  ordersFilled: 0,
  ordersCancelled: 0,
  fills: 0,
  liquidations: 0,
}

export type AccountCounts = Record<keyof typeof NO_COUNTS, number>

export interface SymbolState extends OrderBook<FuturesOrder> {
  readonly instrument: ListedContract
  quoteCount: number
  markTicks: number
  /** While the mark price is within this band no position needs a check (liquidation.ts). */
  readonly safe: { fromTicks: number; toTicks: number }
  readonly statistics: DayStatistics
  isSettled: boolean
  readonly listedAt: number
  readonly opensAt: number
  /** On the market's clock; infinite if the market ends first. */
  readonly endsAt: number
  readonly funding: FundingSeries | undefined
  readonly past: PastMinutes | undefined
  minuteHistory: MinuteHistory | undefined
  readonly references: RecordedReferences | undefined
  readonly positions: Position[]
  readonly planOrders: PlanOrder[]
  matching: OrderMatching<FuturesOrder> | undefined
  readonly followers: (() => void)[]
}

function createAccount(setup: ExchangeAccountSetup): ExchangeAccount {
  return {
    setup,
    choices: {},
    coins: new Map(),
    openOrders: new Map(),
    closedOrders: new Map(),
    positions: new Map(),
    planOrders: new Map(),
    idempotency: new Map(),
    fills: [],
    counts: { ...NO_COUNTS },
  }
}

export function createSymbolState(
  instrument: ListedContract,
  {
    statistics,
    market,
    settings,
  }: Pick<SymbolState, 'statistics'> &
    Pick<CoreState, 'settings'> & { readonly market: MarketFacts },
): SymbolState {
  return {
    ...listingOf(instrument, market, settings),
    instrument,
    statistics,
    endsAt: market.endings?.get(instrument.symbol) ?? Number.POSITIVE_INFINITY,
    funding: market.funding?.get(instrument.symbol),
    past: instrument.delivery === undefined ? market.past?.(instrument.symbol) : undefined,
    minuteHistory: undefined,
    references: market.references?.get(instrument.symbol),
    market: createDisplayedMarket(),
    quoteCount: 0,
    markTicks: 0,
    safe: { fromTicks: Number.POSITIVE_INFINITY, toTicks: 0 },
    isSettled: false,
    buys: createBookSide(true),
    sells: createBookSide(false),
    positions: [],
    planOrders: [],
    matching: undefined,
    followers: [],
  }
}

type MarketFacts = Pick<Market, 'endings' | 'funding' | 'past' | 'priceStepsMs' | 'references'>

/** A contract is listed when the one before it is delivered. */
function listingOf(
  { symbol, delivery }: ListedContract,
  { priceStepsMs }: MarketFacts,
  { deliverySettlementMs, deliveryConfigMs }: CoreSettings,
): Pick<SymbolState, 'listedAt' | 'opensAt'> {
  if (delivery === undefined || priceStepsMs?.has(symbol) === true)
    return { listedAt: 0, opensAt: 0 }
  const listedAt = delivery.listedAt + deliverySettlementMs
  return { listedAt, opensAt: listedAt + deliveryConfigMs }
}

export function applyChoices(account: ExchangeAccount, choices: AccountChoices): void {
  account.choices = { ...account.choices, ...choices }
  const { positionMode, leverageBySymbol } = account.choices
  account.setup = {
    ...account.setup,
    ...(positionMode && { positionMode }),
    ...(leverageBySymbol && {
      leverageBySymbol: { ...account.setup.leverageBySymbol, ...leverageBySymbol },
    }),
  }
}

/** @throws RangeError before the exchange is open */
export function matchingOf({ matching, instrument }: SymbolState): OrderMatching<FuturesOrder> {
  if (matching === undefined) throw new RangeError(`${instrument.symbol} is not open`)
  return matching
}

export interface CoreStateOptions extends Pick<CoreState, 'settings' | 'rows' | 'seed'> {
  readonly symbols: readonly SymbolState[]
  readonly accounts: readonly ExchangeAccountSetup[]
  readonly speed: number
}

export function createCoreState(parts: CoreStateOptions): CoreState {
  const { settings, symbols, accounts, rows, seed, speed } = parts
  return {
    settings,
    seed,
    matching: { model: fillModel(settings.fillModel), levelsMax: settings.marketLevelsMax, speed },
    rates: {
      maker: decimal(settings.makerFeeRate),
      taker: decimal(settings.takerFeeRate),
      takerFloat: Number(settings.takerFeeRate),
    },
    accounts: new Map(accounts.map((setup) => [setup.uid, createAccount(setup)])),
    symbols: new Map(symbols.map((symbol) => [symbol.instrument.symbol, symbol])),
    counterparties: new Map(
      [...symbols.map(({ instrument }) => instrument.marginCoin), settings.feeCoin]
        .filter((coin) => coin !== '')
        .map((coin) => [coin, { ...NO_COUNTERPARTIES }]),
    ),
    arrivals: [],
    nextSettlement: { at: Number.POSITIVE_INFINITY },
    clock: {
      now: 0,
      nextFundingAt: 0,
      orderSequence: 0,
      tradeSequence: 0,
      pausedAt: 0,
      pausedMs: 0,
    },
    rows,
    tickerBoards: new Map(),
  }
}

export function accountOf(state: CoreState, uid: string): ExchangeAccount {
  return known(state.accounts, uid, 'an account')
}

/** @throws Failure SIMULATOR_UNKNOWN */
export function symbolOf(state: CoreState, symbol: string): SymbolState {
  return known(state.symbols, symbol, 'an instrument')
}

export function counterpartiesOf(state: CoreState, coin: string): FuturesCounterparties {
  const counterparties = state.counterparties.get(coin)
  if (counterparties !== undefined) return counterparties
  throw new Failure({
    code: 'SIMULATOR_COIN_UNKNOWN',
    sentence: 'no instrument of the simulated exchange has this margin coin',
    facts: { coin, coins: [...state.counterparties.keys()].join(', ') },
    hint: 'correct the balances of the account',
  })
}

export function coinOf(account: ExchangeAccount, coin: string): CoinBalance {
  const balance = account.coins.get(coin) ?? { ...NO_MONEY, balanceFloat: 0 }
  account.coins.set(coin, balance)
  return balance
}

export function forgetBand({ safe }: SymbolState): void {
  safe.fromTicks = Number.POSITIVE_INFINITY
}

export function recordedAt(
  { clock }: Pick<CoreState, 'clock'>,
  { references }: SymbolState,
  { column, at }: { readonly column: 'markTicks' | 'fundingRate'; readonly at: number },
): number | undefined {
  const values = references?.[column]
  if (references === undefined || values === undefined) return undefined
  const marketAt = (clock.pausedAt > 0 ? clock.pausedAt : at) - clock.pausedMs
  return values[indexFrom(references.at, marketAt + 1) - 1]
}

export function forgetBands(state: CoreState, account: ExchangeAccount): void {
  for (const { symbol } of account.positions.values()) forgetBand(symbolOf(state, symbol))
}

export function positionOf(
  account: ExchangeAccount,
  symbol: string,
  slot: PositionSide,
): Position | undefined {
  return account.positions.get(positionKey(symbol, slot))
}

export function leverageOf(account: ExchangeAccount, instrument: ListedContract): number {
  const { leverageBySymbol, leverage = 20 } = account.setup
  return Math.max(
    1,
    Math.min(leverageBySymbol?.[instrument.symbol] ?? leverage, instrument.leverageMax),
  )
}
