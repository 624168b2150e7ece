import { expect, test } from 'vitest'
import { ExchangeClock } from '../../src/exchange/clock/exchange-clock.ts'
import { ExchangeClient } from '../../src/exchange/exchange-client.ts'
import { type Grant } from '../../src/exchange/limiter/grant.ts'
import { Limiter } from '../../src/exchange/limiter/limiter.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { Secret } from '../../src/lib/secret.ts'
import { systemTimers } from '../../src/lib/timers.ts'
import { startSimulator } from '../../src/simulator/start-simulator.ts'
import {
  type CountingMethod,
  defaultRateLimitSettings,
} from '../../src/simulator/wire/checks/rate-limits.ts'
import { CALLING } from './client-fixture.ts'

const FUTURES = { symbol: 'BTCUSDT', productType: 'USDT-FUTURES', marginCoin: 'USDT' } as const
/** Each endpoint goes through its window so often. */
const WINDOWS = 3

/** The simulator behind a socket, counting calls in one of the three ways, and a client with its limiter. */
async function openExchange(counting: CountingMethod) {
  const simulator = await startSimulator({
    market: { kind: 'seeded' },
    seed: 1,
    accounts: [
      { uid: '1', label: 'one', positionMode: 'one_way_mode', balances: { USDT: '10000' } },
    ],
    wire: { rateLimits: { ...defaultRateLimitSettings, counting } },
  })
  const [account] = simulator.accounts
  if (account === undefined) throw new Error('the simulator has no account')
  const limiter = new Limiter({ clock: systemClock, timers: systemTimers })
  const client = new ExchangeClient({
    baseUrl: simulator.baseUrl,
    credentials: {
      apiKey: new Secret(account.key),
      secret: new Secret(account.secret),
      passphrase: new Secret(account.passphrase),
    },
    positionMode: 'one_way_mode',
    clock: systemClock,
    timers: systemTimers,
    offset: new ExchangeClock(),
    limiter,
    ...CALLING,
    requestTimeoutMs: 30_000,
  })
  const close = async (): Promise<void> => {
    await limiter.stop()
    await client.close()
    await simulator.stop()
  }
  return { client, limiter, close }
}

test.each(['sliding', 'fixed', 'bucket'] as const)(
  '[LIM1] over sockets an exchange that counts %s windows refuses none of the calls that may be made',
  async (counting) => {
    const { client, close } = await openExchange(counting)

    const calls = [
      ...Array.from({ length: WINDOWS }, () =>
        client.call('cancelAllOrders', FUTURES, { priority: 0 }),
      ),
      ...Array.from({ length: WINDOWS * 10 }, () => client.call('singlePosition', FUTURES)),
      ...Array.from({ length: WINDOWS * 20 }, () =>
        client.call('tickers', { productType: 'USDT-FUTURES' }, { priority: 1 }),
      ),
    ]
    const answers = await Promise.all(calls)

    await close()
    expect(answers).toHaveLength(WINDOWS * 31)
    const codes = answers.map((answer) => (answer.kind === 'accepted' ? 'accepted' : answer.code))
    expect(codes).not.toContain('429')
    expect(codes).not.toContain('LIMITER_TIMEOUT')
  },
)

test('[LIM2] over sockets a closing batch leaves before all that wait', async () => {
  const { client, limiter, close } = await openExchange('sliding')
  const order = { size: '0.001', side: 'buy', orderType: 'limit', force: 'post_only' } as const
  const left: string[] = []
  const place = (name: string) => (grant: Grant) => {
    left.push(name)
    const orderList = [{ ...order, price: '1000', clientOid: `t${left.length}` }]
    return client.call(
      'batchPlaceOrder',
      { ...FUTURES, marginMode: 'crossed', orderList },
      { grant },
    )
  }
  const { promise: closed, resolve: isClosed } = Promise.withResolvers<void>()
  const { promise: busy, resolve: isBusy } = Promise.withResolvers<void>()

  for (let call = 0; call < 20; call++) {
    limiter.request('batchPlaceOrder', 1, (grant) => {
      void place('adds')(grant)
      if (left.length === 6) isBusy()
    })
  }
  await busy
  const before = left.length
  limiter.request(
    'batchPlaceOrder',
    0,
    (grant) => void place('closes')(grant).then(() => isClosed()),
  )
  await closed

  expect(left.indexOf('closes')).toBe(before)
  await close()
})
