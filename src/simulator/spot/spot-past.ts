import { decimal, ZERO, type Decimal } from '../../lib/decimal.ts'
import { createRandom, type Random } from '../../lib/random.ts'
import { pastPrices, pastTimes } from '../wallet/past-prices.ts'
import { decimalOfFloat, roundDown } from '../wallet/rounding.ts'
import { lastPrice } from '../wallet/start-prices.ts'
import { writePastWithdrawals } from './past-withdrawals.ts'
import { openOrder } from './place-spot-order.ts'
import { cancelOrder, endMarketBuy, fillOrder } from './spot-fill.ts'
import { isMarketBuy, isOpen, remainingOf, type SpotOrder, type SpotTerms } from './spot-order.ts'
import { enterBook, paidCoin, putOrder, spotBalance, type SpotMarket, type SpotState } from './spot-state.ts'

/** A little less than the history reaches, so that the whole past is still to be read for two days. */
const PAST_DAYS = 88
/** Orders before this carry their fees under a coin's name. */
const OLD_FEES_DAYS = 45
const DAY_MS = 86_400_000

/**
 * Writes what an account did before the exchange was started: orders of every kind and outcome, and
 * withdrawals. Every coin is booked as if it happened, so balances, fees and histories agree to the last
 * digit. The same seed writes the same past.
 */
export function writeSpotPast(state: SpotState, uid: string): void {
  const { seed, startAt: endAt } = state.ports
  const { pastOrders: count } = state.settings
  const stem = `${seed}/spot-past/${uid}`
  const times = pastTimes(`${stem}/times`, { count, days: PAST_DAYS, endAt })
  const random = createRandom(`${stem}/orders`)
  const markets = [...state.markets.values()].filter(({ symbol }) => symbol.row.status === 'online')
  const prices = new Map(
    markets.map(({ symbol: { row } }) => {
      const { symbol } = row
      const last = Number(lastPrice(state.ports, symbol))
      return [symbol, { last, path: pastPrices(times, { seed: `${stem}/${symbol}`, last, endAt }) }] as const
    }),
  )
  for (const [index, at] of times.entries()) {
    const market = markets[random.integer(markets.length)]
    const known = market && prices.get(market.symbol.row.symbol)
    if (market === undefined || known === undefined) continue
    // The last handful is still open when the exchange starts: it stands around the price of that moment.
    const isStanding = index >= times.length - STANDING
    const price = isStanding ? known.last : (known.path[index] ?? known.last)
    const reference = decimalOfFloat(price, market.symbol.priceDecimals)
    writeOrder(state, uid, { market, at, reference, random, isStanding, index })
  }
  writePastWithdrawals(state, uid)
}

const STANDING = 5

interface PastOrder {
  readonly market: SpotMarket
  readonly at: number
  readonly reference: Decimal
  readonly random: Random
  readonly isStanding: boolean
  readonly index: number
}

function writeOrder(state: SpotState, uid: string, past: PastOrder): void {
  const terms = drawTerms(state, uid, past)
  const { at, random, reference, isStanding } = past
  const hasOldFees = at < state.ports.startAt - OLD_FEES_DAYS * DAY_MS
  const order = openOrder(state, terms, { at, hasOldFees, reference })
  if (isStanding) return leaveStanding(state, order, past)
  order.status = 'new'
  const isCancelled = order.orderType === 'limit' && random.next() < 0.25
  const fraction = isCancelled && random.next() < 0.3 ? 0.4 : 1
  if (!isCancelled || fraction < 1) fillPart(state, order, { ...past, fraction })
  const endAt = at + 1000 + random.integer(1_800_000)
  if (isCancelled) cancelOrder(state, order, random.next() < 0.15 ? 'stp_cancel' : 'normal_cancel', endAt)
  else if (isOpen(order)) endMarketBuy(state, order, order.updatedAt)
}

/** One that waits for its trigger, the others for the market; one of them is filled in part. */
function leaveStanding(state: SpotState, order: SpotOrder, past: PastOrder): void {
  const { market } = past
  if (order.trigger !== undefined) return
  order.status = 'new'
  enterBook(market, order)
  putOrder(state, order)
  if (past.index % STANDING === PARTIAL) fillPart(state, order, { ...past, fraction: 0.4 })
}

/** Which of the standing orders waits for its trigger, and which is filled in part. */
const WAITING = 1
const PARTIAL = 2

function fillPart(
  state: SpotState,
  order: SpotOrder,
  { market, reference, at, random, fraction }: PastOrder & { readonly fraction: number },
): void {
  const { baseDecimals } = market.symbol
  const price = order.orderType === 'market' ? reference : order.price
  const whole = isMarketBuy(order)
    ? roundDown(remainingOf(order).div(price), baseDecimals)
    : remainingOf(order)
  const base = fraction === 1 ? whole : roundDown(whole.times(String(fraction)), baseDecimals)
  if (!base.gt(ZERO)) return
  const scope = order.orderType === 'market' ? 'taker' : 'maker'
  fillOrder(state, order, { base, price, scope, at: at + 100 + random.integer(900) })
}

/** A limit order stands a little, a standing one far on the side of the market that waits. */
function drawTerms(state: SpotState, uid: string, past: PastOrder): SpotTerms {
  const { market, random, reference, isStanding, index } = past
  const isLimit = isStanding || random.next() < 0.6
  const notional = 50 + random.integer(850)
  const side = drawSide(state, uid, past)
  const awayRatio = (isStanding ? 0.03 : 0.002) * (side === 'buy' ? -1 : 1)
  const { priceDecimals, baseDecimals } = market.symbol
  const away = decimalOfFloat(Number(reference.toString()) * (1 + awayRatio), priceDecimals)
  const isWaiting = isStanding ? index % STANDING === WAITING : random.next() < 0.15
  const isMarketBuyOrder = !isLimit && side === 'buy'
  const isFollowing = !isLimit && random.next() < 0.1
  return {
    uid,
    symbol: market.symbol.row.symbol,
    clientOid: isStanding || random.next() < 0.5 ? `past-${index}` : undefined,
    direction: side,
    orderType: isLimit ? 'limit' : 'market',
    force: 'gtc',
    stpMode: 'none',
    price: isLimit ? away : ZERO,
    size: isMarketBuyOrder
      ? decimal(String(notional))
      : roundDown(decimal(String(notional)).div(reference), baseDecimals),
    trigger: isWaiting ? { price: away, isAbove: side === 'sell' } : undefined,
    entry: ENTRIES[random.integer(ENTRIES.length)] ?? 'API',
    source: isFollowing ? `spot_follower_${side}` : isLimit ? 'normal' : 'market',
    deductsFee: random.next() < 0.2,
  }
}

const ENTRIES = ['API', 'API', 'WEB', 'ANDROID', 'IOS'] as const

/** Buys and sells in turn of a coin, unless only one of them can be paid: a thousand USDT is always enough. */
function drawSide(state: SpotState, uid: string, { market, random, reference }: PastOrder): 'buy' | 'sell' {
  const { wallet } = state.ports
  const side = random.next() < 0.5 ? 'buy' : 'sell'
  const held = wallet.coin(spotBalance(uid, paidCoin(market, { direction: side }))).available
  const worth = side === 'buy' ? held : held.times(reference)
  return worth.gt(NOTIONAL_ENOUGH) ? side : side === 'buy' ? 'sell' : 'buy'
}

const NOTIONAL_ENOUGH = '1000'
