import { decimal, ZERO, type Decimal } from '../../lib/decimal.ts'
import { openOrder } from '../spot/place-spot-order.ts'
import { cancelOrder, finishOrder, fillOrder, isOpen } from '../matching/order-lifecycle.ts'
import { insertOrder, sideOf } from '../matching/order-book.ts'
import { costOf, paidCoin, remainingOf } from '../services/pair-order.ts'
import { matchingOf } from '../services/pair-service.ts'
import type { SpotOrder, SpotTerms } from '../spot/spot-order.ts'
import type { SpotPair, SpotState } from '../spot/spot-state.ts'
import { spotBalance } from '../wallet/coin-money.ts'
import { decimalOfFloat, roundDown } from '../wallet/rounding.ts'
import { addressesOf, contactOf } from '../spot/address-book.ts'
import { COINS } from '../spot/coins.ts'
import { withdraw } from '../spot/withdrawals.ts'
import { pastMoments } from './past-moments.ts'

const ORDERS = 130
const OLD_FEES_MS = 45 * 86_400_000

interface SpotOrderKind {
  readonly orderType: 'limit' | 'market'
  readonly filled: '0' | '0.4' | '1'
  readonly cancelled?: 'user' | 'self_trade'
  readonly hasTrigger?: boolean
  readonly isFollowing?: boolean
}

const KINDS: readonly SpotOrderKind[] = [
  { orderType: 'limit', filled: '1' },
  { orderType: 'market', filled: '1' },
  { orderType: 'limit', filled: '0', cancelled: 'user' },
  { orderType: 'limit', filled: '1', hasTrigger: true },
  { orderType: 'limit', filled: '0.4', cancelled: 'user' },
  { orderType: 'market', filled: '1', isFollowing: true },
  { orderType: 'limit', filled: '0', cancelled: 'self_trade' },
]

const OPEN_KINDS: readonly SpotOrderKind[] = [
  { orderType: 'limit', filled: '0' },
  { orderType: 'limit', filled: '0', hasTrigger: true },
  { orderType: 'limit', filled: '0.4' },
  { orderType: 'limit', filled: '0' },
  { orderType: 'limit', filled: '0' },
]

const ENTRIES = ['API', 'WEB', 'ANDROID', 'IOS', 'SYS'] as const

export function writeSpotOrders(state: SpotState, uid: string): void {
  const pairs = [...state.pairs.values()].filter(({ market }) => market.at > 0)
  for (const [index, { at, priceRatio }] of pastMoments(
    state.ports,
    `spot/${uid}`,
    ORDERS,
  ).entries()) {
    const pair = pairs[Math.floor(index / 2) % pairs.length]
    // A negative index has no kind: only the last orders are open.
    const kind = OPEN_KINDS[index - ORDERS + OPEN_KINDS.length] ?? KINDS[index % KINDS.length]
    if (pair === undefined || kind === undefined) continue
    const reference = priceAt(pair, isStanding(kind) ? 1 : priceRatio)
    const past = { uid, pair, kind, index, at, reference }
    const terms = termsOf(state, past)
    if (isPaid(state, pair, terms)) writeOrder(state, past, terms)
  }
}

interface PastOrder {
  readonly uid: string
  readonly pair: SpotPair
  readonly kind: SpotOrderKind
  readonly index: number
  readonly at: number
  readonly reference: Decimal
}

function isStanding({ filled, cancelled }: SpotOrderKind): boolean {
  return filled !== '1' && cancelled === undefined
}

function priceAt(pair: SpotPair, ratio: number): Decimal {
  return decimalOfFloat(Number(pair.lastPrice().toString()) * ratio, pair.rules.priceDecimals)
}

function writeOrder(state: SpotState, past: PastOrder, terms: SpotTerms): void {
  const { pair, kind, at, reference } = past
  const hasOldFees = at < state.ports.startAt - OLD_FEES_MS
  const order = openOrder(state, terms, { at, hasOldFees, reference })
  if (isStanding(kind) && terms.trigger !== undefined) return
  const matchingAt = (now: number) => matchingOf(state, pair, { now })
  matchingAt(at).stopWaiting(order)
  order.status = 'live'
  if (isStanding(kind)) insertOrder(sideOf(pair, order), order)
  fillShare(state, order, past)
  if (kind.cancelled !== undefined) cancelOrder(matchingAt(at + 60_000), order, kind.cancelled)
  else if (kind.filled === '1' && isOpen(order)) finishOrder(matchingAt(order.updatedAt), order)
}

