import { decimal } from '../../lib/decimal.ts'
import { balanceOf, type LoanType, type MarginMode, type OrderSource } from '../margin/orders/margin-order.ts'
import { coinIn, type MarginState } from '../margin/margin-state.ts'
import { cancelMarginOrder, createVenue } from '../margin/orders/margin-venue.ts'
import { fillOrder, isOpen } from '../matching/order-lifecycle.ts'
import { passTime } from '../margin/debts/pass-time.ts'
import { placeOrder } from '../margin/orders/place-order.ts'
import { pairOf } from '../services/pair-order.ts'
import { showPrice } from './margin-liquidations.ts'

const HOUR_MS = 3_600_000

/** Collateral in quote coin, and what a market order buys with it and a loan: quote coin too. */
const BALANCES = [
  { mode: 'isolated', symbol: 'BTCUSDT', collateral: '4000', bought: '6000' },
  { mode: 'isolated', symbol: 'ETHUSDT', collateral: '2500', bought: '4000' },
  { mode: 'crossed', symbol: 'BTCUSDT', collateral: '6000', bought: '8000' },
  { mode: 'crossed', symbol: 'ETHUSDT', collateral: '1000', bought: '2000' },
] as const

interface OrderRow {
  /** Of the price. */
  readonly percent: number
  readonly side: 'buy' | 'sell'
  readonly force: 'gtc' | 'post_only'
  readonly loanType: LoanType
  readonly source: OrderSource
  /** What became of it; its clientOid says so. Left out, it is one more that rests. */
  readonly status?: 'live' | 'partial_fill' | 'cancelled' | 'reject'
}

const ORDERS: readonly OrderRow[] = [
  { percent: 90, side: 'buy', force: 'gtc', loanType: 'autoLoan', source: 'API' },
  { percent: 80, side: 'buy', force: 'post_only', loanType: 'autoLoan', source: 'WEB' },
  { percent: 115, side: 'sell', force: 'gtc', loanType: 'autoRepay', source: 'IOS' },
  { percent: 125, side: 'sell', force: 'gtc', loanType: 'autoLoanAndRepay', source: 'ANDROID' },
  { percent: 130, side: 'sell', force: 'post_only', loanType: 'normal', source: 'API' },
  { percent: 88, side: 'buy', force: 'gtc', loanType: 'autoLoan', source: 'WEB', status: 'live' },
  { percent: 86, side: 'buy', force: 'gtc', loanType: 'autoLoan', source: 'WEB', status: 'partial_fill' },
  { percent: 84, side: 'buy', force: 'gtc', loanType: 'autoLoan', source: 'WEB', status: 'cancelled' },
  // Would take, and only may rest.
  { percent: 102, side: 'buy', force: 'post_only', loanType: 'autoLoan', source: 'WEB', status: 'reject' },
]

/**
 * What an account has when the exchange opens: in each balance collateral, a running loan, and orders well away from
 * the price. There is one in every state of the document, under a clientOid such as `isolated-BTCUSDT-filled`.
 */
export function placeMarginOrders(
  state: MarginState,
  uid: string,
  prices: ReadonlyMap<string, number>,
): void {
  passTime(state, state.ports.startAt - 12 * HOUR_MS)
  for (const { mode, symbol, collateral, bought } of BALANCES) {
    const price = prices.get(symbol)
    if (price === undefined) continue
    const pair = pairOf(state, symbol)
    showPrice(state, pair, price)
    const ref = { uid, balance: balanceOf(mode, symbol) }
    state.ports.wallet.book(coinIn(ref, pair.rules.quoteCoin), 'opening', decimal(collateral))
    const order = { symbol, side: 'buy', orderType: 'market', loanType: 'autoLoan' } as const
    const clientOid = `${mode}-${symbol}-filled`
    placeOrder(state, { uid, mode, source: 'API' }, { ...order, quoteSize: bought, clientOid })
    for (const row of ORDERS) placeRow(state, { uid, mode, symbol, price }, row)
  }
}

const VALUE = 150

function placeRow(
  state: MarginState,
  { uid, mode, symbol, price }: { uid: string; mode: MarginMode; symbol: string; price: number },
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
  if (status === 'cancelled') cancelMarginOrder(state, found, 'user')
  if (status !== 'partial_fill') return
  const pair = pairOf(state, symbol)
  const lots = pair.lots(found.size.times('0.4'))
  fillOrder(createVenue(state, pair), found, { lots, ticks: found.priceTicks, scope: 'maker' })
}
