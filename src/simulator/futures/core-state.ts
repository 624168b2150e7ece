import type { FeeRates } from '../wallet/fees.ts'
import type { WireTicker } from '../../protocol/futures/tickers.ts'
import type { DayStatistics } from '../market/day-statistics.ts'
import type { FundingPayments, Market, RecordedReferences } from '../market/market.ts'
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

/** Everything the core knows. One writer, no I/O: each function of this module takes it as its first argument. */
export interface CoreState {
  readonly settings: CoreSettings
  /** A speed above 1 is a demonstration, which pays no funding. */
  readonly matching: MatchingRules
  /** Of what is drawn beside the market. */
  readonly seed: string | number
  readonly rates: FeeRates & { readonly takerFloat: number }
  /** Bounded by the setup. */
  readonly accounts: ReadonlyMap<string, Account>
  /** By symbol; bounded by the list of instruments. */
  readonly symbols: ReadonlyMap<string, SymbolState>
  /** By margin coin, and for the coin of fees. */
  readonly counterparties: ReadonlyMap<string, Counterparties>
  /** Accepted orders on their way to matching, soonest first. Bounded by the open orders of all accounts. */
  readonly arrivals: Order[]
  readonly clock: CoreClock
  /** Unix ms of the next delivery or delisting; derived, see timeline.ts. */
  readonly nextSettlement: { at: number }
  readonly rows: StoredRows
  /** By product type the tickers that were answered last, and the moves of its market until then. */
  readonly tickerBoards: Map<string, { readonly moves: number; readonly rows: WireTicker[] }>
}

/** Times are Unix ms of the exchange's clock; 0 is "never yet". */
export interface CoreClock {
  now: number
  nextFundingAt: number
  orderSequence: number
  tradeSequence: number
  /** When the market was paused, 0 while it runs. */
  pausedAt: number
  /** How long it was paused before that, in all: the market's clock is that much behind. */
  pausedMs: number
}

export interface IdempotencyEntry {
  readonly clientOid: string
  readonly orderSequence: number
  /** Unix ms; the window counts from here. */
  readonly at: number
  /** The first answer had no orderId (reduce-only in excess): a replay has none either. */
  readonly isWithoutId: boolean
}

export interface Account {
  /** As its operator opened it, with what its owner chose since; see account-choices.ts. */
  setup: AccountSetup
  choices: AccountChoices
  readonly coins: Map<string, CoinBalance>
  /** Pending and resting orders by sequence, oldest first. At most `productOrdersMax` a product type. */
  readonly openOrders: Map<number, Order>
  /** Filled and cancelled orders within the idempotency window, oldest first. */
  readonly closedOrders: Map<number, Order>
  /** By symbol and slot. At most two a symbol. */
  readonly positions: Map<string, Position>
  /** Pending and, within the idempotency window, done. At most `planOrdersMax` pending ones. */
  readonly planOrders: Map<number, PlanOrder>
  /** By clientOid, oldest first. At most `idempotencyEntriesMax`. */
  readonly idempotency: Map<string, IdempotencyEntry>
  /** Oldest first. At most `fillsMax`, a tenth more for a moment. */
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

/** One instrument's market and what of the accounts hangs on it. */
export interface SymbolState extends OrderBook<Order> {
  readonly instrument: Instrument
  /** Quotes taken in since the start; only grows. */
  quoteCount: number
  markTicks: number
  /** Mark prices at which no position of it needs to be looked at; see liquidation.ts. */
  readonly safe: { fromTicks: number; toTicks: number }
  readonly statistics: DayStatistics
  /** A contract after its delivery or delisting: nothing of it is traded, and no funding paid. */
  isSettled: boolean
  /** Unix ms from which a delivery contract is known at all, and from which it is traded; 0 of other instruments. */
  readonly listedAt: number
  readonly opensAt: number
  /** When its prices end, on the market's clock; infinite where they do not end before the market. */
  readonly endsAt: number
  /** On the market's clock, where it was recorded what was paid. */
  readonly funding: FundingPayments | undefined
  /** The same of mark prices and rates that are known from row to row. */
  readonly references: RecordedReferences | undefined
  /** Open positions of all accounts, in the order they were opened. */
  readonly positions: Position[]
  /** Pending trigger orders of all accounts. */
  readonly planOrders: PlanOrder[]
  /** What the matching engine needs of its orders; see futures-venue.ts. */
  venue: Venue<Order> | undefined
  /** Account services that trade at its quotes: called after each. Bounded by the services. */
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

/** @param market Says when prices of the instrument end, and what was recorded of it. */
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

type MarketFacts = Pick<Market, 'endings' | 'funding' | 'priceStepsMs' | 'references'>

/** A contract of the calendar follows the one before it. Recorded prices say themselves since when it is traded. */
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

/** Adds to what was chosen before. Whether it may be changed now is the caller's to check. */
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

/** @throws Failure SIMULATOR_UNKNOWN: only for symbols that were checked before. */
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

/** The account's money in a coin; a coin never touched is a row of zeros. */
export function coinOf(account: Account, coin: string): CoinBalance {
  const balance = account.coins.get(coin) ?? { ...NO_MONEY, balanceFloat: 0 }
  account.coins.set(coin, balance)
  return balance
}

/** Something changed of a position of it: the next mark price is looked at, whatever it is. */
export function forgetBand({ safe }: SymbolState): void {
  safe.fromTicks = Number.POSITIVE_INFINITY
}

/** The newest recorded mark price (in ticks) or rate at an instant of the exchange's clock; undefined where there is none. */
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

/** The same, of every position of an account. */
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