function fillShare(
  state: SpotState,
  order: SpotOrder,
  { pair, kind, at, reference }: PastOrder,
): void {
  const isMarket = order.orderType === 'market'
  const price = isMarket ? reference : order.price
  const whole = order.isQuoteSized ? remainingOf(order).div(price) : remainingOf(order)
  const base = roundDown(whole.times(kind.filled), pair.rules.sizeDecimals)
  if (!base.gt(ZERO)) return
  fillOrder(matchingOf(state, pair, { now: at + 500 }), order, {
    lots: pair.lots(base),
    ticks: pair.ticks(price),
    scope: isMarket ? 'taker' : 'maker',
  })
}

function termsOf(state: SpotState, { uid, pair, kind, index, reference }: PastOrder): SpotTerms {
  const { orderType, isFollowing, hasTrigger } = kind
  const { priceDecimals, sizeDecimals, symbol } = pair.rules
  const direction = index % 2 === 0 ? 'buy' : 'sell'
  const awayRatio = (isStanding(kind) ? 0.03 : 0.002) * (direction === 'buy' ? -1 : 1)
  const away = decimalOfFloat(Number(reference.toString()) * (1 + awayRatio), priceDecimals)
  const notional = decimal(String(100 + 20 * (index % 9)))
  const isBuyOfQuote = orderType === 'market' && direction === 'buy'
  return {
    uid,
    symbol,
    direction,
    orderType,
    force: 'gtc',
    stpMode: 'none',
    clientOid: isStanding(kind) || index % 3 === 0 ? `past-${index}` : undefined,
    price: orderType === 'limit' ? away : ZERO,
    isQuoteSized: isBuyOfQuote,
    size: isBuyOfQuote ? notional : roundDown(notional.div(reference), sizeDecimals),
    trigger:
      hasTrigger === true
        ? {
            price: away,
            isAbove: direction === 'sell',
          }
        : undefined,
    entry: ENTRIES[index % ENTRIES.length] ?? 'API',
    source:
      isFollowing === true
        ? `spot_follower_${direction}`
        : orderType === 'limit'
          ? 'normal'
          : 'market',
    deductsFee: index % 6 === 0,
  }
}

function isPaid({ ports }: SpotState, pair: SpotPair, terms: SpotTerms): boolean {
  const { available } = ports.wallet.coin(spotBalance(terms.uid, paidCoin(pair.rules, terms)))
  return available.gte(costOf(terms))
}

const WITHDRAWALS = 8

export function writeWithdrawals(state: SpotState, uid: string): void {
  const routes = COINS.flatMap(({ coin, chains }) => chains.map((row) => ({ coin, ...row })))
  const other = state.ports.accounts.find((account) => account.uid !== uid)
  for (const [index, { at }] of pastMoments(state.ports, `out/${uid}`, WITHDRAWALS).entries()) {
    const clientOid = index % 2 === 0 ? { clientOid: `past-withdrawal-${index}` } : {}
    const route = routes[index % (routes.length + 1)]
    if (route === undefined) {
      if (other === undefined) continue
      const receiver = { innerToType: 'email', address: contactOf(other.uid).email } as const
      const transfer = {
        ...receiver,
        transferType: 'internal_transfer',
        coin: 'USDT',
        size: '15',
      } as const
      withdraw(state, { uid }, { ...transfer, ...clientOid }, at)
      continue
    }
    const { coin, chain, minWithdrawAmount: size } = route
    const listed = addressesOf(uid).find((row) => row.coin === coin && row.chain === chain)
    const address = listed?.address ?? ''
    withdraw(
      state,
      { uid },
      { transferType: 'on_chain', coin, chain, size, address, ...clientOid },
      at,
    )
  }
}
