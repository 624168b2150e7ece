import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { LivePrices } from '../../src/daemon/embedded/live-prices.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { systemTimers } from '../../src/lib/timers.ts'
import type { LiveTicker } from '../../src/simulator/market/live/live-market.ts'
import type { LogLine } from './intentd-process.ts'
import { Projects } from './project.ts'
import { findExchange } from './remote-exchange.ts'

const projects = new Projects()
afterAll(() => projects.close())

const CONFIG = ['-c', 'config/paper-live.example.yaml', '--summary', 'json']

/** Older prices than this are not traded on, ms. */
const AGE_MS_MAX = 1000

function timeOf({ time }: LogLine): number {
  return Date.parse(String(time))
}

test('paper trading follows the prices of another exchange, and stops when that shows none', async () => {
  const project = projects.open()
  const { url, port } = await findExchange(project)
  const other = ['simulate', '--port', port, '--speed', '60']
  const first = project.start(other)
  await first.untilEvent('simulator.listening')

  const daemon = project.run([
    ...CONFIG,
    '--set',
    `simulator.market.live.baseUrl=${url}`,
    '--set',
    'simulator.market.live.pollMs=200',
    '--set',
    `risk.dataAgeMaxMs=${AGE_MS_MAX}`,
  ])
  await daemon.untilEvent('batch.answered')
  await daemon.untilEvent('order.fill')
  await first.stop()
  const missing = await daemon.untilEvent('prices.missing')
  await pause(3 * AGE_MS_MAX)
  const second = project.start(other)
  const back = await daemon.untilEvent('prices.back')
  const sent = daemon.events('batch.sent').length
  await daemon.untilEvent('batch.sent', sent + 1)
  const { code } = await daemon.stop()
  await second.stop()

  expect(code).toBe(0)
  expect(missing).toMatchObject({ level: 'warn', url: new URL(url).origin })
  expect(daemon.events('prices.missing')).toHaveLength(1)
  expect(Number(back['afterMs'])).toBeGreaterThan(AGE_MS_MAX)
  const blindFrom = timeOf(missing) + 2 * AGE_MS_MAX
  const blind = daemon
    .events('batch.sent')
    .filter((line) => timeOf(line) > blindFrom && timeOf(line) < timeOf(back))
  expect(blind).toEqual([])
})

test('an exchange that shows no prices at the start is said at once, with its address', async () => {
  const project = projects.open()

  const daemon = project.run([
    ...CONFIG,
    '--set',
    'simulator.market.live.baseUrl=http://127.0.0.1:9',
  ])
  const { code } = await daemon.ended

  expect(code).toBe(75)
  expect([...daemon.stdout, ...daemon.stderr].join('\n')).toMatch(
    /LIVE_PRICES_UNREACHABLE[^]*127\.0\.0\.1:9[^]*simulator\.market\.live\.baseUrl/,
  )
})

test.each([
  ['--set', 'simulator.market.live.baseUrl=http://example.com', /need an https address/],
  ['--set', 'simulator.market.live.baseUrl=https://example.com/api', /a host and a port/],
  ['--set', 'simulator.speed=60', /set speed to 1/],
  ['--speed', '60', /live: the prices of another exchange come as they come: leave --speed 60 out/],
  [
    '--set',
    'simulator.market.startPrices={BTCUSDT: "1", ETHUSDT: "1"}',
    /remove startPrices, or live/,
  ],
])('%s %s is refused', async (option, setting, problem) => {
  const project = projects.open()

  const check = project.start(['check', '-c', 'config/paper-live.example.yaml', option, setting])
  const { code } = await check.ended

  expect(code).toBe(78)
  expect([...check.stdout, ...check.stderr].join('\n')).toMatch(problem)
})

test('[MKT4] a row that cannot be read, or is old there too, costs its instrument alone', async () => {
  const now = Date.now()
  const row = (symbol: string, more: object) => ({
    symbol,
    lastPr: '100',
    askPr: '100.1',
    bidPr: '100',
    bidSz: '1',
    askSz: '2',
    high24h: '100',
    low24h: '100',
    ts: String(now),
    change24h: '0',
    baseVolume: '1',
    quoteVolume: '1',
    usdtVolume: '1',
    openUtc: '100',
    changeUtc24h: '0',
    indexPrice: '100',
    fundingRate: '0.0001',
    holdingAmount: '1',
    deliveryStartTime: null,
    deliveryTime: null,
    deliveryStatus: '',
    open24h: '100',
    ...more,
  })
  const data = [
    row('GOODUSDT', {}),
    row('NEWUSDT', { lastPr: '', bidPr: '', askPr: '' }),
    row('ODDUSDT', { lastPr: 'soon' }),
    row('OLDUSDT', { ts: String(now - 60_000) }),
  ]
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ code: '00000', msg: 'success', requestTime: now, data }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const prices = new LivePrices({
    baseUrl: `http://127.0.0.1:${port}`,
    pollMs: 6e4,
    productType: 'USDT-FUTURES',
    clock: systemClock,
    timers: systemTimers,
    log: () => {},
  })
  const heard: LiveTicker[] = []
  prices.follow((tickers) => heard.push(...tickers))

  await prices.open()
  await prices.close()
  server.close()

  const shown = heard.filter(({ last }) => last > 0).map(({ symbol }) => symbol)
  expect(shown).toEqual(['GOODUSDT'])
  expect(heard.find(({ symbol }) => symbol === 'GOODUSDT')).toMatchObject({
    bid: 100,
    ask: 100.1,
    bidSize: 1,
    askSize: 2,
    last: 100,
    fundingRate: 1e-4,
  })
})
