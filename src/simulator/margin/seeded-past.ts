import { decimal, ZERO, type Decimal } from '../../lib/decimal.ts'
import { createRandom, type Random } from '../../lib/random.ts'
import { negated } from '../wallet/rounding.ts'
import { judgeDebtors } from './liquidation.ts'
import { balanceOf, type MarginMode, type BalanceRef } from './margin-order.ts'
import { putClock } from './margin-rows.ts'
import { coinIn, marketOf, type MarginState, type SymbolMarket } from './margin-state.ts'
import { passTime, startClock } from './pass-time.ts'
import { placeOrder } from './place-order.ts'
import { lastPrice } from '../wallet/start-prices.ts'
import { seedPresent, showMade } from './seeded-present.ts'

/*
 * What lies before the first start. It is not written down but lived through: each account borrows, trades
 * and is liquidated at made-up prices, through the same functions that serve it later, so that every record
 * follows from bookings of the wallet. Collateral comes and what is left goes as an opening booking.
 */

const DAY_MS = 86_400_000
/** Long enough that some of it is out of a query's 90 days; most of it is not. */
const PAST_MS = 110 * DAY_MS
/** The last liquidation is that long over when the exchange opens. */
const QUIET_MS = DAY_MS
/** Liquidations an account and mode beyond the first `pastAccountsMax` accounts. */
const SHORT_PAST = 5

/** Writes the past, and what is open at the start; the clock then stands at `startAt`. */
export function seedPast(state: MarginState): void {
  const random = createRandom(state.ports.seed).fork('margin past')
  const prices = new Map([...state.symbols.keys()].map((symbol) => [symbol, anchorOf(state, symbol)]))
  const { startAt, accounts } = state.ports
  const { pastLiquidations, pastAccountsMax } = state.settings
  startClock(state, pastLiquidations > 0 ? startAt - PAST_MS : startAt)
  if (pastLiquidations > 0) {
    const each = accounts.map((_, index) =>
      index < pastAccountsMax ? pastLiquidations : Math.min(SHORT_PAST, pastLiquidations),
    )
    for (const [index, episode] of episodes(state, each).entries()) {
      const total = 2 * each.reduce((sum, count) => sum + count, 0)
      const at = startAt - PAST_MS + Math.floor(((PAST_MS - QUIET_MS) * index) / total)
      live(state, { ...episode, at, random, price: walk(random, prices, episode.symbol, state) })
    }
    for (const { uid } of accounts) seedPresent(state, uid)
  }
  for (const { book } of state.symbols.values()) book.clear()
  state.clock.now = startAt
  putClock(state)
}

interface Episode {
  readonly uid: string
  readonly mode: MarginMode
  readonly symbol: string
  readonly isLong: boolean
  /** Crossed: the collateral is another coin than those that are traded. */
  readonly isForeign: boolean
}

/** Accounts, modes, symbols and sides take turns, so that every account's past is spread over the whole of it. */
function episodes(state: MarginState, each: readonly number[]): Episode[] {
  const symbols = [...state.symbols.keys()]
  const found: Episode[] = []
  for (let round = 0; round < Math.max(0, ...each); round++) {
    for (const [index, { uid }] of state.ports.accounts.entries()) {
      if (round >= (each[index] ?? 0)) continue
      const symbol = symbols[round % symbols.length] ?? ''
      const isLong = round % 4 < 2
      found.push({ uid, mode: 'isolated', symbol, isLong, isForeign: false })
      found.push({ uid, mode: 'crossed', symbol, isLong, isForeign: round % 3 === 0 })
    }
  }
  return found
}

/**
 * How far a price moves against a position: from just beyond the liquidation to about where the equity is
 * gone. Collateral in another coin does not lose with the position, so it takes more.
 */
const MOVES = {
  isolated: { long: [0.075, 0.11], short: [0.075, 0.11], foreignLong: [0.075, 0.11] },
  crossed: { long: [0.3, 0.35], short: [0.42, 0.54], foreignLong: [0.46, 0.55] },
} as const

