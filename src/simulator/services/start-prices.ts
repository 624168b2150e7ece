import { createGrid, formatOnGrid } from '../../lib/grid.ts'
import { type ServicePorts } from './service-ports.ts'

/** What a coin costs while nothing is displayed: where the seeded market starts. */
const START_PRICES: Readonly<Record<string, string>> = { BTCUSDT: '65000', ETHUSDT: '2600' }

/** The last price of a pair, in USDT. */
export function lastPrice(ports: Pick<ServicePorts, 'market'>, symbol: string): string {
  const market = ports.market(symbol)
  if (market === undefined || market.shown.at === 0) return START_PRICES[symbol] ?? '1'
  return formatOnGrid(createGrid(market.tickSize), market.shown.lastTicks)
}
