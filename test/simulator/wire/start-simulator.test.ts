import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import {
  endpointNamed,
  endpoints,
  type EndpointName,
  type RequestOf,
} from '../../../src/protocol/endpoints.ts'
import { formatQuery } from '../../../src/protocol/signing.ts'
import {
  type RunningSimulator,
  type SimulatorOptions,
  startSimulator,
} from '../../../src/simulator/start-simulator.ts'
import { NOBODY } from '../../../src/simulator/shared/handlers.ts'
import { type ServerEvent } from '../../../src/simulator/wire/server-event.ts'
import { sendRequest } from './server-bench.ts'
import { signedRequest } from './signed-request.ts'

const ALICE = {
  uid: '1',
  label: 'alice',
  positionMode: 'one_way_mode',
  balances: { USDT: '10000' },
} as const
const FUTURES = { symbol: 'BTCUSDT', productType: 'USDT-FUTURES', marginCoin: 'USDT' } as const

const running: RunningSimulator[] = []
const dispatcher = getGlobalDispatcher()
let agent: Agent

beforeEach(() => {
  agent = new Agent({ allowH2: false })
  setGlobalDispatcher(agent)
})

afterEach(async () => {
  for (const simulator of running.splice(0)) await simulator.stop()
  await agent.destroy()
  setGlobalDispatcher(dispatcher)
})

async function start(options: Partial<SimulatorOptions> = {}): Promise<RunningSimulator> {
  const simulator = await startSimulator({
    market: { kind: 'seeded' },
    seed: 1,
    accounts: [ALICE],
    ...options,
  })
  running.push(simulator)
  return simulator
}

/** Calls an endpoint as a client would, and reads the answer by the endpoint's own schema. */
async function call<Name extends EndpointName>(
  simulator: RunningSimulator,
  name: Name,
  request: RequestOf<Name>,
) {
  const { method, path } = endpointNamed(name)
  const [account] = simulator.accounts
  if (account === undefined) throw new Error('the simulator has no account')
  const at = systemClock.now()
  const parts =
    method === 'POST'
      ? { method, path, body: request, at }
      : { method, path, query: formatQuery(request as Record<string, string>), at }
  const { status, text } = await sendRequest(simulator.baseUrl, signedRequest(account, parts))
  const { code, msg, data } = JSON.parse(text) as { code: string; msg: string; data: unknown }
  return { status, code, msg, read: () => endpoints[name].response.parse(data) }
}

function tickerOf(simulator: RunningSimulator, now: number) {
  const reply = simulator.exchange.core.answer(
    'tickers',
    NOBODY,
    { productType: 'USDT-FUTURES' },
    now,
  )
  const ticker = reply.ok ? reply.data.find(({ symbol }) => symbol === 'BTCUSDT') : undefined
  if (ticker === undefined) throw new Error('BTCUSDT has no ticker')
  return ticker
}

async function quoteOf(simulator: RunningSimulator, wanted = 'BTCUSDT') {
  const tickers = (
    await call(simulator, 'tickers', { productType: 'USDT-FUTURES' })
  ).read() as readonly {
    readonly symbol: string
    readonly bidPr: string
    readonly askPr: string
    readonly ts: string
  }[]
  const ticker = tickers.find(({ symbol }) => symbol === wanted)
  if (ticker === undefined) throw new Error(`${wanted} has no ticker`)
  return ticker
}

