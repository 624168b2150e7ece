/**
 * The column of sizes in the base coin is the one that agrees with the prices and the other
 * columns.
 */
import { Failure } from '../../lib/failure.ts'

export interface Sizes {
  readonly volume: Float64Array
  readonly quote?: Float64Array | undefined
  /** The file does not name the coin of these sizes. */
  readonly coin?: Float64Array | undefined
  readonly ticks?: Float64Array | undefined
  readonly price: (row: number) => number
}

export interface BaseVolume {
  readonly numbers: Float64Array
  readonly from: 'volume' | 'quote' | 'coin'
}

/** A candle's mean price is not exactly the middle of its range. */
const NEAR = 0.1
const CONTRACT_DOLLARS = [1, 10, 100]

/** A single column of sizes is trusted. @throws Failure IMPORT_VOLUME_UNCLEAR */
export function chooseBaseVolume(sizes: Sizes, where: string): BaseVolume {
  const { volume, quote, coin, ticks, price } = sizes
  if (ticks?.some((count) => count > 0) === true && volume.every((size) => size === 0))
    throw unclear(
      where,
      'the volume is zero in all rows, and a tick volume counts changes of the price',
    )
  if (quote === undefined) return { numbers: volume, from: 'volume' }
  const ratio = (base: Float64Array, value: Float64Array) => valueRatio(base, value, price)
  const found = ratio(volume, quote)
  if (found === undefined || isNear(found, 1)) return { numbers: volume, from: 'volume' }
  if (coin !== undefined && isNear(ratio(coin, quote) ?? 0, 1))
    return { numbers: coin, from: 'coin' }
  // Here volume counts dollars or contracts, and the other column coins.
  const dollars = 1 / (ratio(quote, volume) ?? 0)
  if (CONTRACT_DOLLARS.some((size) => isNear(dollars, size)))
    return { numbers: quote, from: 'quote' }
  throw unclear(
    where,
    `what was traded in the quote coin is ${Number(found.toPrecision(3))} times volume times price`,
  )
}

const isNear = (number: number, target: number) => Math.abs(number / target - 1) <= NEAR

function valueRatio(
  base: Float64Array,
  value: Float64Array,
  price: (row: number) => number,
): number | undefined {
  let [expected, found] = [0, 0]
  for (let row = 0; row < base.length; row++) {
    const [size, worth] = [base[row] as number, value[row] as number]
    if (!(size > 0 && worth > 0 && price(row) > 0)) continue
    expected += size * price(row)
    found += worth
  }
  return expected > 0 ? found / expected : undefined
}

function unclear(where: string, found: string): Failure {
  return new Failure({
    code: 'IMPORT_VOLUME_UNCLEAR',
    sentence: 'the volume is not in the base coin',
    facts: { where, found },
    hint: 'give a column volume that counts in the base coin, such as BTC; contracts times their size',
  })
}
