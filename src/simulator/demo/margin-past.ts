import { decimal, ZERO, type Decimal } from '../../lib/decimal.ts'
import { createRandom, type Random } from '../../lib/random.ts'
import { judgeDebtors } from '../margin/debts/liquidation.ts'
import { passTime, startClock } from '../margin/debts/pass-time.ts'
import { coinIn, type MarginPair, type MarginState } from '../margin/margin-state.ts'
import { balanceOf, type LoanType, type OrderSource } from '../margin/orders/margin-order.ts'
import { type ExchangeMarginMode } from '../shared/account.ts'
import { placeOrder } from '../margin/orders/place-order.ts'
import { EMPTY_QUOTE } from '../market/market.ts'
import { fillOrder, isOpen } from '../matching/order-lifecycle.ts'
import { cancelPairOrder, pairOf, venueOf } from '../services/pair-service.ts'
import { decimalOfFloat, negated } from '../wallet/rounding.ts'

/**
 * Plays the past through the functions that serve margin later, so that all books balance. The
 * account must have no debts.
 */
export function writeMarginPast(state: MarginState): void {
  const prices = new Map<string, number>()
  for (const [symbol, pair] of state.pairs) {
    pair.refresh()
    if (pair.market.at > 0) prices.set(symbol, Number(pair.lastPrice().toString()))
  }
  if (prices.size === 0) return
  const { seed, startAt, accounts } = state.ports
  liveLiquidations(state, prices, createRandom(seed).fork('margin past'))
  for (const { uid } of accounts) placeMarginOrders(state, uid, prices)
  for (const pair of state.pairs.values()) pair.clear()
  state.clock.now = startAt
}

interface BalanceOwner {
  readonly uid: string
  readonly mode: ExchangeMarginMode
  readonly symbol: string
}

function deposit(
  state: MarginState,
  { uid, mode, symbol }: BalanceOwner,
  collateral: Decimal,
): void {
  const { quoteCoin } = pairOf(state, symbol).rules
  state.ports.wallet.book(
    { uid, balance: balanceOf(mode, symbol), coin: quoteCoin },
    'opening',
    collateral,
  )
}

const LIQUIDATIONS = 130
const PAST_MS = 100 * 86_400_000
const SHARED_EVERY = 26
const QUIET_MS = 86_400_000

function liveLiquidations(
  state: MarginState,
  prices: ReadonlyMap<string, number>,
  random: Random,
): void {
  const { startAt, accounts } = state.ports
  const symbols = [...prices.keys()]
  startClock(state, startAt - PAST_MS)
  for (let round = 0; round < LIQUIDATIONS; round++) {
    const at = startAt - PAST_MS + Math.floor(((PAST_MS - QUIET_MS) * round) / LIQUIDATIONS)
    const symbol = symbols[round % symbols.length] ?? ''
    const price = (prices.get(symbol) ?? 0) * (1 + 0.05 * random.next())
    const isLong = round % 4 < 2
    for (const { uid } of round % SHARED_EVERY === 0 ? accounts : accounts.slice(0, 1)) {
      for (const mode of ['isolated', 'crossed'] as const) {
        liveLiquidation(state, {
          uid,
          mode,
          symbol,
          isLong,
          at,
          price,
          cents: 5000 + random.integer(45_000),
        })
      }
    }
  }
}

interface Episode extends BalanceOwner {
  readonly isLong: boolean
  readonly at: number
  readonly price: number
  readonly cents: number
}

/** Percent of the collateral: nine tenths of what the leverage allows. */
const BORROWED_PERCENT = { isolated: 810, crossed: 180 } as const
const FIRST_MOVE = { isolated: 0.07, crossed: 0.28 } as const
const LOOKS_MAX = 40

function liveLiquidation(state: MarginState, episode: Episode): void {
  const { uid, mode, symbol, isLong, at, price, cents } = episode
  const pair = pairOf(state, symbol)
  passTime(state, at)
  showPrice(state, pair, price)
  deposit(state, episode, toQuote(cents))
  const borrowed = Math.floor((cents * BORROWED_PERCENT[mode]) / 100)
  const size = isLong
    ? { quoteSize: toQuote(borrowed + cents).toString() }
    : { baseSize: (borrowed / 100 / price).toFixed(Math.min(4, pair.rules.sizeDecimals)) }
  const order = {
    symbol,
    side: isLong ? 'buy' : 'sell',
    orderType: 'market',
    loanType: 'autoLoan',
  } as const
  placeOrder(state, { uid, mode, source: 'API' }, { ...order, ...size })
  const step = isLong ? -1 : 1
  let shown = price * (1 + step * FIRST_MOVE[mode])
  for (let look = 0; look < LOOKS_MAX && state.debtors.size > 0; look++) {
    state.clock.now += 1000
    showPrice(state, pair, shown)
    judgeDebtors(state, pair)
    shown *= 1 + step * 0.01
  }
  const ref = { uid, balance: balanceOf(mode, symbol) }
  const { wallet } = state.ports
  for (const [coin, { available }] of wallet.coins(uid, ref.balance)) {
    if (available.gt(ZERO)) wallet.book(coinIn(ref, coin), 'opening', negated(available))
  }
}

