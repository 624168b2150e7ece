import { spotLedger } from '../../../src/simulator/spot/spot.ts'
import { describe, expect, test } from 'vitest'
import { createRandom, type Random } from '../../../src/lib/random.ts'
import { lastPrice } from '../../../src/simulator/demo/write-past.ts'
import { openConvertPart, type ConvertPart } from '../convert/convert-bench.ts'
import {
  createServiceBench,
  ONE,
  STARTED_AT,
  TWO,
  type ServiceBench,
} from '../wallet/service-bench.ts'
import { openSpotPart, type SpotPart } from './spot-bench.ts'

describe('over a random session', () => {
  test.each([1, 2, 3, 4])('money is conserved to the last digit, seed %i', (seed) => {
    const bench = createServiceBench()
    const { ports, spot, now } = playSession(bench, { seed, restarts: false })

    expect(ports.wallet.sums().filter(({ sum }) => sum !== '0')).toEqual([])
    expect(ports.wallet.unexplained()).toEqual([])
    const outcomes = newOrders(spot, now).map(outcomeOf)
    expect([...new Set(outcomes)]).toEqual(expect.arrayContaining(OUTCOMES))
    expect(outcomes.length).toBeGreaterThan(150)
  })

  test.each([1, 2])(
    'a service that is restarted all the time ends like one that is not, seed %i',
    (seed) => {
      const steady = playSession(createServiceBench(), { seed, restarts: false })
      const restarted = playSession(createServiceBench(), { seed, restarts: true })

      for (const account of [ONE, TWO]) {
        expect(restarted.ports.wallet.statement(account.uid)).toEqual(
          steady.ports.wallet.statement(account.uid),
        )
        expect(spotLedger(restarted.spot.state, account.uid)).toEqual(
          spotLedger(steady.spot.state, account.uid),
        )
        for (const tpslType of ['normal', 'tpsl'] as const) {
          const [one, other] = [restarted, steady].map(({ spot, now }) =>
            spot.answer('spotHistoryOrders', account, { tpslType }, now),
          )
          expect(one).toEqual(other)
        }
        expect(
          restarted.convert.answer('convertRecords', account, { limit: '100' }, restarted.now),
        ).toEqual(steady.convert.answer('convertRecords', account, { limit: '100' }, steady.now))
      }
    },
  )

  test('what open orders set aside is what is frozen', () => {
    const { ports, spot, now } = playSession(createServiceBench(), { seed: 9, restarts: false })
    const open = (['normal', 'tpsl'] as const).flatMap((tpslType) => {
      const reply = spot.answer('spotHistoryOrders', ONE, { tpslType }, now)
      return reply.ok && Array.isArray(reply.data) ? reply.data : []
    })

    for (const { orderId, status, symbol } of open) {
      if (status === 'full_fill' || status === 'cancelled') continue
      spot.answer('spotCancelOrder', ONE, { symbol, orderId }, now)
    }

    const frozen = spotLedger(spot.state, ONE.uid).coins.filter((coin) => coin.frozen !== '0')
    expect(spotLedger(spot.state, ONE.uid).ordersOpen).toBe(0)
    expect(frozen).toEqual([])
    expect(ports.wallet.unexplained()).toEqual([])
  })
})

/** What a session must have met, or it proves nothing. */
const OUTCOMES = [
  'full_fill',
  'new',
  'init',
  'normal_cancel',
  'normal_cancel in part',
  'stp_cancel',
]

interface Outcome {
  readonly status?: string | null | undefined
  readonly cancelReason?: string | null | undefined
  readonly baseVolume?: string | null | undefined
}

function outcomeOf({ status, cancelReason, baseVolume }: Outcome): string {
  if (status !== 'cancelled') return status ?? ''
  return `${cancelReason}${Number(baseVolume) > 0 ? ' in part' : ''}`
}

/** The orders of both accounts since the start. */
function newOrders(spot: SpotPart, now: number) {
  return [ONE, TWO].flatMap((account) =>
    (['normal', 'tpsl'] as const).flatMap((tpslType) => {
      const reply = spot.answer(
        'spotHistoryOrders',
        account,
        { tpslType, startTime: String(STARTED_AT) },
        now,
      )
      return reply.ok && Array.isArray(reply.data) ? reply.data : []
    }),
  )
}

