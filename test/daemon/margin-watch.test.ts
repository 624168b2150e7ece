import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { MarginWatch, type MarginWatchOptions } from '../../src/daemon/reporting/margin-watch.ts'
import type { CurveQuery } from '../../src/journal/curves.ts'
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts'
import { endpointNamed } from '../../src/protocol/endpoints.ts'
import type { marginHandlers } from '../../src/simulator/margin/margin.ts'
import type { Reply } from '../../src/simulator/shared/reply.ts'
import { ALICE, dataOf, DAY_MS, HOUR_MS, MarginBench } from '../simulator/margin/margin-bench.ts'
import { ManualTime } from '../support/manual-time.ts'

const EVERY_MS = 60_000

let folder: string
let bench: MarginBench
let time: ManualTime
const calls: { endpoint: string; priority: unknown }[] = []
const logged: [string, Readonly<Record<string, unknown>>][] = []
let refusal: string | undefined

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'margin-watch-'))
  bench = new MarginBench()
  time = new ManualTime(bench.now)
  calls.length = 0
  logged.length = 0
  refusal = undefined
})

afterEach(() => rmSync(folder, { recursive: true }))

/** Answers of the simulator, read by the endpoint's own schema. */
const client = {
  call: (endpoint: keyof typeof marginHandlers, request: object, { priority = -1 } = {}) => {
    calls.push({ endpoint, priority })
    const base = { receivedAt: time.now(), requestTime: time.now() }
    if (refusal !== undefined)
      return Promise.resolve({ kind: 'refused', code: '40014', message: refusal, ...base })
    const sent = endpointNamed(endpoint).request.parse(request) as never
    const reply = bench.service.answer(endpoint, ALICE, sent, time.now()) as Reply<unknown>
    const data = endpointNamed(endpoint).response.parse(dataOf(reply))
    return Promise.resolve({ kind: 'accepted', data, ...base })
  },
} as unknown as MarginWatchOptions['calls']['client']

/** @param isKilled its last points do not become durable */
async function startRun({ isKilled = false } = {}) {
  const file = join(folder, 'journal.sqlite')
  const journal = openSqliteJournal({ file, identity: 'live 1', keepSince: () => 0 })
  const watch = new MarginWatch(
    {
      calls: { client },
      journal: isKilled
        ? { curve: (query: CurveQuery) => journal.curve(query), notePoints: () => undefined }
        : journal,
      trusted: { clock: time, offset: { exchangeNow: (now: number) => now } },
      timers: time,
      logger: {
        log: (level: string, event: string, fields: object = {}) => {
          const known = Object.entries(fields).filter(([, value]) => value !== undefined)
          logged.push([`${level} ${event}`, Object.fromEntries(known)])
        },
      },
      config: { polling: {} },
    } as unknown as MarginWatchOptions,
    { everyMs: EVERY_MS, symbols: ['BTCUSDT'] },
  )
  watch.start()
  await time.pass(0)
  const end = async () => {
    await watch.stop()
    journal.close()
  }
  return { end }
}

async function pass(ms: number): Promise<void> {
  await time.pass(ms)
  bench.wait(time.now() - bench.now)
}

function liquidateLong(symbol: 'BTCUSDT' | 'ETHUSDT' = 'BTCUSDT'): void {
  const [low, usual] = symbol === 'BTCUSDT' ? [56_000, 60_000] : [2300, 2500]
  bench.deposit('isolated', 'USDT', '1000', symbol)
  bench.place('isolated', {
    symbol,
    side: 'buy',
    orderType: 'market',
    loanType: 'autoLoan',
    quoteSize: '9000',
  })
  for (const price of [low, usual]) bench.show(symbol, String(price), String(price + 1))
  time.setClock(bench.now)
}

test('a liquidation is logged once, with all that the exchange did, and restarts repeat none', async () => {
  const first = await startRun()
  await pass(EVERY_MS)
  expect(logged).toEqual([])
  liquidateLong()
  await pass(3 * EVERY_MS)
  await first.end()

  const { end } = await startRun()
  await pass(3 * HOUR_MS)
  await end()

  expect(logged).toEqual([
    [
      'error margin.liquidated',
      {
        marginMode: 'isolated',
        symbol: 'BTCUSDT',
        side: 'sell',
        size: '0.149847',
        price: '56000',
        orderId: expect.any(String),
        createdAt: expect.stringMatching(/^20\d\d-.*Z$/),
      },
    ],
  ])
})