test('a day at the exchange: quotes, a batch of 50, fills, position, cancel-all, each by its own schema', async () => {
  const simulator = await start()
  const { bidPr } = await quoteOf(simulator)
  const price = String(Math.floor(Number(bidPr) * 0.995))
  const resting = Array.from({ length: 49 }, (_, index) => ({
    size: '0.001',
    price,
    side: 'buy' as const,
    orderType: 'limit' as const,
    force: 'gtc' as const,
    clientOid: `resting-${index}`,
  }))
  const market = {
    size: '0.01',
    side: 'buy' as const,
    orderType: 'market' as const,
    clientOid: 'market',
  }

  const placed = await call(simulator, 'batchPlaceOrder', {
    ...FUTURES,
    marginMode: 'crossed',
    orderList: [market, ...resting],
  })
  const fills = await call(simulator, 'orderFills', {
    productType: 'USDT-FUTURES',
    symbol: 'BTCUSDT',
  })
  const position = await call(simulator, 'singlePosition', FUTURES)
  const ratio = await call(simulator, 'longShortRatio', { symbol: 'BTCUSDT' })
  const modified = await call(simulator, 'modifyPlanOrder', {
    productType: 'USDT-FUTURES',
    orderId: '1',
    newSize: '1',
  })
  const cancelled = await call(simulator, 'cancelAllOrders', {
    productType: 'USDT-FUTURES',
    symbol: 'BTCUSDT',
  })

  const { successList, failureList } = placed.read() as {
    successList: unknown[]
    failureList: unknown[]
  }
  expect([successList.length, failureList.length]).toEqual([50, 0])
  expect(fills.read()).toMatchObject({ fillList: [{ symbol: 'BTCUSDT', side: 'buy' }] })
  expect(position.read()).toMatchObject([{ holdSide: 'long', total: '0.01' }])
  expect(ratio.read()).not.toEqual([])
  expect(modified).toMatchObject({ status: 400 })
  expect((cancelled.read() as { successList: unknown[] }).successList).toHaveLength(49)
  expect(simulator.ledger(ALICE.uid)).toMatchObject({
    counts: { ordersFilled: 1, ordersCancelled: 49, ordersOpen: 0 },
  })
  expect(simulator.counters()).toMatchObject({
    requests: { batchPlaceOrder: 1 },
    tooManyRequests: 0,
    faults: {},
  })
})

test('a trigger order made inside the exchange is modified over the wire', async () => {
  const simulator = await start()
  const { bidPr } = await quoteOf(simulator)
  const made = simulator.exchange.answer(
    'placePlanOrder',
    ALICE,
    {
      ...FUTURES,
      planType: 'normal_plan',
      marginMode: 'crossed',
      size: '0.01',
      triggerPrice: String(Math.floor(Number(bidPr) * 0.9)),
      triggerType: 'mark_price',
      side: 'sell',
      orderType: 'market',
      clientOid: 'stop',
    },
    systemClock.now(),
  )

  const modified = await call(simulator, 'modifyPlanOrder', {
    productType: 'USDT-FUTURES',
    clientOid: 'stop',
    newTriggerPrice: String(Math.floor(Number(bidPr) * 0.8)),
    newTriggerType: 'mark_price',
  })

  expect(made.ok).toBe(true)
  expect(modified).toMatchObject({ status: 200, code: '00000' })
  expect(modified.read()).toMatchObject({ clientOid: 'stop' })
})

test('orders, positions and prices survive a restart, and the time between counts for nothing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'simulator-'))
  const storeFile = join(folder, 'exchange.db')
  const account = { ...ALICE, key: 'k', secret: 's', passphrase: 'p' }
  const options = { storeFile, accounts: [account] }
  const first = await start(options)
  const { bidPr } = await quoteOf(first)
  await call(first, 'batchPlaceOrder', {
    ...FUTURES,
    marginMode: 'crossed',
    orderList: [
      { size: '0.01', side: 'buy', orderType: 'market', clientOid: 'filled' },
      {
        size: '0.01',
        price: String(Math.floor(Number(bidPr) * 0.995)),
        side: 'buy',
        orderType: 'limit',
        force: 'gtc',
        clientOid: 'open',
      },
    ],
  })
  await first.stop()
  const before = first.ledger('1')

  const second = await start(options)
  const position = await call(second, 'singlePosition', FUTURES)
  const again = await call(second, 'batchPlaceOrder', {
    ...FUTURES,
    marginMode: 'crossed',
    orderList: [{ size: '0.01', side: 'buy', orderType: 'market', clientOid: 'filled' }],
  })
  const after = second.ledger('1')
  await second.stop()
  await rm(folder, { recursive: true })

  expect(after.openOrders).toEqual(before.openOrders)
  expect(after.counts.fills).toBe(1)
  expect(position.read()).toMatchObject([{ holdSide: 'long', total: '0.01' }])
  expect(again.read()).toMatchObject({ failureList: [{ clientOid: 'filled', errorCode: '40786' }] })
})

