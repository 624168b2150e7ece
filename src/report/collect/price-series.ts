import type { RestingPrices } from '../run-facts.ts'
import { bucketOf, emptyColumn, type TimeBuckets } from './time-buckets.ts'

/** One value per bucket, NaN for none. Quote coin. */
export interface PriceColumns {
  readonly low: readonly number[]
  readonly high: readonly number[]
  readonly close: readonly number[]
  /** The nearest own orders at the bucket's end. */
  readonly restingBuy: readonly number[]
  readonly restingSell: readonly number[]
  /** Mean price of the fills, and their size in base coin. */
  readonly boughtAt: readonly number[]
  readonly bought: readonly number[]
  readonly soldAt: readonly number[]
  readonly sold: readonly number[]
}

export interface PriceFacts {
  readonly columns: PriceColumns
  /** Undefined without prices. */
  readonly first: number | undefined
  readonly last: number | undefined
}

export class PriceSeries {
  readonly #buckets: TimeBuckets
  readonly #columns: Record<keyof PriceColumns, number[]>
  readonly #value = { buy: 0, sell: 0 }
  readonly #resting: () => RestingPrices
  #bucket = -1
  #first: number | undefined
  #last: number | undefined

  /** @param resting called when a bucket ends */
  constructor(buckets: TimeBuckets, resting: () => RestingPrices) {
    this.#buckets = buckets
    this.#resting = resting
    const column = (): number[] => emptyColumn(buckets)
    this.#columns = {
      low: column(),
      high: column(),
      close: column(),
      restingBuy: column(),
      restingSell: column(),
      boughtAt: column(),
      bought: column(),
      soldAt: column(),
      sold: column(),
    }
  }

  take(at: number, price: number): void {
    const bucket = this.#enter(at)
    const { low, high, close } = this.#columns
    close[bucket] = price
    if (!(price >= (low[bucket] as number))) low[bucket] = price
    if (!(price <= (high[bucket] as number))) high[bucket] = price
    this.#first ??= price
    this.#last = price
  }

  /** @param size base coin */
  trade(
    at: number,
    direction: 'buy' | 'sell',
    { price, size }: { readonly price: number; readonly size: number },
  ): void {
    const bucket = this.#enter(at)
    const { bought, boughtAt, sold, soldAt } = this.#columns
    const [sizes, prices] = direction === 'buy' ? [bought, boughtAt] : [sold, soldAt]
    const before = Number.isNaN(sizes[bucket]) ? 0 : (sizes[bucket] as number)
    if (before === 0) this.#value[direction] = 0
    this.#value[direction] += price * size
    sizes[bucket] = before + size
    prices[bucket] = this.#value[direction] / (before + size)
  }

  facts(): PriceFacts {
    this.#leave()
    return { columns: this.#columns, first: this.#first, last: this.#last }
  }

  #enter(at: number): number {
    const bucket = bucketOf(this.#buckets, at)
    if (bucket > this.#bucket) {
      this.#leave()
      this.#bucket = bucket
    }
    return bucket
  }

  #leave(): void {
    if (this.#bucket < 0) return
    const { buy, sell } = this.#resting()
    this.#columns.restingBuy[this.#bucket] = buy
    this.#columns.restingSell[this.#bucket] = sell
  }
}