test('what the exchange converts to pay a debt is logged, too', async () => {
  const { end } = await startRun()
  bench.deposit('isolated', 'USDT', '1000')
  bench.place('isolated', {
    side: 'sell',
    orderType: 'market',
    loanType: 'autoLoan',
    baseSize: '0.1234',
  })
  bench.wait(3 * HOUR_MS)
  bench.show('BTCUSDT', '65000', '65001')
  time.setClock(bench.now)
  await pass(2 * EVERY_MS)
  await end()

  expect(logged.map(([event]) => event)).toEqual([
    'error margin.liquidated',
    'error margin.liquidated',
  ])
  expect(logged[1]?.[1]).toMatchObject({
    converted: expect.stringMatching(/^0\.\d+ BTC$/),
    into: expect.stringMatching(/^\d+\.\d+ USDT$/),
  })
})

test('what happened while nothing ran is logged at the next start; what was before the first is not', async () => {
  liquidateLong()
  const first = await startRun()
  await pass(10 * DAY_MS)
  await first.end()
  expect(logged).toEqual([])

  time.setClock(time.now() + 20 * DAY_MS)
  bench.wait(20 * DAY_MS)
  liquidateLong('ETHUSDT')
  const { end } = await startRun()
  await pass(EVERY_MS)
  await end()

  // It sells the ether, and converts what is too little for an order.
  expect(logged).toMatchObject([
    ['error margin.liquidated', { symbol: 'ETHUSDT', side: 'sell' }],
    ['error margin.liquidated', { converted: expect.stringMatching(/ ETH$/) }],
  ])
})

test('a crash before a line is noted repeats it rather than losing it', async () => {
  const first = await startRun()
  await pass(EVERY_MS)
  await first.end()
  const killed = await startRun({ isKilled: true })
  liquidateLong()
  await pass(2 * EVERY_MS)
  await killed.end()
  expect(logged).toHaveLength(1)

  const { end } = await startRun()
  await pass(2 * EVERY_MS)
  await end()

  const [one, again, ...others] = logged
  expect(again).toEqual(one)
  expect(others).toEqual([])
})

test('orders that begin to rest are logged once, over restarts too, and those of before are not', async () => {
  bench.deposit('crossed', 'USDT', '1000')
  bench.place('crossed', { price: '49000', baseSize: '0.001' })
  time.setClock(time.now() + 1000)
  const first = await startRun()
  bench.wait(2000)
  bench.place('crossed', { price: '50000', baseSize: '0.01' })
  await pass(3 * EVERY_MS)
  await first.end()
  const { end } = await startRun()
  bench.place('crossed', { price: '51000', baseSize: '0.005' })
  await pass(2 * DAY_MS)
  await end()

  expect(
    logged.map(([event, { marginMode, side, size, price }]) => [
      event,
      marginMode,
      side,
      size,
      price,
    ]),
  ).toEqual([
    ['info margin.order', 'crossed', 'buy', '0.01', '50000'],
    ['info margin.order', 'crossed', 'buy', '0.005', '51000'],
  ])
})

test('a reading that fails is logged once, costs no record, and its end is logged', async () => {
  const { end } = await startRun()
  await pass(EVERY_MS)
  refusal = 'incorrect permissions'
  liquidateLong()
  await pass(5 * HOUR_MS)
  refusal = undefined
  await pass(EVERY_MS)
  await end()

  expect(logged.map(([event]) => event)).toEqual([
    'warn margin.notRead',
    'error margin.liquidated',
    'info margin.read',
  ])
  expect(logged[0]?.[1]).toEqual({ reason: 'isolated liquidations: 40014 incorrect permissions' })
})

test('its calls come behind all others, and end with the run', async () => {
  const { end } = await startRun()
  await pass(EVERY_MS)
  await end()
  const made = calls.length
  await pass(DAY_MS)

  expect(new Set(calls.map(({ priority }) => priority))).toEqual(new Set([3]))
  expect(calls).toHaveLength(made)
  expect(made).toBe(12)
  expect(time.timersWaiting).toBe(0)
})
