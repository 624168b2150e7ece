import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type Project, Projects } from './project.ts'

/** Real processes: slow to start on a busy machine. */
const TIMEOUT_MS = 300_000

const projects = new Projects()
afterAll(() => projects.close())

/** A strategy that needs 32 hours of candles before it wants anything. */
const STRATEGY = `import { defineStrategy, z } from '#strategy'
export default defineStrategy({
  name: 'slow',
  params: z.strictObject({}),
  initialState: () => ({}),
  needs: { candles: { '5m': 384, '2h': 20 } },
  decides: 'candle',
  decide: ({ instruments }, { state }) => ({
    state,
    intents: instruments.flatMap((market) =>
      market.candles('5m').length === 384 && market.candles('2h').length === 20
        ? [market.target(10)]
        : [],
    ),
  }),
})
`

const SETTINGS = `id: slow
module: ../../strategies/slow.ts
instruments: [BTCUSDT]
isolation: inline
risk: { positionMax: "0.02", positionNotionalMax: "3000", orderSizeMax: "0.02", openOrdersMax: 4 }
`

function openProject(): Project {
  const project = projects.open()
  project.write('strategies/slow.ts', STRATEGY)
  project.write('config/strategies/slow.yaml', SETTINGS)
  const [before = ''] = project.read('config/paper.yaml').split('\nstrategies:\n')
  project.write('config/slow.yaml', `${before}\nstrategies:\n  - strategies/slow.yaml\n`)
  return project
}

const RUN = ['-c', 'config/slow.yaml', '--set', 'simulator.speed=1', '--set', 'record=true']

test.concurrent(
  '[DET1] a strategy of candles trades right after its first start, a restart knows them, and the recording is made again to the byte',
  async () => {
    const project = openProject()
    const first = project.run(RUN)
    await first.until('a fill', () => first.events('order.fill').length > 0)
    await first.stop()
    const second = project.run(RUN)
    await second.untilEvent('daemon.running')
    await second.stop()

    expect(
      first.events('history.fetched').map(({ candles, interval, symbol }) => ({
        candles,
        interval,
        symbol,
      })),
    ).toEqual([
      { candles: 384, interval: '5m', symbol: 'BTCUSDT' },
      { candles: 20, interval: '2h', symbol: 'BTCUSDT' },
    ])
    expect([...first.events('history.differs'), ...first.events('history.notFetched')]).toEqual([])
    const [running] = second.events('daemon.running')
    expect(running?.['warmingUp'] ?? []).toEqual([])

    const paths = readdirSync(project.directory, { recursive: true, encoding: 'utf8' })
    const recordings = paths.find((path) => path.endsWith('recordings')) ?? ''
    const replayed = project.start(['replay', join(project.directory, recordings)])
    expect((await replayed.ended).code).toBe(0)
    expect(replayed.stdout.join('\n')).toContain('same effects, to the byte')
  },
  TIMEOUT_MS,
)
