import { afterAll, expect, test, vi } from 'vitest'
import { Projects, writeRecording } from '../daemon/project.ts'

const projects = new Projects()
afterAll(() => projects.close())

// Real processes, several at a time: a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 })

test.concurrent('the exchange alone answers, says so, and stops in good order', async () => {
  const run = projects.open().start(['simulate', '--port', '0', '--log-level', 'debug'])
  const listening = await run.untilEvent('simulator.listening')

  const tickers = await fetch(
    `${String(listening['url'])}/api/v2/mix/market/tickers?productType=USDT-FUTURES`,
  )
  const answer = (await tickers.json()) as { code: string; data: { symbol: string }[] }
  const refused = await fetch(`${String(listening['url'])}/api/v2/mix/nothing`)
  await refused.text()
  await run.untilEvent('simulator.requestRefused')
  const ending = await run.stop()

  expect(answer.code).toBe('00000')
  expect(answer.data.map(({ symbol }) => symbol)).toEqual(expect.arrayContaining(['BTCUSDT', 'ETHUSDT']))
  expect(run.events('simulator.requestRefused')[0]).toMatchObject({ level: 'debug' })
  expect(ending).toEqual({ code: 0, signal: null })
  expect(run.events('simulator.stopped')[0]).toMatchObject({ why: 'SIGTERM', tooManyRequests: 0 })
})

test.concurrent('accounts are the same at every start, other ones with another seed', async () => {
  const project = projects.open()
  const args = ['simulate', '--port', '0', '--print-accounts', '--for', '1ms']
  const runs = [args, args, [...args, '--set', 'seed=2']].map((each) => project.start(each))

  const endings = await Promise.all(runs.map(({ ended }) => ended))

  const [first, again, other] = runs.map(
    ({ stdout }) => JSON.parse(stdout.join('')) as Record<string, string>[],
  )
  expect(endings.map(({ code }) => code)).toEqual([0, 0, 0])
  expect(first).toEqual(again)
  expect(first?.map(({ label, positionMode }) => [label, positionMode])).toEqual([
    ['alice', 'one_way_mode'],
    ['bob', 'hedge_mode'],
  ])
  expect(Object.keys(first?.[0] ?? {}).toSorted()).toEqual(
    ['key', 'label', 'passphrase', 'positionMode', 'role', 'secret', 'uid'].toSorted(),
  )
  expect(other?.[0]?.['secret']).not.toBe(first?.[0]?.['secret'])
})

test.concurrent('a recording is played, and a port that is taken is said to be', async () => {
  const project = projects.open()
  const recording = writeRecording(project, 20)
  const first = project.start(['simulate', '--port', '0', '--market', recording])
  const { url } = await first.untilEvent('simulator.listening')

  const tickers = await fetch(`${String(url)}/api/v2/mix/market/tickers?productType=USDT-FUTURES`)
  const { data } = (await tickers.json()) as { data: { symbol: string; lastPr: string }[] }
  const second = project.start(['simulate', '--port', new URL(String(url)).port])
  const { code } = await second.ended
  await first.stop()

  const last = Number(data.find(({ symbol }) => symbol === 'BTCUSDT')?.lastPr)
  expect(Math.abs(last / 60_000 - 1)).toBeLessThan(0.02)
  expect(code).toBe(78)
  expect(second.stderr.join('\n')).toMatch(/SIMULATOR_LISTEN_FAILED/)
})
