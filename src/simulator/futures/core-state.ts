import type { FeeRates } from '../wallet/fees.ts'
import type { WireTicker } from '../../protocol/futures/tickers.ts'
import type { DayStatistics } from '../market/day-statistics.ts'
import type { LivedMinutes } from '../market/lived-minutes.ts'
import type { FundingPayments, Market, PastMinutes, RecordedReferences } from '../market/market.ts'
import { decimal } from '../../lib/decimal.ts'
import { Failure } from '../../lib/failure.ts'
import { indexFrom } from '../../prices/recording.ts'
import type { AccountChoices, SimulatedAccount } from '../shared/account.ts'
import { known } from '../shared/known.ts'
import type { StoredRows } from '../store/stored-rows.ts'
import type { Fill } from './positions/fill.ts'
import type { Instrument } from './instruments/instruments.ts'
import {
  NO_COUNTERPARTIES,
  NO_MONEY,
  type CoinBalance,
  type Counterparties,
} from './accounts/ledger.ts'
import { createDisplayedMarket } from '../matching/displayed-market.ts'
import { fillModel, type MatchingRules } from '../matching/fill-model.ts'
import { createBookSide, type OrderBook } from '../matching/order-book.ts'
import type { Venue } from '../matching/venue.ts'
import type { Order, PositionSlot } from './orders/order.ts'
import type { PlanOrder } from './plans/plan-order.ts'
import { positionKey, type Position } from './positions/position.ts'
import type { CoreSettings } from './settings.ts'

export interface CoreState {
  readonly settings: CoreSettings
  /** Above 1 the market is a demonstration, and pays no funding. */
  readonly matching: MatchingRules
  readonly seed: string | number
  readonly rates: FeeRates & { readonly takerFloat: number }
  readonly accounts: ReadonlyMap<string, Account>
  readonly symbols: ReadonlyMap<string, SymbolState>
  readonly counterparties: ReadonlyMap<string, Counterparties>
  /** Accepted but not matched yet, soonest first. */
  readonly arrivals: Order[]
  readonly clock: CoreClock
  readonly nextSettlement: { at: number }
  readonly rows: StoredRows
  /** The number is the count of market moves at which the rows were written. */
  readonly tickerBoards: Map<string, { readonly moves: number; readonly rows: WireTicker[] }>
}

/** Exchange clock; 0 is "never yet". */
export interface CoreClock {
  now: number
  nextFundingAt: number
  orderSequence: number
  tradeSequence: number
  /** 0 while the market runs. */
  pausedAt: number
  /** Total of earlier pauses, by which the market's clock is behind. */
  pausedMs: number
}

export interface IdempotencyEntry {
  readonly clientOid: string
  readonly orderSequence: number
  readonly at: number
  readonly isWithoutId: boolean
}

export interface Account {
  setup: SimulatedAccount
  choices: AccountChoices
  readonly coins: Map<string, CoinBalance>
  /** Oldest first, at most `productOrdersMax` for each product type. */
  readonly openOrders: Map<number, Order>
  readonly closedOrders: Map<number, Order>
  readonly positions: Map<string, Position>
  /** Completed ones stay within the idempotency window. */
  readonly planOrders: Map<number, PlanOrder>
  /** Keyed by clientOid, oldest first, at most `idempotencyEntriesMax`. */
  readonly idempotency: Map<string, IdempotencyEntry>
  fills: Fill[]
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

export interface SymbolState extends OrderBook<Order> {
  readonly instrument: Instrument
  quoteCount: number
  markTicks: number
  /** At mark prices within, no position needs a check; see liquidation.ts. */
  readonly safe: { fromTicks: number; toTicks: number }
  readonly statistics: DayStatistics
  /** Delivered or delisted: not traded, and pays no funding. */
  isSettled: boolean
  /** When a delivery contract is listed and opens; 0 for other instruments. */
  readonly listedAt: number
  readonly opensAt: number
  /** On the market's clock; infinite if the market ends first. */
  readonly endsAt: number
  readonly funding: FundingPayments | undefined
  /** The minutes before the market opened. */
  readonly past: PastMinutes | undefined
  lived: LivedMinutes | undefined
  readonly references: RecordedReferences | undefined
  readonly positions: Position[]
  readonly planOrders: PlanOrder[]
  venue: Venue<Order> | undefined
  readonly followers: (() => void)[]
}

function createAccount(setup: SimulatedAccount): Account {
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
  instrument: Instrument,
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
    lived: undefined,
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
    venue: undefined,
    followers: [],
  }
}

type MarketFacts = Pick<Market, 'endings' | 'funding' | 'past' | 'priceStepsMs' | 'references'>

/** A contract is listed when the one before is delivered. */
function listingOf(
  { symbol, delivery }: Instrument,
  { priceStepsMs }: MarketFacts,
  { deliverySettlementMs, deliveryConfigMs }: CoreSettings,
): Pick<SymbolState, 'listedAt' | 'opensAt'> {
  if (delivery === undefined || priceStepsMs?.has(symbol) === true)
    return { listedAt: 0, opensAt: 0 }
  const listedAt = delivery.listedAt + deliverySettlementMs
  return { listedAt, opensAt: listedAt + deliveryConfigMs }
}

export function applyChoices(account: Account, choices: AccountChoices): void {
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
export function venueOf({ venue, instrument }: SymbolState): Venue<Order> {
  if (venue === undefined) throw new RangeError(`${instrument.symbol} is not open`)
  return venue
}

export interface CoreStateParts extends Pick<CoreState, 'settings' | 'rows' | 'seed'> {
  readonly symbols: readonly SymbolState[]
  readonly accounts: readonly SimulatedAccount[]
  readonly speed: number
}

export function createCoreState(parts: CoreStateParts): CoreState {
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

export function accountOf(state: CoreState, uid: string): Account {
  return known(state.accounts, uid, 'an account')
}

/** @throws Failure SIMULATOR_UNKNOWN */
export function symbolOf(state: CoreState, symbol: string): SymbolState {
  return known(state.symbols, symbol, 'an instrument')
}

export function counterpartiesOf(state: CoreState, coin: string): Counterparties {
  const counterparties = state.counterparties.get(coin)
  if (counterparties !== undefined) return counterparties
  throw new Failure({
    code: 'SIMULATOR_COIN_UNKNOWN',
    sentence: 'no instrument of the simulated exchange has this margin coin',
    facts: { coin, coins: [...state.counterparties.keys()].join(', ') },
    hint: 'correct the balances of the account',
  })
}

export function coinOf(account: Account, coin: string): CoinBalance {
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

export function forgetBands(state: CoreState, account: Account): void {
  for (const { symbol } of account.positions.values()) forgetBand(symbolOf(state, symbol))
}

export function positionOf(
  account: Account,
  symbol: string,
  slot: PositionSlot,
): Position | undefined {
  return account.positions.get(positionKey(symbol, slot))
}

export function leverageOf(account: Account, instrument: Instrument): number {
  const { leverageBySymbol, leverage = 20 } = account.setup
  return Math.max(
    1,
    Math.min(leverageBySymbol?.[instrument.symbol] ?? leverage, instrument.leverageMax),
  )
}
