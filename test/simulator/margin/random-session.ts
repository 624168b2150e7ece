import { createRandom, type Random } from '../../../src/lib/random.ts'
import { createMemoryStore } from '../futures/memory-store.ts'
import { type QuoteText } from '../wallet/hand-market.ts'
import { ALICE, HOUR_MS, listOf, MarginBench, QUOTES, type BenchOptions } from './margin-bench.ts'

const MODES = ['isolated', 'crossed'] as const
const SYMBOLS = ['BTCUSDT', 'ETHUSDT'] as const
const COINS = ['USDT', 'BTC', 'ETH'] as const
const LOAN_TYPES = [
  'normal',
  'autoLoan',
  'autoLoan',
  'autoLoan',
  'autoRepay',
  'autoLoanAndRepay',
] as const
const FORCES = ['gtc', 'ioc', 'fok', 'post_only'] as const

/**
 * A session of seeded random requests and prices on a service that may be killed now and then: it goes on from
 * its store. The same seed makes the same session, whenever it is killed.
 */
export class RandomSession {
  bench: MarginBench
  readonly #random: Random
  readonly #options: BenchOptions
  readonly #prices: Record<string, QuoteText> = { ...QUOTES }

  constructor(seed: number, options: BenchOptions = {}) {
    this.#options = options
    this.#random = createRandom(seed)
    this.bench = new MarginBench(options)
    for (const symbol of SYMBOLS) this.bench.deposit('isolated', 'USDT', '3000', symbol)
    this.bench.deposit('crossed', 'USDT', '3000')
  }

  run(steps: number, { restartEvery }: { restartEvery?: number } = {}): void {
    for (let step = 1; step <= steps; step++) {
      this.#step()
      this.bench.save()
      if (restartEvery !== undefined && step % restartEvery === 0) this.#restart()
    }
  }

  #restart(): void {
    const { now, market } = this.bench
    const store = createMemoryStore(this.bench.stored())
    this.bench = new MarginBench({ ...this.#options, store, market })
    this.bench.now = now
  }

  #step(): void {
    const kind = this.#random.integer(20)
    if (kind < 6) return this.#movePrice()
    if (kind < 12) return this.#place()
    if (kind < 14) return this.#lend()
    if (kind < 16) return this.#cancel()
    if (kind < 17) return this.bench.wait(this.#random.integer(30) * HOUR_MS)
    if (kind < 18) return this.#deposit()
    this.bench.wait(this.#random.integer(5000))
  }

  #movePrice(): void {
    const symbol = this.#pick(SYMBOLS)
    const jump = this.#random.integer(8) === 0 ? 0.2 : 0.02
    const last = Number(this.#prices[symbol]?.bid)
    const anchor = Number(QUOTES[symbol]?.bid)
    const bid = Math.max(
      anchor / 3,
      Math.min(anchor * 3, last * (1 + jump * this.#random.normal())),
    )
    const price = { bid: bid.toFixed(2), ask: (bid + 0.5).toFixed(2), last: bid.toFixed(2) }
    this.#prices[symbol] = price
    this.bench.show(symbol, price.bid, price.ask)
  }

  #place(): void {
    const symbol = this.#pick(SYMBOLS)
    const side = this.#pick(['buy', 'sell'] as const)
    const loanType = this.#pick(LOAN_TYPES)
    const bid = Number(this.#prices[symbol]?.bid)
    const value = 100 + this.#random.integer(this.#random.integer(4) === 0 ? 90_000 : 9000)
    const terms = { symbol, side, loanType }
    if (this.#random.integer(2) === 0) {
      const size =
        side === 'buy' ? { quoteSize: String(value) } : { baseSize: (value / bid).toFixed(4) }
      this.bench.tryPlace(this.#pick(MODES), { ...terms, orderType: 'market', ...size })
      return
    }
    const price = bid * (0.95 + 0.1 * this.#random.next())
    const size = { price: price.toFixed(2), baseSize: (value / price).toFixed(4) }
    this.bench.tryPlace(this.#pick(MODES), { ...terms, force: this.#pick(FORCES), ...size })
  }

  #lend(): void {
    const coin = this.#pick(COINS)
    const amount = (this.#random.next() * (coin === 'USDT' ? 10_000 : 0.3)).toFixed(8)
    const request = { mode: this.#pick(MODES), symbol: this.#pick(SYMBOLS), coin, amount }
    if (this.#random.integer(2) === 0) this.bench.borrow(request)
    else this.bench.repay(request)
  }

  #cancel(): void {
    const symbol = this.#pick(SYMBOLS)
    const open = listOf(this.bench.open('isolated', symbol))
    const chosen = open[this.#random.integer(open.length + 1)]
    const orderIdList = chosen === undefined ? undefined : [{ orderId: chosen.orderId }]
    const request = { symbol, ...(orderIdList === undefined ? {} : { orderIdList }) }
    this.bench.service.answer('isolatedBatchCancelOrders', ALICE, request, this.bench.now)
  }

  #deposit(): void {
    const mode = this.#pick(MODES)
    this.bench.deposit(mode, 'USDT', String(1 + this.#random.integer(2000)), this.#pick(SYMBOLS))
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[this.#random.integer(items.length)] as Item
  }
}
