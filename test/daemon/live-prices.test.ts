import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { type LogLine } from './intentd-process.ts'
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
    ...['--set', `simulator.market.live.baseUrl=${url}`, '--set', 'simulator.market.live.pollMs=200'],
    ...['--set', `risk.dataAgeMaxMs=${AGE_MS_MAX}`],
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

  const daemon = project.run([...CONFIG, '--set', 'simulator.market.live.baseUrl=http://127.0.0.1:9'])
  const { code } = await daemon.ended

  expect(code).toBe(75)
  expect([...daemon.stdout, ...daemon.stderr].join('\n')).toMatch(
    /LIVE_PRICES_UNREACHABLE[^]*127\.0\.0\.1:9[^]*simulator\.market\.live\.baseUrl/,
  )
})

test.each([
  ['simulator.market.live.baseUrl=http://example.com', /need an https address/],
  ['simulator.market.live.baseUrl=https://example.com/api', /a host and a port/],
  ['simulator.speed=60', /set speed to 1/],
  ['simulator.market.startPrices={BTCUSDT: "1", ETHUSDT: "1"}', /remove startPrices, or live/],
])('%s is refused', async (setting, problem) => {
  const project = projects.open()

  const check = project.start(['check', '-c', 'config/paper-live.example.yaml', '--set', setting])
  const { code } = await check.ended

  expect(code).toBe(78)
  expect([...check.stdout, ...check.stderr].join('\n')).toMatch(problem)
})
