import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { Projects } from '../daemon/project.ts'
import { writeStrategy } from '../support/made-limits.ts'

const projects = new Projects()
afterAll(() => projects.close())

/** Long and short in turn, with each reading: a young one follows on an older one. */
const CROWD = `import { defineStrategy, z } from 'intentd/strategy'
export default defineStrategy({
  name: 'crowd',
  params: z.strictObject({}).prefault({}),
  initialState: () => ({ readings: 0, ageMs: 0 }),
  decide(snapshot, { state }) {
    const [market] = snapshot.instruments
    const feed = snapshot.feed('ratio')
    if (!market?.hasPrices || !feed) return { intents: [], state }
    const readings = state.readings + (feed.ageMs < state.ageMs ? 1 : 0)
    return { intents: [market.target(readings % 2 === 0 ? 10 : -10)], state: { readings, ageMs: feed.ageMs } }
  },
})
`
const FILE = writeStrategy({
  id: 'crowd',
  module: 'crowd.ts',
  instruments: ['BTCUSDT'],
  feeds: { ratio: { endpoint: 'longShortRatio', params: { symbol: 'BTCUSDT' }, everyMs: 1500 } },
  risk: { positionMax: '0.05', orderSizeMax: '0.05' },
})

function openProject() {
  const project = projects.open()
  project.write('config/strategies/crowd.ts', CROWD)
  project.write('config/strategies/crowd.yaml', FILE)
  const lines = ['grid-btc', 'grid-eth', 'trend-btc', 'trend-eth'].map(
    (name) => `\n  - strategies/${name}.yaml`,
  )
  project.edit('config/paper.yaml', lines.join(''), '\n  - strategies/crowd.yaml')
  return project
}

test('[DET1] what a daemon read of its feeds is recorded, played by a backtest, and the same in parity', async () => {
  const project = openProject()
  const run = project.run(['--set', 'record=true', '--set', 'simulator.speed=1'])
  await run.until('orders', () => run.events('batch.sent').length > 2)
  await run.stop()
  const found = readdirSync(project.directory, { recursive: true, encoding: 'utf8' })
  const recordings = found.find((path) => path.endsWith('recordings')) ?? ''

  const recorded = project.start(['record', recordings, '--out', 'data'])
  expect([(await recorded.ended).code, recorded.stderr]).toEqual([0, []])
  expect(recorded.stdout.join('\n')).toMatch(/feed longShortRatio\?symbol=BTCUSDT: \d+ readings/)
  const feed = join('data', 'longShortRatio-symbol-BTCUSDT.feed.jsonl')
  const again = project.start(['record', recordings, '--out', 'data', '--replace', '--json'])
  expect((await again.ended).code).toBe(0)
  expect(JSON.parse(again.stdout.join('\n'))).toContainEqual(
    expect.objectContaining({ kind: 'feed', file: feed }),
  )

  const prices = join('data', 'BTCUSDT-futures-quotes.prices')
  const played = project.start([
    'backtest',
    '--market',
    prices,
    '--feed',
    `ratio=${feed}`,
    '--out',
    'report',
  ])
  expect([(await played.ended).code, played.stderr]).toEqual([0, []])
  expect(project.read('report/report.json')).toContain(
    'is played from longShortRatio-symbol-BTCUSDT.feed.jsonl',
  )
  expect(project.read('report/run.json')).toMatch(
    /"longShortRatio\?symbol=BTCUSDT": "[0-9a-f]{64}"/,
  )
  expect(project.read('report/report.html')).toContain(`--feed ratio=${feed}`)

  const parity = project.start(['parity', recordings])
  await parity.ended
  expect(parity.stdout.join('\n')).toMatch(
    /^crowd: [1-9]\d* changes? of what it wants recorded, .* all the same$/m,
  )
})
