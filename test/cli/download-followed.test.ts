import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { describeRecording } from '../../src/backtest/played-prices.ts'
import { main } from '../../src/cli/main.ts'
import { describeLack } from '../../src/cli/prices/download.ts'
import { Limiter } from '../../src/exchange/limiter/limiter.ts'
import { loadRecording } from '../../src/prices/load-recording.ts'
import { describeMadeUp } from '../../src/report/text/figures.ts'
import { startSimulator } from '../../src/simulator/start-simulator.ts'
import { MAIN, replaceOnce, Workspace } from '../config/workspace.ts'
import { typed } from './call-fixture.ts'

const workspace = new Workspace()
const followed = await startSimulator({
  seed: 9,
  market: {
    kind: 'seeded',
    prices: { BTCUSDT: '150' },
    yearlyVolatility: 0.1,
    stepMs: 100,
    speed: 1,
  },
  accounts: [],
})
afterAll(async () => {
  await followed.stop()
  workspace.remove()
})

const EMBEDDED = join(workspace.directory, 'config/main.yaml')
const FOLLOWING = join(workspace.directory, 'config/following.yaml')
const OUT = join(workspace.directory, 'data')
const SINCE = ['--from', new Date(Date.now() - 7_200_000).toISOString().slice(0, 16)]

beforeEach(() => {
  workspace.fill({
    'config/following.yaml': replaceOnce(
      MAIN,
      'startPrices: { BTCUSDT: "60000", ETHUSDT: "3000" }',
      `live: { baseUrl: "${followed.baseUrl}" }`,
    ),
  })
})

async function download(config: string, out: string, since = SINCE) {
  const said: string[] = []
  const listen = (text: string | Uint8Array): boolean => said.push(String(text)) > 0
  const spies = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation(listen),
  )
  const words = ['download', 'BTCUSDT', '--interval', '1m', ...since, '--out', out, '-c', config]
  const code = await main(words).finally(() => spies.forEach((spy) => spy.mockRestore()))
  return { code, said: said.join(''), file: join(out, 'BTCUSDT-futures-1m.prices') }
}

test('a download for paper trading at live prices reads the exchange that is followed', async () => {
  const { code, said, file } = await download(FOLLOWING, join(OUT, 'followed'))

  expect([code, said]).toEqual([0, expect.not.stringContaining('made-up')])
  const { rows, madeUp } = await loadRecording(file)
  expect(madeUp).toBeUndefined()
  expect(rows.kind === 'candles' && Math.max(...rows.close)).toBeLessThan(300)
  expect(readFileSync(file, 'latin1')).toContain(new URL(followed.baseUrl).host)
})

test('a download of less than was asked says what is missing', () => {
  const at = (day: string): number => Date.parse(day)
  const lack = (from: string, to?: string) =>
    describeLack(
      { symbol: 'BTCUSDT', fromAt: at('2025-10-25'), toAt: at('2025-11-25') },
      { interval: '1H', from: at(from), ...(to !== undefined && { to: at(to) }) },
    )

  expect(lack('2025-01-01', '2026-01-01')).toEqual([
    'BTCUSDT: nothing from 2025-01-01T00:00 on, as was asked, but from 2025-10-25T00:00: the exchange showed no earlier candle (297 d are missing)',
    'BTCUSDT: nothing up to 2026-01-01T00:00, as was asked, but up to 2025-11-25T00:00: the exchange showed no later candle',
  ])
  expect(lack('2025-10-25', '2025-11-25')).toEqual([])
  expect(lack('2025-10-24T23:30Z')).toEqual([])
})

test('a public call is answered by the exchange that is followed', async () => {
  const words = ['tickers', '--productType', 'USDT-FUTURES']
  const { out, err } = await typed(words, { config: FOLLOWING })

  expect(err).toBe('')
  const [, price] = /symbol +BTCUSDT\s+lastPr +([\d.]+)/.exec(out) ?? []
  expect(Number(price)).toBeLessThan(300)
})

test('a download from the simulator inside says and marks that its prices are made up', async () => {
  const { code, said, file } = await download(EMBEDDED, join(OUT, 'embedded'))

  expect([code, said]).toEqual([0, expect.stringContaining('made-up prices')])
  const recording = await loadRecording(file)
  expect(recording.madeUp).toBe(true)
  expect(describeMadeUp([describeRecording(recording)])).toEqual([
    expect.stringContaining('Made-up prices (downloaded from a simulator)'),
  ])
})

test('pages of the simulator inside wait for no limit of an exchange', async () => {
  const ask = Reflect.get(Limiter.prototype, 'request')
  const counts = { asked: 0, waited: 0 }
  const spy = vi.spyOn(Limiter.prototype, 'request').mockImplementation(function (
    this: Limiter,
    ...[endpoint, priority, onGranted]
  ) {
    counts.asked += 1
    counts.waited += 1
    const count = (grant: Parameters<typeof onGranted>[0]): void => {
      counts.waited -= 1
      onGranted(grant)
    }
    let isOver = false
    const request = ask.call(this, endpoint, priority, (grant) =>
      isOver ? onGranted(grant) : count(grant),
    )
    isOver = true
    return request
  })
  const since = new Date(Date.now() - 5 * 86_400_000).toISOString().slice(0, 16)

  const { code } = await download(EMBEDDED, join(OUT, 'unhurried'), ['--from', since])

  spy.mockRestore()
  expect(code).toBe(0)
  expect(counts.asked).toBeGreaterThan(30)
  expect(counts.waited).toBe(0)
})
