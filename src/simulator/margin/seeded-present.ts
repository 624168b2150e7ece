import { decimal } from '../../lib/decimal.ts'
import { EMPTY_QUOTE } from '../market/market.ts'
import { roundDown } from '../wallet/rounding.ts'
import { balanceOf, type LoanType, type MarginMode, type OrderSource } from './margin-order.ts'
import { accountOf, coinIn, marketOf, type MarginState, type SymbolMarket } from './margin-state.ts'
import { endOrder } from './order-lifecycle.ts'
import { passTime } from './pass-time.ts'
import { placeOrder } from './place-order.ts'
import { lastPrice } from '../wallet/start-prices.ts'
import { settleFill } from './settle-fill.ts'

/*
 * What an account has open when the exchange opens: collateral, one running loan a balance, and orders that
 * rest well away from the price, so that every query has rows. Each balance has an order in every state that the
 * document names, under a clientOid that says which: `isolated-BTCUSDT-filled`.
 */

const HOUR_MS = 3_600_000

/** Collateral in quote coin, and what the market order borrows with it: quote coin too. */
const BALANCES: readonly { mode: MarginMode; symbol: string; collateral: string; bought: string }[] = [
  { mode: 'isolated', symbol: 'BTCUSDT', collateral: '4000', bought: '6000' },
  { mode: 'isolated', symbol: 'ETHUSDT', collateral: '2500', bought: '4000' },
  { mode: 'crossed', symbol: 'BTCUSDT', collateral: '6000', bought: '8000' },
  { mode: 'crossed', symbol: 'ETHUSDT', collateral: '1000', bought: '2000' },
]

interface RestingRow {
  /** Percent away from the price: below for a buy, above for a sell. */
  readonly percent: number
  readonly side: 'buy' | 'sell'
  /** Value in quote coin. */
  readonly value: number
  readonly force: 'gtc' | 'post_only'
  readonly loanType: LoanType
  readonly source: OrderSource
}

const RESTING: readonly RestingRow[] = [
  { percent: 10, side: 'buy', value: 150, force: 'gtc', loanType: 'autoLoan', source: 'API' },
  { percent: 20, side: 'buy', value: 200, force: 'post_only', loanType: 'autoLoan', source: 'WEB' },
  { percent: 15, side: 'sell', value: 300, force: 'gtc', loanType: 'autoRepay', source: 'IOS' },
  { percent: 25, side: 'sell', value: 250, force: 'gtc', loanType: 'autoLoanAndRepay', source: 'ANDROID' },
  { percent: 30, side: 'sell', value: 120, force: 'post_only', loanType: 'normal', source: 'API' },
]

export function seedPresent(state: MarginState, uid: string): void {
  const openedAt = state.ports.startAt - 12 * HOUR_MS
  passTime(state, openedAt)
  for (const { mode, symbol, collateral, bought } of BALANCES) {
    const bid = Number(lastPrice(state.ports, symbol))
    const market = marketOf(state, symbol)
    showMade(state, market, bid)
    const ref = { uid, balance: balanceOf(mode, symbol) }
    state.ports.wallet.book(coinIn(ref, market.rules.quoteCoin), 'opening', decimal(collateral))
    const placing = { uid, mode, source: 'API' } as const
    const order = { symbol, side: 'buy', orderType: 'market', loanType: 'autoLoan' } as const
    placeOrder(state, placing, { ...order, quoteSize: bought, clientOid: `${mode}-${symbol}-filled` })
    for (const row of RESTING) rest(state, { uid, mode, symbol, price: bid, row })
    for (const row of STATES) leave(state, { uid, mode, symbol, price: bid, row })
  }
}

function rest(
  state: MarginState,
  {
    uid,
    mode,
    symbol,
    price,
    row,
  }: { uid: string; mode: MarginMode; symbol: string; price: number; row: RestingRow },
): void {
  const { side, percent, value, force, loanType, source } = row
  const at = (price * (side === 'buy' ? 100 - percent : 100 + percent)) / 100
  state.clock.now += 1000
  placeOrder(
    state,
    { uid, mode, source },
    { ...{ symbol, side, orderType: 'limit', force, loanType }, ...sizes(at, value) },
  )
}

function sizes(price: number, value: number): { price: string; baseSize: string } {
  return { price: price.toFixed(2), baseSize: (value / price).toFixed(4) }
}

/** Small buys, and what became of them. Percent of the price. */
const STATES = [
  { status: 'live', percent: 88, force: 'gtc' },
  { status: 'partial_fill', percent: 86, force: 'gtc' },
  { status: 'cancelled', percent: 84, force: 'gtc' },
  // Would take, and only may rest.
  { status: 'reject', percent: 102, force: 'post_only' },
] as const

function leave(
  state: MarginState,
  {
    uid,
    mode,
    symbol,
    price,
    row: { status, percent, force },
  }: { uid: string; mode: MarginMode; symbol: string; price: number; row: (typeof STATES)[number] },
): void {
  state.clock.now += 1000
  const clientOid = `${mode}-${symbol}-${status}`
  const placed = placeOrder(
    state,
    { uid, mode, source: 'WEB' },
    {
      ...{ symbol, side: 'buy', orderType: 'limit', force, loanType: 'autoLoan', clientOid },
      ...sizes((price * percent) / 100, 100),
    },
  )
  const order = placed.ok ? accountOf(state, uid).open.get(placed.data.orderId) : undefined
  if (order?.price === undefined || order.base === undefined) return
  if (status === 'cancelled') endOrder(state, order, 'cancelled')
  if (status !== 'partial_fill') return
  const base = roundDown(order.base.times('0.4'), marketOf(state, symbol).rules.quantityPlaces)
  settleFill(state, order, { base, price: order.price })
}

/** Displays a price of the past: as deep as anybody wants. */
export function showMade({ clock }: MarginState, { book }: SymbolMarket, price: number): void {
  const bid = decimal(price.toFixed(2))
  const [bidTicks, askTicks] = [book.ticks(bid), book.ticks(bid.plus(SPREAD))]
  const plenty = { bidLots: PLENTY_LOTS, askLots: PLENTY_LOTS, candleLots: PLENTY_LOTS }
  book.show({ ...EMPTY_QUOTE, bidTicks, askTicks, lastTicks: bidTicks, ...plenty }, clock.now)
}

const SPREAD = decimal('0.1')
const PLENTY_LOTS = 1e12
