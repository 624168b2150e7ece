import { addressesOf } from '../../src/simulator/spot/address-book.ts'
import { NOBODY } from '../../src/simulator/shared/handlers.ts'
import { createRandom, type Random } from '../../src/lib/random.ts'
import { type ExchangeAccountSetup } from '../../src/simulator/shared/account.ts'
import { servedNames, servedRow, type ServedName } from '../../src/simulator/wire/served-rows.ts'
import { ACCOUNTS, type ExchangeBench } from './exchange-bench.ts'
import { GOOD_REQUEST_OF, type RequestParts } from './wire/signed-request.ts'

/** What random calls came to. */
export interface RandomCalls {
  /** Answers by name and code. */
  readonly outcomes: ReadonlyMap<string, number>
  /** Answers that their row does not read, or that are no envelope, with the call that got them. */
  readonly unreadable: readonly string[]
}

const SYMBOLS = ['BTCUSDT', 'ETHUSDT'] as const
const FUTURES = { productType: 'USDT-FUTURES', marginCoin: 'USDT' }

/** Valid requests of every row from every account, at random moments: the same seed asks the same. */
export function makeRandomCalls(bench: ExchangeBench, seed: number, count: number): RandomCalls {
  const caller = new RandomCaller(bench, seed)
  for (let index = 0; index < count; index++) caller.call()
  return caller
}

interface PendingExit {
  readonly orderId: string
  readonly symbol: string
  readonly side: string
  readonly triggerPrice: string
}

class RandomCaller implements RandomCalls {
  readonly outcomes = new Map<string, number>()
  readonly unreadable: string[] = []
  readonly #bench: ExchangeBench
  readonly #random: Random
  /** Orders that were placed, by account and kind, so that later calls find them; {@link ORDERS_MAX} each. */
  readonly #orders = new Map<string, PlacedOrder[]>()

  constructor(bench: ExchangeBench, seed: number) {
    this.#bench = bench
    this.#random = createRandom(seed)
  }

  call(): void {
    this.#bench.now += this.#random.integer(400)
    if (this.#random.integer(500) === 0) this.#bench.now += 3_600_000
    const name = this.#pick(servedNames)
    const account = this.#pick(ACCOUNTS)
    const parts = this.#partsOf(name, account)
    const answer = this.#bench.call(account, name, parts)
    const outcome = `${name} ${answer.code}`
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1)
    if (answer.code !== '00000') {
      if (answer.data !== null || answer.status >= 500) this.#report(name, parts, answer)
      return
    }
    const read = servedRow(name).response.safeParse(answer.data)
    const isWhole = read.success && !JSON.stringify(read.data)?.includes('"unreadable":')
    if (!isWhole || answer.status !== 200) this.#report(name, parts, answer)
    const symbol = symbolIn(parts)
    const key = `${account.uid} ${KIND_OF[name] ?? ''}`
    for (const [, orderId] of JSON.stringify(answer.data).matchAll(/"orderId":"(\d+)"/g)) {
      if (orderId !== undefined && name in KIND_OF) this.#keep(key, { orderId, symbol })
    }
  }