interface Session {
  readonly seed: number
  readonly restarts: boolean
}

function playSession(bench: ServiceBench, { seed, restarts }: Session) {
  const random = createRandom(seed)
  const open = () => {
    const ports = bench.open(String(seed))
    return {
      ports,
      spot: openSpotPart(bench, ports),
      convert: openConvertPart(bench, ports),
    }
  }
  let services = open()
  let now = STARTED_AT
  for (let step = 0; step < 600; step++) {
    if (restarts && step % 20 === 0) services = open()
    now += 1 + random.integer(60_000)
    movePrices(bench, now, random)
    act(services, now, random)
  }
  return { ...services, now }
}

/** A thousand USDT a level, far apart, so that many an order is filled in part. */
function movePrices({ market }: ServiceBench, now: number, random: Random): void {
  for (const symbol of ['BTCUSDT', 'ETHUSDT']) {
    if (random.next() < 0.3) continue
    const last = Number(market.price(symbol)?.last) * (1 + random.normal() * 0.003)
    const quote = {
      bid: last * 0.9999,
      ask: last * 1.0001,
      last,
      size: 1000 / last,
      level: last * 0.001,
    }
    market.show(symbol, quote, now)
  }
}

interface AccountServices {
  readonly ports: ReturnType<ServiceBench['open']>
  readonly spot: SpotPart
  readonly convert: ConvertPart
}

function act(services: AccountServices, now: number, random: Random): void {
  const { spot, convert } = services
  const account = random.next() < 0.6 ? ONE : TWO
  const kind = random.next()
  if (kind < 0.7) return placeAtRandom(services, account, { now, random })
  if (kind < 0.8) {
    const reply = spot.answer('spotHistoryOrders', account, { limit: '5' }, now)
    const row = reply.ok && Array.isArray(reply.data) ? reply.data[random.integer(5)] : undefined
    if (row)
      spot.answer('spotCancelOrder', account, { symbol: row.symbol, orderId: row.orderId }, now)
    return
  }
  if (kind < 0.9) {
    const address = account === ONE ? TWO.uid : ONE.uid
    const size = (random.next() * 30).toFixed(8)
    spot.answer(
      'spotWithdrawal',
      account,
      { coin: 'USDT', transferType: 'internal_transfer', address, size },
      now,
    )
    return
  }
  convert.answer(
    'convert',
    account,
    { fromCoin: 'ETH', amount: (random.next() * 0.01).toFixed(8) },
    now,
  )
}

function placeAtRandom(
  { ports, spot }: AccountServices,
  account: typeof ONE,
  { now, random }: { readonly now: number; readonly random: Random },
): void {
  const symbol = random.next() < 0.5 ? 'BTCUSDT' : 'ETHUSDT'
  const last = Number(lastPrice(ports, symbol))
  const side = random.next() < 0.5 ? 'buy' : 'sell'
  const orderType = random.next() < 0.7 ? 'limit' : 'market'
  const near = (last * (1 + random.normal() * 0.005)).toFixed(2)
  const notional = 20 + random.next() * 6000
  const decimals = symbol === 'BTCUSDT' ? 6 : 4
  const size =
    orderType === 'market' && side === 'buy'
      ? notional.toFixed(6)
      : (notional / last).toFixed(decimals)
  const force = (['gtc', 'gtc', 'ioc', 'fok', 'post_only'] as const)[random.integer(5)]
  const stpMode = (['none', 'cancel_taker', 'cancel_maker', 'cancel_both'] as const)[
    random.integer(4)
  ]
  const tpsl = random.next() < 0.2 ? { tpslType: 'tpsl', triggerPrice: near } : {}
  const price = orderType === 'limit' ? { price: near } : {}
  const request = { symbol, side, orderType, size, force, stpMode, ...price, ...tpsl } as const
  spot.answer('spotPlaceOrder', account, { ...request, force: force ?? 'gtc' }, now)
}
