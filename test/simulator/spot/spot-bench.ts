import { placeSpotOrder } from '../../../src/simulator/spot/place-spot-order.ts'
import { cancelSpotOrder, openSpot, spotHandlers } from '../../../src/simulator/spot/spot.ts'
import { type SpotSettings } from '../../../src/simulator/spot/spot-state.ts'
import { type Wallet } from '../../../src/simulator/wallet/wallet.ts'
import { type QuoteText } from '../wallet/hand-market.ts'
import {
  createServiceBench,
  dataOf,
  ONE,
  Part,
  type ServiceBench,
  STARTED_AT,
} from '../wallet/service-bench.ts'

const HANDLERS = {
  ...spotHandlers,
  spotPlaceOrder: placeSpotOrder,
  spotCancelOrder: cancelSpotOrder,
}

export function openSpotPart(
  base: ServiceBench,
  ports = base.open(),
  settings: Partial<SpotSettings> = {},
) {
  return new Part(base.market, openSpot(ports, settings), HANDLERS)
}

export type SpotPart = ReturnType<typeof openSpotPart>

/** A spot service without a past, of which the test moves price and time. */
export interface SpotBench {
  service: SpotPart
  wallet: Wallet
  now: number
  /** The next quote, a second later: what is not said is as before. */
  setPrice(quote: Partial<QuoteText>, symbol?: string): void
  place(request: object): string
  /** Code of the refusal, or `placed`. */
  tryPlace(request: object): string
  status(orderId: string): string | null | undefined
  order(orderId: string): Readonly<Record<string, unknown>>
  money(coin: string): { available: string; frozen: string }
  restart(): void
}

const LIMIT = {
  symbol: 'BTCUSDT',
  side: 'buy',
  orderType: 'limit',
  price: '64000',
  size: '0.01',
} as const

export function openSpotBench(settings: Partial<SpotSettings> = {}, boundAt?: number): SpotBench {
  const base = createServiceBench()
  const opened = base.open()
  const managed = opened.accounts.map((account) => ({
    ...account,
    ...(boundAt !== undefined && { boundAt }),
  }))
  const ports = { ...opened, accounts: managed }
  const bench: SpotBench = {
    service: openSpotPart(base, ports, settings),
    wallet: ports.wallet,
    now: STARTED_AT,
    setPrice(quote, symbol = 'BTCUSDT') {
      const old = base.market.price(symbol) ?? { bid: '1', ask: '2' }
      base.market.show(symbol, { ...old, ...quote }, (bench.now += 1000))
    },
    place: (request) =>
      dataOf(
        bench.service.answer('spotPlaceOrder', ONE, { ...LIMIT, ...request }, (bench.now += 1000)),
      ).orderId,
    tryPlace(request) {
      const reply = bench.service.answer(
        'spotPlaceOrder',
        ONE,
        { ...LIMIT, ...request },
        (bench.now += 1000),
      )
      return reply.ok ? 'placed' : reply.code
    },
    status: (orderId) => String(bench.order(orderId)['status']),
    order(orderId) {
      for (const tpslType of ['normal', 'tpsl'] as const) {
        const rows = dataOf(
          bench.service.answer('spotHistoryOrders', ONE, { orderId, tpslType }, bench.now),
        )
        if (Array.isArray(rows) && rows[0] !== undefined) return { ...rows[0] }
      }
      return {}
    },
    money(coin) {
      const { available, frozen } = bench.wallet.coin({ uid: ONE.uid, balance: 'spot', coin })
      return { available: available.toString(), frozen: frozen.toString() }
    },
    restart() {
      const again = base.open()
      bench.wallet = again.wallet
      bench.service = openSpotPart(base, again, settings)
    },
  }
  return bench
}
