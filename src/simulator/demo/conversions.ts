import { decimal } from '../../lib/decimal.ts'
import { bookConversion, CONVERTED_COINS, type ConvertState } from '../convert/convert.ts'
import { decimalOfFloat, roundUp } from '../wallet/rounding.ts'
import { createGrid, formatOnGrid } from '../../lib/grid.ts'
import type { ServicePorts } from '../services/service-ports.ts'
import { pastMoments } from './past-moments.ts'

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

/** The seeded market's start, before anything is displayed. */
const START_PRICES: Readonly<Record<string, string>> = { BTCUSDT: '65000', ETHUSDT: '2600' }

export function lastPrice(ports: Pick<ServicePorts, 'market'>, symbol: string): string {
  const market = ports.market(symbol)
  if (market === undefined || market.shown.at === 0) return START_PRICES[symbol] ?? '1'
  return formatOnGrid(createGrid(market.tickSize), market.shown.lastTicks)
}