test('an exchange that never stopped properly goes on from its last moment', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'simulator-'))
  const storeFile = join(folder, 'exchange.db')
  let now = 1_700_000_000_000
  const clock = { now: () => now, monotonic: () => now }
  const first = await start({ storeFile, clock, market: { kind: 'seeded', stepMs: 1000 } })
  now += 5000
  first.exchange.core.advance(now)
  await copyFile(storeFile, `${storeFile}.killed`)
  await copyFile(`${storeFile}-wal`, `${storeFile}.killed-wal`)
  const { lastPr } = tickerOf(first, now)
  await first.stop()

  now += 30 * 24 * 3_600_000
  const second = await start({
    storeFile: `${storeFile}.killed`,
    clock,
    market: { kind: 'seeded', stepMs: 1000 },
  })
  const resumed = tickerOf(second, now)
  await second.stop()
  await rm(folder, { recursive: true })

  expect(Math.abs(Number(resumed.lastPr) / Number(lastPr) - 1)).toBeLessThan(0.005)
})

test('one that starts paused goes on from where it was stopped when it is resumed, however long that takes', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'simulator-'))
  let now = 1_700_000_000_000
  // Each look at the clock takes a second, as on a machine that is busy.
  const clock = { now: () => (now += 1000), monotonic: () => now }
  const options = {
    storeFile: join(folder, 'exchange.db'),
    clock,
    market: {
      kind: 'seeded',
      stepMs: 1e3,
      speed: 600,
    },
  } as const
  const first = await start(options)
  await first.stop()
  const { lastPr } = tickerOf(first, now)

  const second = await start({ ...options, isPaused: true })
  second.exchange.core.advance(clock.now())
  const paused = tickerOf(second, now)
  second.resume()
  second.exchange.core.advance(clock.now())
  const resumed = tickerOf(second, now)
  await second.stop()
  await rm(folder, { recursive: true })

  expect(paused.lastPr).toBe(lastPr)
  expect(resumed.lastPr).not.toBe(lastPr)
})

test('generated credentials are new at each start, and no event holds them', async () => {
  const events: ServerEvent[] = []
  const first = await start({ onEvent: (event) => events.push(event) })
  const second = await start()

  await call(first, 'singlePosition', { ...FUTURES, symbol: 'NOSUCHUSDT' })

  const [one, two] = [first.accounts[0], second.accounts[0]]
  expect(one?.secret).not.toBe(two?.secret)
  expect(one?.key).not.toBe(two?.key)
  expect(events).not.toEqual([])
  for (const secret of [one?.secret, one?.passphrase])
    expect(JSON.stringify(events)).not.toContain(secret)
})

test('a stranger with another key is refused', async () => {
  const [first, second] = [await start(), await start()]

  const answer = await call({ ...first, accounts: second.accounts }, 'singlePosition', FUTURES)

  expect(answer).toMatchObject({ status: 400, code: '40037' })
})

test('the market moves by itself, stands still while it is paused, and goes on', async () => {
  const simulator = await start({ market: { kind: 'seeded', stepMs: 20 }, tickMs: 20 })
  const first = await quoteOf(simulator)
  await expect.poll(async () => (await quoteOf(simulator)).ts).not.toBe(first.ts)

  simulator.pause()
  const paused = await quoteOf(simulator)
  await call(simulator, 'singlePosition', FUTURES)
  const still = await quoteOf(simulator)
  simulator.resume()

  expect(still).toEqual(paused)
  await expect.poll(async () => (await quoteOf(simulator)).ts).not.toBe(paused.ts)
})

