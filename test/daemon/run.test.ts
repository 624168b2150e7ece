import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type RunSummary } from '../../src/views/summary.ts'
import { Projects, writeRecording } from './project.ts'
import { shareOf } from '../support/share.ts'

const projects = new Projects()
afterAll(() => projects.close())

/** What the closing object must hold, and that both books are the same to the last digit. */
function expectSound(summary: RunSummary): void {
  expect(Object.keys(summary)).toEqual(
    expect.arrayContaining([
      'cycles',
      'snapshots',
      'intents',
      'denials',
      'batches',
      'orders',
      'thisRun',
      'allRuns',
      'unrealisedProfit',
      'positions',
      'rateLimited',
      'unknowns',
      'limiter',
      'wakeUpLateness',
      'decisionLatency',
    ]),
  )
  expect(summary.exchange?.differences).toEqual([])
  expect(summary).toMatchObject({
    clean: true,
    rateLimited: 0,
    unknowns: 0,
    exchange: { agrees: true },
  })
  expect(summary.thisRun.fills).toBe(summary.exchange?.fills)
  for (const { endpoint, windowMax, calls } of summary.limiter)
    expect(windowMax, endpoint).toBeLessThanOrEqual(calls)
}

/** An answer that a busy machine gives late is not a lost one. */
const PATIENT = ['--set', 'exchange.requestTimeoutMs=60000']

const MODES = ['one_way_mode', 'hedge_mode']

test.concurrent.each(shareOf(MODES, 2))(
  '[LIM1] a run in %s stops in good order, its books those of the exchange',
  async (mode) => {
    const args = ['--summary', 'json', '--set', 'simulator.speed=1200', ...PATIENT]
    const run = projects.open().run([...args, '--set', `account.positionMode=${mode}`])
    // What was filled is replaced: a batch that a read of the market has caused.
    await run.untilEvent('order.fill')
    const sentBefore = run.events('batch.sent').length
    await run.until('another batch', () => run.events('batch.sent').length > sentBefore)

    const ending = await run.stop()

    expect(ending).toEqual({ code: 0, signal: null })
    expect(run.stdout).toHaveLength(1)
    expectSound(run.summary)
    expect(run.summary.positionMode).toBe(mode)
    expect(run.summary.cycles).toBeGreaterThan(1)
    expect(run.summary.thisRun.fills).toBeGreaterThan(0)
  },
)

test.concurrent('a run on recorded prices ends when they end, and another one begins them again', async () => {
  const project = projects.open()
  const file = writeRecording(project, 240)
  const args = ['--market', file, '--speed', '60', '--summary', 'json', ...PATIENT]

  const first = project.run(args)
  const firstEnding = await first.ended
  const second = project.run(args)
  const secondEnding = await second.ended

  expect([firstEnding.code, secondEnding.code]).toEqual([0, 0])
  for (const run of [first, second]) {
    expect(run.events('daemon.stopRequested')[0]).toMatchObject({ why: 'the recording has ended' })
    expect(run.events('simulator.opened')[0]).toMatchObject({ madeUp: ['ETHUSDT'] })
    expect(run.summary.exchange?.prices).toMatchObject({ source: file, madeUp: ['ETHUSDT'] })
    expectSound(run.summary)
  }
  expect(second.events('recording.startsAgain')).toHaveLength(1)
  expect(second.events('recovery.started')[0]).toMatchObject({ epoch: 1, openOrders: 0 })
})

test.concurrent('a recording whose prices come further apart than they may be old is warned of, with what to set', async () => {
  const project = projects.open()
  const candle = (minute: number): string =>
    `${1_700_000_040_000 + minute * 60_000},60000,60010,59990,60005,5`
  const rows = ['ts_ms,open,high,low,close,volume', candle(0), candle(1), candle(2), '']
  project.write('BTCUSDT-1m.csv', rows.join('\n'))
  const file = join(project.directory, 'BTCUSDT-1m.csv')
  const args = ['--market', file, '--speed', '1', '--summary', 'json', '--set']

  const slow = project.run([...args, 'risk.dataAgeMaxMs=2000'])
  await slow.untilEvent('daemon.running')
  await slow.stop()
  const enough = project.run([...args, 'risk.dataAgeMaxMs=4500'])
  await enough.untilEvent('daemon.running')
  await enough.stop()
  const market = `{recordings: {BTCUSDT: ${file}}, startPrices: {ETHUSDT: "3000"}}`
  const [setMarket, setSpeed] = [`simulator.market=${market}`, 'simulator.speed=1']
  project.edit('config/paper.yaml', 'dataAgeMaxMs: 5000', 'dataAgeMaxMs: 2000')
  const check = project.start(['check', '--set', setMarket, '--set', setSpeed])
  await check.ended

  expect(slow.events('prices.slow')).toMatchObject([
    { symbol: 'BTCUSDT', everyMs: 4286, advice: 'set risk.dataAgeMaxMs to 4500 at least' },
  ])
  expect(enough.events('prices.slow')).toEqual([])
  expect(check.stdout.join('\n')).toMatch(
    /^warning: config\/paper\.yaml:\d+:17 risk\.dataAgeMaxMs: 2000 ms .* of BTCUSDT, 4286 ms at speed 1: .* to 4500/m,
  )
})