const PLENTY_LOTS = 1e12

function showPrice({ clock }: MarginState, pair: MarginPair, price: number): void {
  const bidTicks = pair.ticks(decimalOfFloat(price, 2))
  const plenty = { bidLots: PLENTY_LOTS, askLots: PLENTY_LOTS, candleLots: PLENTY_LOTS }
  pair.show(
    { ...EMPTY_QUOTE, bidTicks, askTicks: bidTicks + 10, lastTicks: bidTicks, ...plenty },
    clock.now,
  )
}

function toQuote(cents: number): Decimal {
  return decimalOfFloat(cents / 100, 2)
}

const BALANCES = [
  { mode: 'isolated', symbol: 'BTCUSDT', collateral: '4000', bought: '6000' },
  { mode: 'isolated', symbol: 'ETHUSDT', collateral: '2500', bought: '4000' },
  { mode: 'crossed', symbol: 'BTCUSDT', collateral: '6000', bought: '8000' },
  { mode: 'crossed', symbol: 'ETHUSDT', collateral: '1000', bought: '2000' },
] as const

interface OrderRow {
  readonly percent: number
  readonly side: 'buy' | 'sell'
  readonly force: 'gtc' | 'post_only'
  readonly loanType: LoanType
  readonly source: OrderSource
  readonly status?: 'live' | 'partial_fill' | 'cancelled' | 'reject'
}

const ORDERS: readonly OrderRow[] = [
  { percent: 90, side: 'buy', force: 'gtc', loanType: 'autoLoan', source: 'API' },
  { percent: 80, side: 'buy', force: 'post_only', loanType: 'autoLoan', source: 'WEB' },
  { percent: 115, side: 'sell', force: 'gtc', loanType: 'autoRepay', source: 'IOS' },
  { percent: 125, side: 'sell', force: 'gtc', loanType: 'autoLoanAndRepay', source: 'ANDROID' },
  { percent: 130, side: 'sell', force: 'post_only', loanType: 'normal', source: 'API' },
  { percent: 88, side: 'buy', force: 'gtc', loanType: 'autoLoan', source: 'WEB', status: 'live' },
  {
    percent: 86,
    side: 'buy',
    force: 'gtc',
    loanType: 'autoLoan',
    source: 'WEB',
    status: 'partial_fill',
  },
  {
    percent: 84,
    side: 'buy',
    force: 'gtc',
    loanType: 'autoLoan',
    source: 'WEB',
    status: 'cancelled',
  },
  {
    percent: 102,
    side: 'buy',
    force: 'post_only',
    loanType: 'autoLoan',
    source: 'WEB',
    status: 'reject',
  },
]
const VALUE = 150
const HOUR_MS = 3_600_000

function placeMarginOrders(
  state: MarginState,
  uid: string,
  prices: ReadonlyMap<string, number>,
): void {
  passTime(state, state.ports.startAt - 12 * HOUR_MS)
  for (const { mode, symbol, collateral, bought } of BALANCES) {
    const price = prices.get(symbol)
    if (price === undefined) continue
    showPrice(state, pairOf(state, symbol), price)
    deposit(state, { uid, mode, symbol }, decimal(collateral))
    const terms = {
      side: 'buy',
      orderType: 'market',
      loanType: 'autoLoan',
      quoteSize: bought,
    } as const
    const clientOid = `${mode}-${symbol}-filled`
    placeOrder(state, { uid, mode, source: 'API' }, { symbol, ...terms, clientOid })
    for (const row of ORDERS) placeRow(state, { uid, mode, symbol, price }, row)
  }
}

function placeRow(
  state: MarginState,
  { uid, mode, symbol, price }: BalanceOwner & { readonly price: number },
  { percent, source, status, ...terms }: OrderRow,
): void {
  state.clock.now += 1000
  const at = (price * percent) / 100
  const clientOid = status === undefined ? {} : { clientOid: `${mode}-${symbol}-${status}` }
  const size = { price: at.toFixed(2), baseSize: (VALUE / at).toFixed(4) }
  const order = { symbol, orderType: 'limit', ...terms, ...clientOid, ...size } as const
  const placed = placeOrder(state, { uid, mode, source }, order)
  const found = placed.ok ? state.orders.find(uid, placed.data.orderId) : undefined
  if (found === undefined || !isOpen(found)) return
  if (status === 'cancelled') cancelPairOrder(state, found, 'user')
  if (status !== 'partial_fill') return
  const pair = pairOf(state, symbol)
  const lots = pair.lots(found.size.times('0.4'))
  fillOrder(venueOf(state, pair), found, { lots, ticks: found.priceTicks, scope: 'maker' })
}
