import type { FeeRates } from '../wallet/fees.ts'
import type { WireTicker } from '../../protocol/futures/tickers.ts'
import type { DayStatistics } from '../market/day-statistics.ts'
import type { FundingPayments, Market, PastMinutes, RecordedReferences } from '../market/market.ts'
import { decimal } from '../../lib/decimal.ts'
import { Failure } from '../../lib/failure.ts'
import { indexFrom } from '../../prices/recording.ts'
import type { AccountChoices, AccountSetup } from '../shared/account.ts'
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

/**
 * The core's whole state. It has one writer and no I/O: each function of this module takes it as
 * its first argument.
 */
export interface CoreState {
  readonly settings: CoreSettings
  /** A speed above 1 is a demonstration, without funding. */
  readonly matching: MatchingRules
  /** Seed for values drawn besides the market. */
  readonly seed: string | number
  readonly rates: FeeRates & { readonly takerFloat: number }
  /** Keyed by uid; bounded by the setup. */
  readonly accounts: ReadonlyMap<string, Account>
  /** Keyed by symbol; bounded by the list of instruments. */
  readonly symbols: ReadonlyMap<string, SymbolState>
  /** Keyed by margin coin, and by the coin of fees. */
  readonly counterparties: ReadonlyMap<string, Counterparties>
  /**
   * Accepted orders before their matching, soonest first. Bounded by the open orders of all
   * accounts.
   */
  readonly arrivals: Order[]
  readonly clock: CoreClock
  /** Unix ms of the next delivery or delisting; derived, see timeline.ts. */
  readonly nextSettlement: { at: number }
  readonly rows: StoredRows
  /** The tickers last answered, by product type, and the count of market moves at that time. */
  readonly tickerBoards: Map<string, { readonly moves: number; readonly rows: WireTicker[] }>
}

/** Unix ms of the exchange's clock; 0 is "never yet". */
export interface CoreClock {
  now: number
  nextFundingAt: number
  orderSequence: number
  tradeSequence: number
  /** Start of the pause; 0 while the market runs. */
  pausedAt: number
  /** Total of earlier pauses: the market's clock is behind by this much. */
  pausedMs: number
}

export interface IdempotencyEntry {
  readonly clientOid: string
  readonly orderSequence: number
  /** Unix ms; start of the idempotency window. */
  readonly at: number
  /** The first answer had no orderId (excess reduce-only), so a repetition has none either. */
  readonly isWithoutId: boolean
}

export interface Account {
  /** The operator's setup together with the owner's later choices; see account-choices.ts. */
  setup: AccountSetup
  choices: AccountChoices
  readonly coins: Map<string, CoinBalance>
  /**
   * Pending and resting orders by sequence, oldest first. At most `productOrdersMax` for each
   * product type.
   */
  readonly openOrders: Map<number, Order>
  /** Filled and cancelled orders within the idempotency window, oldest first. */
  readonly closedOrders: Map<number, Order>
  /** Keyed by symbol and slot. At most two for each symbol. */
  readonly positions: Map<string, Position>
  /**
   * Pending ones, and completed ones within the idempotency window. At most `planOrdersMax` are
   * pending.
   */
  readonly planOrders: Map<number, PlanOrder>
  /** Keyed by clientOid, oldest first. At most `idempotencyEntriesMax`. */
  readonly idempotency: Map<string, IdempotencyEntry>
  /** Oldest first. At most `fillsMax`, briefly a tenth more. */
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

/** An instrument's market, with the accounts' orders and positions in it. */
export interface SymbolState extends OrderBook<Order> {
  readonly instrument: Instrument
  /** Number of quotes since the start; it only grows. */
  quoteCount: number
  markTicks: number
  /** Mark prices at which no position of the symbol needs a check; see liquidation.ts. */
  readonly safe: { fromTicks: number; toTicks: number }
  readonly statistics: DayStatistics
  /** Whether the contract was delivered or delisted: it is no longer traded and pays no funding. */
  isSettled: boolean
  /**
   * Unix ms at which a delivery contract is listed and at which trading opens; 0 for other
   * instruments.
   */
  readonly listedAt: number
  readonly opensAt: number
  /** End of its prices on the market's clock; infinite if the market ends first. */
  readonly endsAt: number
  /** Recorded funding payments, on the market's clock. */
  readonly funding: FundingPayments | undefined
  /** The minutes before the market opened; undefined if they are unknown. */
  readonly past: PastMinutes | undefined
  /** Recorded mark prices and rates, known from row to row. */
  readonly references: RecordedReferences | undefined
  /** Open positions of all accounts, in the order of their opening. */
  readonly positions: Position[]
  /** Pending trigger orders of all accounts. */
  readonly planOrders: PlanOrder[]
  /** The matching engine's view of the symbol; see futures-venue.ts. */
  venue: Venue<Order> | undefined
  /** Callbacks of account services, called after each quote. Bounded by the services. */
  readonly followers: (() => void)[]
}

function createAccount(setup: AccountSetup): Account {
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

/** @param market States when the instrument's prices end, and its recorded values. */
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

/**
 * A contract of the calendar follows the one before it. With recorded prices, the recording states
 * when trading begins.
 */
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

/** Adds to earlier choices. The caller checks whether they may be changed now. */
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

/** @throws RangeError before the exchange is open. */
export function venueOf({ venue, instrument }: SymbolState): Venue<Order> {
  if (venue === undefined) throw new RangeError(`${instrument.symbol} is not open`)
  return venue
}

export interface CoreStateParts extends Pick<CoreState, 'settings' | 'rows' | 'seed'> {
  readonly symbols: readonly SymbolState[]
  readonly accounts: readonly AccountSetup[]
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

/** @throws Failure SIMULATOR_UNKNOWN */
export function accountOf(state: CoreState, uid: string): Account {
  return known(state.accounts, uid, 'an account')
}

/** @throws Failure SIMULATOR_UNKNOWN: only for checked symbols. */
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

/** The account's money in a coin; a coin without bookings gives a row of zeros. */
export function coinOf(account: Account, coin: string): CoinBalance {
  const balance = account.coins.get(coin) ?? { ...NO_MONEY, balanceFloat: 0 }
  account.coins.set(coin, balance)
  return balance
}

/** A position of the symbol has changed, so the next mark price is checked whatever it is. */
export function forgetBand({ safe }: SymbolState): void {
  safe.fromTicks = Number.POSITIVE_INFINITY
}

/**
 * The newest recorded mark price (in ticks) or rate at an instant of the exchange's clock;
 * undefined if there is none.
 */
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

/** Forgets the bands of all symbols in which the account has a position. */
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

/** The leverage of the account on an instrument, capped by the instrument. */
export function leverageOf(account: Account, instrument: Instrument): number {
  const { leverageBySymbol, leverage = 20 } = account.setup
  return Math.max(
    1,
    Math.min(leverageBySymbol?.[instrument.symbol] ?? leverage, instrument.leverageMax),
  )
}
