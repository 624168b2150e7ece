import { readdirSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { Projects } from '../daemon/project.ts'
import { writeStrategy } from '../support/made-limits.ts'

const projects = new Projects()
afterAll(() => projects.close())

/** It trades only with a history, which 5-minute candles do not have in the time of a test. */
const PAST = `import { defineStrategy, z } from 'intentd/strategy'
export default defineStrategy({
  name: 'past',
  params: z.strictObject({}).prefault({}),
  needs: { candles: { '5m': 20 } },
  initialState: () => ({}),
  decide(snapshot, { state }) {
    const [market] = snapshot.instruments
    if (!market?.hasPrices || market.candles('5m').length < 20) return { intents: [], state }
    return { intents: [market.target(10)], state }
  },
})
`

test('fetched candles are played by a parity, and a run that allows trades by hand has one', async () => {
  const project = projects.open()
  project.write('config/strategies/past.ts', PAST)
  project.write(
    'config/strategies/past.yaml',
    writeStrategy({
      id: 'past',
      module: 'past.ts',
      instruments: ['BTCUSDT'],
      risk: { positionMax: '0.05', orderSizeMax: '0.05' },
    }),
  )
  const lines = ['grid-btc', 'grid-eth', 'trend-btc', 'trend-eth'].map(
    (name) => `\n  - strategies/${name}.yaml`,
  )
  project.edit('config/paper.yaml', lines.join(''), '\n  - strategies/past.yaml')
  project.write(
    'config/paper.yaml',
    `${project.read('config/paper.yaml')}\nmanual: { orderNotionalMax: "500", positionNotionalMax: "2000" }\n`,
  )
  const run = project.run(['--set', 'record=true', '--set', 'simulator.speed=1'])
  await run.until('candles', () => run.events('history.fetched').length > 0)
  await run.until('a fill', () => run.events('order.fill').length > 0)
  await run.stop()
  const found = readdirSync(project.directory, { recursive: true, encoding: 'utf8' })

  const parity = project.start(['parity', found.find((path) => path.endsWith('recordings')) ?? ''])
  await parity.ended

  expect(parity.stderr).toEqual([])
  expect(parity.stdout.join('\n')).toMatch(
    /^past: [1-9]\d* changes? of what it wants recorded, .* all the same$/m,
  )
})