test('recorded prices are what the exchange quotes, beside made-up ones, and it is known when they end', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'recording-'))
  const file = join(folder, 'BTCUSDT-recorded.csv')
  const rows = Array.from(
    { length: 10 },
    (_, index) => `${1_700_000_000_000 + index * 1000},41000,41000.1,1,1,41000`,
  )
  await writeFile(file, ['ts_ms,bid,ask,bidSz,askSz,last', ...rows].join('\n'))

  const prices = { ETHUSDT: '512' }
  const simulator = await start({
    market: { kind: 'recorded', files: [file], prices, yearlyVolatility: 0.01 },
  })
  const quote = await quoteOf(simulator)
  const madeUp = await quoteOf(simulator, 'ETHUSDT')
  await rm(folder, { recursive: true })

  expect(quote).toMatchObject({ bidPr: '41000', askPr: '41000.1' })
  // What has no recording starts where it is told to, and is named.
  expect(Math.abs(Number(madeUp.bidPr) / 512 - 1)).toBeLessThan(0.001)
  expect(simulator.madeUp).toContain('ETHUSDT')
  expect(simulator.madeUp).not.toContain('BTCUSDT')
  expect(simulator.endsAt).toBeGreaterThan(systemClock.now())
})

test('a volume above what can be counted is cut, and said to be', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'recording-'))
  const file = join(folder, 'BTCUSDT-1m.csv')
  const candles = ['9999999', '10000000', '10000001'].map(
    (volume, minute) => `${1_700_000_000_000 + minute * 60_000},41000,41001,40999,41000,${volume}`,
  )
  await writeFile(file, ['ts_ms,open,high,low,close,volume', ...candles].join('\n'))
  const events: ServerEvent[] = []

  await start({
    market: { kind: 'recorded', files: [file], speed: 1 },
    onEvent: (event) => events.push(event),
  })
  await rm(folder, { recursive: true })

  // A lot is 0.001 BTC.
  const [symbol, lotsMax] = ['BTCUSDT', 10_000_000_000]
  expect(events).toEqual([{ kind: 'volumesCut', file: 'BTCUSDT-1m.csv', symbol, rows: 1, lotsMax }])
})

test('the end of a recording moves with the time that the exchange did not run', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'recording-'))
  const [file, storeFile] = [join(folder, 'BTCUSDT-recorded.csv'), join(folder, 'exchange.db')]
  await writeFile(
    file,
    'ts_ms,bid,ask,bidSz,askSz,last\n1700000000000,1,2,1,1,1\n1700000060000,1,2,1,1,1\n',
  )
  let now = 1_800_000_000_000
  const clock = { now: () => now, monotonic: () => now }
  const options = {
    storeFile,
    clock,
    market: { kind: 'recorded', files: [file], speed: 1 },
  } as const
  const first = await start(options)
  first.exchange.core.advance(now)
  const { endsAt } = first
  now += 2000
  await first.stop()

  now += 3_600_000
  const second = await start(options)
  const endsLater = second.endsAt
  now += 5000
  second.exchange.core.advance(now)
  const endsStill = second.endsAt
  await second.stop()
  await rm(folder, { recursive: true })

  // The last row lasts as long as the one before it.
  expect(endsAt).toBe(1_800_000_120_000)
  expect([endsLater, endsStill]).toEqual([1_800_003_720_000, 1_800_003_720_000])
})

test('faults are injected and counted', async () => {
  const simulator = await start({ faults: { probability: { gatewayErrorBefore: 1 } } })

  const { status } = await sendRequest(
    simulator.baseUrl,
    signedRequest(simulator.accounts[0] ?? never(), { path: '/x' }),
  )

  expect(status).toBe(502)
  expect(simulator.counters().faults).toEqual({ gatewayErrorBefore: 1 })
})

function never(): never {
  throw new Error('the simulator has no account')
}
