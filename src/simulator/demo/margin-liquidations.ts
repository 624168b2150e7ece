import { decimal, ZERO, type Decimal } from '../../lib/decimal.ts'
import { type Random } from '../../lib/random.ts'
import { EMPTY_QUOTE } from '../market/market.ts'
import { judgeDebtors } from '../margin/debts/liquidation.ts'
import { balanceOf, type MarginMode } from '../margin/orders/margin-order.ts'
import { coinIn, type MarginPair, type MarginState } from '../margin/margin-state.ts'
import { passTime, startClock } from '../margin/debts/pass-time.ts'
import { placeOrder } from '../margin/orders/place-order.ts'
import { pairOf } from '../services/pair-order.ts'
import { negated } from '../wallet/rounding.ts'

/** More than a page of the records has by default, and some of it out of a query's 90 days. */
const LIQUIDATIONS = 130
const PAST_MS = 100 * 86_400_000
/** Of every so many of them the accounts after the first have one. */
const SHARED_EVERY = 26
/** The last one is that long over when the exchange opens. */
const QUIET_MS = 86_400_000

/**
 * Liquidations of margin balances. They are not written down but lived through: each account borrows, trades and is
 * liquidated at made-up prices, through the functions that serve it later, so that every record follows from
 * bookings. Collateral comes, and what is left goes, as an opening booking.
 * @param prices By symbol: where the made-up prices are near.
 */
export function liveLiquidations(
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
    for (const { uid } of round % SHARED_EVERY === 0 ? accounts : accounts.slice(0, 1)) {
      for (const mode of ['isolated', 'crossed'] as const) {
        live(state, {
          uid,
          mode,
          symbol,
          isLong: round % 4 < 2,
          at,
          price,
          cents: 5000 + random.integer(45_000),
        })
      }
    }
  }
}

interface Episode {
  readonly uid: string
  readonly mode: MarginMode
  readonly symbol: string
  readonly isLong: boolean
  /** Unix ms. */
  readonly at: number
  /** Where the position is opened. */
  readonly price: number
  /** The collateral, in hundredths of the quote coin. */
  readonly cents: number
}

/** Debts in a hundredth of the collateral: nine tenths of what the leverage allows. */
const BORROWED_PERCENT = { isolated: 810, crossed: 180 } as const
/** How far a price moves at once against a position: not quite to its liquidation. */
const FIRST_MOVE = { isolated: 0.07, crossed: 0.28 } as const
const LOOKS_MAX = 40

/** Brings collateral, opens a position with a loan, and moves the price until it is taken over. */
function live(state: MarginState, { uid, mode, symbol, isLong, at, price, cents }: Episode): void {
  const pair = pairOf(state, symbol)
  const ref = { uid, balance: balanceOf(mode, symbol) }
  const { wallet } = state.ports
  passTime(state, at)
  showPrice(state, pair, price)
  wallet.book(coinIn(ref, pair.rules.quoteCoin), 'opening', toQuote(cents))
  const borrowed = Math.floor((cents * BORROWED_PERCENT[mode]) / 100)
  const size = isLong
    ? { quoteSize: toQuote(borrowed + cents).toString() }
    : { baseSize: (borrowed / 100 / price).toFixed(Math.min(4, pair.rules.sizeDecimals)) }
  const order = { symbol, side: isLong ? 'buy' : 'sell', orderType: 'market', loanType: 'autoLoan' } as const
  placeOrder(state, { uid, mode, source: 'API' }, { ...order, ...size })
  const step = isLong ? -1 : 1
  let shown = price * (1 + step * FIRST_MOVE[mode])
  for (let look = 0; look < LOOKS_MAX && state.debtors.size > 0; look++) {
    state.clock.now += 1000
    showPrice(state, pair, shown)
    judgeDebtors(state, pair)
    shown *= 1 + step * 0.01
  }
  for (const [coin, { available }] of wallet.coins(uid, ref.balance)) {
    if (available.gt(ZERO)) wallet.book(coinIn(ref, coin), 'opening', negated(available))
  }
}

/** Displays a price of the past: as deep as anybody wants. */
export function showPrice({ clock }: MarginState, pair: MarginPair, price: number): void {
  const bidTicks = pair.ticks(decimal(price.toFixed(2)))
  const plenty = { bidLots: PLENTY_LOTS, askLots: PLENTY_LOTS, candleLots: PLENTY_LOTS }
  pair.show({ ...EMPTY_QUOTE, bidTicks, askTicks: bidTicks + 10, lastTicks: bidTicks, ...plenty }, clock.now)
}

const PLENTY_LOTS = 1e12

function toQuote(cents: number): Decimal {
  return decimal((cents / 100).toFixed(2))
}
