import { type ServicePorts } from '../account-service.ts'

/** What a seeded past ends at when the market displays nothing yet: where the seeded market starts. */
const START_PRICES: Readonly<Record<string, string>> = { BTCUSDT: '65000', ETHUSDT: '2600' }

/** The last price of a pair, in USDT. */
export function lastPrice(ports: Pick<ServicePorts, 'prices'>, symbol: string): string {
  return ports.prices(symbol)?.last ?? START_PRICES[symbol] ?? '1'
}
