import { createRandom } from '../../lib/random.ts'

/** The exchange's own coin: fees can be paid in it, and small balances converted into it. */
export interface PlatformCoin {
  /** Capitals; in small letters it stands in the path of the conversion history. */
  readonly name: string
  /** About what it is worth, in USDT. */
  readonly price: string
}

/** The name is nobody's ticker; the price is near that of such coins. */
export const defaultPlatformCoin: PlatformCoin = { name: 'HOUSE', price: '1.25' }

/** A day's price stays within this of the coin's own: 0.04 is 4 %. */
const SPREAD = 0.04
const DAY_MS = 86_400_000

/** Its price in USDT at an instant: one a day, drawn from the seed. Five decimals. */
export function platformCoinPrice(coin: PlatformCoin, seed: string | number, at: number): string {
  const day = Math.floor(at / DAY_MS)
  const draw = createRandom(`${seed}/platform-coin/${day}`).next() * 2 - 1
  return (Number(coin.price) * (1 + draw * SPREAD)).toFixed(5)
}