  #report(name: string, parts: object, answer: object): void {
    this.unreadable.push(
      `${name} ${JSON.stringify(parts)} got ${JSON.stringify(answer).slice(0, 300)}`,
    )
  }

  #keep(key: string, order: PlacedOrder): void {
    const orders = this.#orders.get(key) ?? []
    this.#orders.set(key, [...orders, order].slice(-ORDERS_MAX))
  }

  /** One that was placed, and is now and then gone already. */
  #placed(account: ExchangeAccountSetup, kind: string): PlacedOrder {
    const orders = this.#orders.get(`${account.uid} ${kind}`) ?? []
    return orders.length === 0 ? { orderId: '1', symbol: 'BTCUSDT' } : this.#pick(orders)
  }

  #partsOf(name: ServedName, account: ExchangeAccountSetup): Partial<RequestParts> {
    const symbol = this.#pick(SYMBOLS)
    const { body, query } = GOOD_REQUEST_OF[name]
    if (body !== undefined) return { body: this.#bodyOf(name, { symbol, account }) ?? body }
    const parameters = new URLSearchParams(query)
    if (parameters.has('symbol')) parameters.set('symbol', symbol)
    if (parameters.has('orderId')) {
      const placed = this.#placed(account, KIND_READ[name] ?? 'futures')
      parameters.set('orderId', placed.orderId)
      if (parameters.has('symbol')) parameters.set('symbol', placed.symbol)
    }
    if (parameters.has('startTime'))
      parameters.set('startTime', String(this.#bench.now - 86_400_000))
    return {
      query: [...parameters]
        .map(([key, value]) => `${key}=${value}`)
        .sort()
        .join('&'),
    }
  }

  /** Undefined where the good request does as it stands. */
  #bodyOf(
    name: ServedName,
    { symbol, account }: { symbol: string; account: ExchangeAccountSetup },
  ) {
    const kind = KIND_READ[name] ?? 'futures'
    const cancelOne = () => ({ ...FUTURES, ...this.#placed(account, kind) })
    const cancelListed = () => {
      const placed = this.#placed(account, kind)
      return { ...FUTURES, symbol: placed.symbol, orderIdList: [{ orderId: placed.orderId }] }
    }
    const make: Partial<Record<ServedName, () => object | undefined>> = {
      batchPlaceOrder: () => this.#batch(symbol, account),
      placeOrder: () => {
        const { orderList, ...rest } = this.#batch(symbol, account)
        return { ...rest, ...orderList[0] }
      },
      cancelAllOrders: () => ({ productType: 'USDT-FUTURES', symbol }),
      cancelOrder: cancelOne,
      spotCancelOrder: cancelOne,
      isolatedCancelOrder: cancelOne,
      crossedCancelOrder: cancelOne,
      batchCancelOrders: cancelListed,
      cancelPlanOrder: cancelListed,
      isolatedBatchCancelOrders: cancelListed,
      modifyPlanOrder: () => {
        const { orderId } = this.#placed(account, 'plan')
        return { productType: 'USDT-FUTURES', orderId, newSize: '0.05' }
      },
      modifyTpslOrder: () => {
        const [exit] = this.#exitsOf(account)
        const price =
          exit && (Number(exit.triggerPrice) * (exit.side === 'sell' ? 0.99 : 1.01)).toFixed(1)
        return (
          exit && {
            ...FUTURES,
            symbol: exit.symbol,
            orderId: exit.orderId,
            triggerPrice: price,
            size: '',
          }
        )
      },
      setLeverage: () => ({ ...FUTURES, symbol, leverage: String(1 + this.#random.integer(20)) }),
      spotPlaceOrder: () => ({
        symbol,
        ...this.#order(symbol),
        size: this.#pick(['20', '0.01', '0.1']),
      }),
      spotWithdrawal: () => this.#withdrawal(account),
      isolatedPlaceOrder: () => this.#marginOrder(symbol),
      crossedPlaceOrder: () => this.#marginOrder(symbol),
      createVirtualSubaccounts: () => ({ subAccountList: [this.#alias(), this.#alias()] }),
    }
    return make[name]?.()
  }

  #withdrawal({ uid }: ExchangeAccountSetup) {
    const [address] = addressesOf(uid).filter(({ chain }) => chain)
    return address && { size: '20', transferType: 'on_chain', ...address }
  }

  #batch(symbol: string, { positionMode }: ExchangeAccountSetup) {
    const orderList = Array.from({ length: 1 + this.#random.integer(4) }, () => ({
      ...this.#order(symbol),
      size: this.#pick(['0.01', '0.02', '0.05']),
      ...(positionMode === 'hedge_mode' && { tradeSide: this.#pick(['open', 'close']) }),
    })).map((order) => this.#withStop(order, symbol))
    return { ...FUTURES, symbol, marginMode: 'crossed', orderList }
  }

  /** Far away, so that it stays. */
  #withStop<Order extends { readonly side: string; readonly tradeSide?: string }>(
    order: Order,
    symbol: string,
  ) {
    if (order.tradeSide === 'close') return order
    const share = order.side === 'buy' ? 0.5 : 1.5
    return { ...order, presetStopLossPrice: (this.#lastOf(symbol) * share).toFixed(1) }
  }

  #exitsOf(account: ExchangeAccountSetup) {
    const answer = this.#bench.call(account, 'ordersPlanPending', {
      query: 'productType=USDT-FUTURES&planType=profit_loss',
    })
    const { entrustedList } = (answer.data ?? {}) as { entrustedList?: PendingExit[] | null }
    return entrustedList ?? []
  }

  #marginOrder(symbol: string) {
    const order = this.#order(symbol)
    const isQuote = order.orderType === 'market' && order.side === 'buy'
    const size = isQuote ? { quoteSize: '50' } : { baseSize: '0.01' }
    return { symbol, ...order, ...size, loanType: this.#pick(['normal', 'autoLoan', 'autoRepay']) }
  }

  /** Around the displayed price: some take, some rest. */
  #order(symbol: string) {
    const side = this.#pick(['buy', 'sell'])
    if (this.#random.integer(2) === 0) return { side, orderType: 'market' }
    const price = (this.#lastOf(symbol) * (0.996 + this.#random.next() * 0.008)).toFixed(1)
    return { side, orderType: 'limit', force: this.#pick(['gtc', 'ioc', 'post_only']), price }
  }

  #lastOf(symbol: string): number {
    const { core } = this.#bench.exchange
    const request = { productType: 'USDT-FUTURES' } as const
    const tickers = core.answer('tickers', NOBODY, request, this.#bench.now)
    const last = tickers.ok ? tickers.data.find((row) => row.symbol === symbol)?.lastPr : undefined
    return Number(last ?? 1)
  }

  #alias(): string {
    const letters = Array.from({ length: 8 }, () =>
      String.fromCharCode(97 + this.#random.integer(26)),
    )
    return letters.join('')
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[this.#random.integer(items.length)] as Item
  }
}

interface PlacedOrder {
  readonly orderId: string
  readonly symbol: string
}

const ORDERS_MAX = 20

/** What a row places, and what a row is about. */
const KIND_OF: Readonly<Partial<Record<ServedName, string>>> = {
  batchPlaceOrder: 'futures',
  placeOrder: 'futures',
  placePlanOrder: 'plan',
  spotPlaceOrder: 'spot',
  isolatedPlaceOrder: 'isolated',
  crossedPlaceOrder: 'crossed',
}
const KIND_READ: Readonly<Partial<Record<ServedName, string>>> = {
  cancelPlanOrder: 'plan',
  spotOrderInfo: 'spot',
  spotCancelOrder: 'spot',
  isolatedBatchCancelOrders: 'isolated',
  isolatedCancelOrder: 'isolated',
  crossedCancelOrder: 'crossed',
}

function symbolIn({ body }: Partial<RequestParts>): string {
  return typeof body === 'object' && body !== null && 'symbol' in body
    ? String(body.symbol)
    : 'BTCUSDT'
}
