import { decimal, type Decimal, decimalOfInteger, sumDecimals } from '../../lib/decimal.ts'
import { createGrid, formatOnGrid } from '../../lib/grid.ts'
import { clamp, createRandom, type Random } from '../../lib/random.ts'
import { bookConversion, CONVERTED_COINS, type ConvertState } from '../convert/convert.ts'
import { type CopyState, firstSetting } from '../copy/copy.ts'
import { DAY_MS, DAYS_KEPT, type SymbolSetting, type Trader, TRADERS } from '../copy/trader.ts'
import type { MarginState } from '../margin/margin-state.ts'
import type { ServicePorts } from '../services/service-ports.ts'
import type { SpotState } from '../spot/spot-state.ts'
import { decimalOfFloat, roundUp } from '../wallet/rounding.ts'
import { writeMarginPast } from './margin-past.ts'
import { pastMoments } from './past-moments.ts'
import { writeSpotOrders, writeWithdrawals } from './spot-past.ts'

interface DemoServices {
  readonly spot: SpotState
  readonly margin: MarginState
  readonly convert: ConvertState
  readonly copy: CopyState
}

/** Needs a displayed price, because the past ends at the present market. */
export function writeDemoPast(
  ports: ServicePorts,
  { spot, margin, convert, copy }: DemoServices,
): void {
  for (const pair of spot.pairs.values()) pair.refresh()
  for (const { uid } of ports.accounts) {
    writeSpotOrders(spot, uid)
    writeWithdrawals(spot, uid)
    writeConversions(convert, uid)
  }
  writeMarginPast(margin)
  const random = createRandom(ports.seed).fork('copy')
  for (const trader of copy.traders.values()) {
    writeTraderPast(trader, firstSetting(copy), random.fork(trader.uid))
    ports.rows.put(TRADERS, trader)
  }
}

const CONVERSIONS = 30
const DECIMALS = 8

export function writeConversions(state: ConvertState, uid: string): void {
  const { ports } = state
  const moments = pastMoments(ports, `convert/${uid}`, CONVERSIONS)
  for (const [index, { at, priceRatio }] of moments.entries()) {
    const fromCoin = CONVERTED_COINS[index % CONVERTED_COINS.length] ?? 'USDT'
    const last = fromCoin === 'USDT' ? 1 : Number(lastPrice(ports, `${fromCoin}USDT`)) * priceRatio
    const price = decimalOfFloat(last, DECIMALS)
    const from = roundUp(decimal(String(1 + (index % 9))).div(price), DECIMALS)
    const { available } = ports.wallet.coin({ uid, balance: 'spot', coin: fromCoin })
    if (available.gte(from)) bookConversion(state, uid, { fromCoin, from, price, at })
  }
}

const START_PRICES: Readonly<Record<string, string>> = { BTCUSDT: '65000', ETHUSDT: '2600' }

export function lastPrice(ports: Pick<ServicePorts, 'market'>, symbol: string): string {
  const market = ports.market(symbol)
  if (market === undefined || market.shown.at === 0) return START_PRICES[symbol] ?? '1'
  return formatOnGrid(createGrid(market.tickSize), market.shown.lastTicks)
}

const ORDERS_A_DAY_MAX = 8
const DAY_SPREAD = 0.02
const DAY_SPREAD_MAX = 0.05
const FOLLOWERS_MAX = 300
const MONEY_DECIMALS = 2

/** @param copied a symbol that is open for copying */
export function writeTraderPast(
  trader: Trader,
  copied: SymbolSetting | undefined,
  random: Random,
): void {
  const opening = trader.capital
  const profits = Array.from({ length: DAYS_KEPT }, () => drawProfit(random, opening))
  trader.totalProfit = sumDecimals(profits)
  trader.capital = opening.minus(trader.totalProfit)
  let equity = trader.capital
  for (const [index, profit] of profits.entries()) {
    trader.days.push({ startAt: trader.today - (DAYS_KEPT - index) * DAY_MS, equity, profit })
    equity = equity.plus(profit)
  }
  const orders = DAYS_KEPT * (1 + random.integer(ORDERS_A_DAY_MAX))
  trader.gains = Math.round(orders * (0.4 + random.next() * 0.3))
  trader.losses = orders - trader.gains
  trader.followersEver = 1 + random.integer(FOLLOWERS_MAX)
  trader.followersNow = random.integer(trader.followersEver + 1)
  if (copied !== undefined) trader.settings = new Map([[copied.symbol, copied]])
}

function drawProfit(random: Random, opening: Decimal): Decimal {
  const share = clamp(random.normal() * DAY_SPREAD, DAY_SPREAD_MAX)
  // A month of the worst days must not cost more than the balance.
  const perMille = decimalOfInteger(Math.round((share * 1000) / 2))
  return opening.times(perMille).div('1000').round(MONEY_DECIMALS)
}
