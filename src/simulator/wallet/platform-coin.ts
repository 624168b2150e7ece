import { createRandom } from '../../lib/random.ts'

export interface PlatformCoin {
  /** The path of the conversion history has it in lower case. */
  readonly name: string
  readonly price: string
}

/** It has no real ticker; the price is near that of such coins. */
export const defaultPlatformCoin: PlatformCoin = { name: 'HOUSE', price: '1.25' }

const SPREAD = 0.04
const DAY_MS = 86_400_000

/** In USDT, drawn once a day. */
export function platformCoinPrice(coin: PlatformCoin, seed: string | number, at: number): string {
  const day = Math.floor(at / DAY_MS)
  const draw = createRandom(`${seed}/platform-coin/${day}`).next() * 2 - 1
  return (Number(coin.price) * (1 + draw * SPREAD)).toFixed(5)
}