test.concurrent('a contract that only the configuration knows can be played', async () => {
  const project = projects.open()
  const recording = writeRecording(project, 7200)
  project.edit(
    'config/paper.yaml',
    '  ETHUSDT: {',
    '  SOLUSDT: { tickSize: "0.5", lotSize: "0.002", minSize: "0.002", minNotional: "5" }\n  ETHUSDT: {',
  )
  project.edit('config/paper.yaml', 'ETHUSDT: "3000" }', 'ETHUSDT: "3000", SOLUSDT: "60000" }')
  project.edit('config/strategies/grid-btc.yaml', '[BTCUSDT]', '[SOLUSDT]')

  const run = project.run([
    '--market',
    `SOLUSDT=${recording}`,
    '--speed',
    '30',
    '--summary',
    'json',
  ])
  const isOf = (event: string) => run.events(event).some(({ symbol }) => symbol === 'SOLUSDT')
  await run.until('a fill', () => isOf('order.sent') && isOf('order.fill'))
  const { code } = await run.stop()

  expect(code).toBe(0)
  expect(run.summary.thisRun.fills).toBeGreaterThan(0)
  expect(run.summary.exchange?.differences).toEqual([])
})

test.concurrent('cancel leaves nothing resting, by the word of the exchange', async () => {
  const run = projects.open().run(['--summary', 'json', '--set', 'onStop=cancel'])
  await run.untilEvent('order.accepted')

  const { code } = await run.stop()

  expect(code).toBe(0)
  expect(run.summary.ordersSent).toBeGreaterThan(0)
  expect(run.summary.exchange).toMatchObject({ openOrders: 0, agrees: true })
})

test.concurrent.each(shareOf(MODES, 2))(
  'flatten in %s leaves no order and no position, by the word of the exchange',
  async (mode) => {
    const args = ['--set', 'onStop=flatten', '--set', `account.positionMode=${mode}`]
    const run = projects.open().run(['--summary', 'json', '--set', 'simulator.speed=1200', ...args])
    await run.untilEvent('order.fill')

    const { code } = await run.stop()

    expect(code).toBe(0)
    expect(run.summary.thisRun.fills).toBeGreaterThan(0)
    expect(run.summary.exchange).toMatchObject({ openOrders: 0, positions: {}, agrees: true })
  },
)

test.concurrent('[STR1] a strategy that throws is disabled, and the others go on', async () => {
  const project = projects.open()
  project.write(
    'elsewhere/broken.ts',
    `import { defineStrategy, z } from 'intentd/strategy'
interface State { readonly seen: number }
export default defineStrategy({
  name: 'broken',
  params: z.strictObject({}),
  initialState: (): State => ({ seen: 0 }),
  decide() { throw new Error('this one always breaks') },
})
`,
  )
  project.edit(
    'config/strategies/trend-btc.yaml',
    '../../strategies/trend.ts',
    '../../elsewhere/broken.ts',
  )
  const file = project
    .read('config/strategies/trend-btc.yaml')
    .replace(/params:\n(?: .*\n)+/, 'params: {}\n')
  project.write('config/strategies/trend-btc.yaml', file)

  const run = project.run(['--summary', 'json'])
  const halted = await run.untilEvent('trading.halted')
  const sentBefore = run.events('order.sent').length
  await run.until('orders of others', () => run.events('order.sent').length > sentBefore)
  const { code } = await run.stop()

  expect(code).toBe(0)
  expect(halted).toMatchObject({
    level: 'error',
    scope: 'strategy:trend-btc',
    code: 'strategyFailed',
  })
  expect(String(halted['reason'])).toContain('this one always breaks')
  expect(new Set(run.events('order.sent').map(({ strategy }) => strategy))).not.toContain(
    'trend-btc',
  )
  expect(run.summary.exchange?.differences).toEqual([])
})

test.concurrent('[SEC1] logs are JSON lines, follow each order by its clientOid, and hold no secret', async () => {
  const run = projects.open().run(['--set', 'log.level=trace', '--set', 'simulator.speed=1200'])
  await run.untilEvent('order.fill')

  await run.stop()

  expect(run.stderr).toEqual([])
  expect(run.log).toHaveLength(run.stdout.length)
  const [accepted] = run.events('order.accepted')
  const history = run.log.filter(({ clientOid }) => clientOid === accepted?.['clientOid'])
  const events = history.map(({ event }) => event)
  expect(events[0]).toBe('order.sent')
  // On a busy machine one that did not leave in time leaves again.
  expect(events.slice(events.lastIndexOf('order.sent')).slice(0, 2)).toEqual([
    'order.sent',
    'order.accepted',
  ])
  expect(run.stdout.join('\n')).not.toMatch(/sim_[0-9a-f]{8}|passphrase|ACCESS-/)
})