/** Debts in a hundredth of the collateral: nine tenths of what the leverage allows. */
const BORROWED_PERCENT = { isolated: 810, crossed: 180 } as const

interface Living extends Episode {
  /** Unix ms. */
  readonly at: number
  readonly random: Random
  /** Where the liquidation happens. */
  readonly price: number
}

/** Brings collateral, opens a position with a loan, lets hours pass, and moves the price until it is taken over. */
function live(state: MarginState, episode: Living): void {
  const { uid, mode, symbol, isLong, random, at, price } = episode
  const market = marketOf(state, symbol)
  const ref: BalanceRef = { uid, balance: balanceOf(mode, symbol) }
  const kind = isLong ? (episode.isForeign ? 'foreignLong' : 'long') : 'short'
  const [least, most] = MOVES[mode][kind]
  const move = least + (most - least) * random.next()
  const entry = isLong ? price / (1 - move) : price / (1 + move)
  passTime(state, at)
  showMade(state, market, entry)
  const collateral = 5000 + random.integer(45_000)
  bringCollateral(state, { ref, episode, cents: collateral })
  const borrowed = Math.floor((collateral * BORROWED_PERCENT[mode]) / 100)
  const size = isLong
    ? { quoteSize: cents(borrowed + (episode.isForeign ? 0 : collateral)).toString() }
    : { baseSize: sizeText(market, borrowed / 100 / entry) }
  placeOrder(
    state,
    { uid, mode, source: 'API' },
    { symbol, side: isLong ? 'buy' : 'sell', orderType: 'market', loanType: 'autoLoan', ...size },
  )
  passTime(state, at + 60_000 + random.integer(5 * 60_000))
  fall(state, market, episode)
  leave(state, ref)
}

/** Moves the price until the balance is taken over. */
function fall(state: MarginState, market: SymbolMarket, { price, isLong }: Living): void {
  let shown = price
  for (let look = 0; look < LOOKS_MAX && state.debtors.size > 0; look++) {
    showMade(state, market, shown)
    judgeDebtors(state, market)
    shown *= isLong ? 0.98 : 1.02
    state.clock.now += 1000
  }
}

/** The first price is nearly always enough. */
const LOOKS_MAX = 40

function bringCollateral(
  state: MarginState,
  { ref, episode, cents: amount }: { ref: BalanceRef; episode: Episode; cents: number },
): void {
  const other = [...state.symbols.values()].find(({ rules }) => rules.symbol !== episode.symbol)
  if (!episode.isForeign || other === undefined) {
    const { quoteCoin } = marketOf(state, episode.symbol).rules
    state.ports.wallet.book(coinIn(ref, quoteCoin), 'opening', cents(amount))
    return
  }
  const price = anchorOf(state, other.rules.symbol)
  showMade(state, other, price)
  const size = decimal(sizeText(other, amount / 100 / price))
  state.ports.wallet.book(coinIn(ref, other.rules.baseCoin), 'opening', size)
}

/** Whatever the liquidation left goes out again. */
function leave(state: MarginState, ref: BalanceRef): void {
  if (state.debtors.size > 0) return
  for (const [coin, { available }] of state.ports.wallet.coins(ref.uid, ref.balance)) {
    if (available.gt(ZERO)) state.ports.wallet.book(coinIn(ref, coin), 'opening', negated(available))
  }
}

/** Where the symbol's past ends: at the price of the start. */
function anchorOf({ ports }: MarginState, symbol: string): number {
  return Number(lastPrice(ports, symbol))
}

/** A step of a walk that stays near the price of the start: half a percent, and drawn back. */
function walk(random: Random, prices: Map<string, number>, symbol: string, state: MarginState): number {
  const anchor = anchorOf(state, symbol)
  const last = prices.get(symbol) ?? anchor
  const next = (last + (anchor - last) * 0.02) * (1 + 0.005 * random.normal())
  prices.set(symbol, next)
  return next
}

function cents(count: number): Decimal {
  return decimal((count / 100).toFixed(2))
}

function sizeText({ rules }: SymbolMarket, base: number): string {
  return base.toFixed(Math.min(4, rules.quantityPlaces))
}
