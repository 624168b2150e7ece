import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { UniverseRecording } from '../../src/recording/universe/universe-recording.ts'
import { Projects } from './project.ts'
import { findExchange, startDaemon, startExchange, writeRemote } from './remote-exchange.ts'

const projects = new Projects()
afterAll(() => projects.close())

const CONTRACTS = Array.from(
  { length: 12 },
  (_, index) => `X${String.fromCharCode(65 + index)}USDT`,
)

const STRATEGY = `import { defineStrategy, z } from 'intentd/strategy'
export default defineStrategy({
  name: 'holder',
  params: z.strictObject({}),
  initialState: () => ({}),
  decide: (snapshot) => ({
    intents: snapshot.instruments.map((market) => market.target(market.isLeaving ? 0 : 10)),
    state: {},
  }),
})
`

const SETTINGS = `id: holder
module: ../../holder.ts
universe:
  every: 1h
  quote: USDT
  top: { count: 2, by: volume }
  include: [XCUSDT, XDUSDT]
  exclude: [BTCUSDT]
  sticky: 6h
risk:
  positionNotionalMax: "1000"
  openOrdersMax: 4
`

test('[DET1, DET2] a strategy in a thread trades what a rule chooses; a reload, a restart and a replay agree', async () => {
  const project = projects.open()
  const place = await findExchange(project)
  const rows = CONTRACTS.map(
    (symbol) =>
      `  ${symbol}: { tickSize: "0.01", lotSize: "0.1", minSize: "0.1", minNotional: "5" }\n`,
  ).join('')
  const prices = CONTRACTS.map((symbol, index) => `, ${symbol}: "${20 + index}"`).join('')
  const simulator = project.read('config/simulator.yaml')
  project.write(
    'config/simulator.yaml',
    simulator
      .replace('instruments:\n', `instruments:\n${rows}`)
      .replace('ETHUSDT: "3000" }', `ETHUSDT: "3000"${prices} }`),
  )
  project.write(
    'config/paper.yaml',
    project
      .read('config/paper.yaml')
      // A rule chooses all of them: the main file needs none of its own.
      .replace(/^instruments:\n(?: .*\n)+/m, '')
      .replace(/^strategies:\n(?: .*\n)+/m, 'strategies: [strategies/holder.yaml]\n'),
  )
  project.write('config/strategies/holder.yaml', SETTINGS)
  project.write('holder.ts', STRATEGY)
  writeRemote(project)
  const named = ['-c', 'config/remote.yaml', '--set', `exchange.baseUrl=${place.url}`]
  const ask = async (...words: string[]) => {
    const asked = project.start([...words, ...named], place.env)
    const { code } = await asked.ended
    return { code, text: [...asked.stdout, ...asked.stderr].join('\n') }
  }
  const statesOf = (text: string) => {
    const views = JSON.parse(text.slice(0, text.lastIndexOf(']') + 1))
    const rowsOf: readonly { symbol: string; state: string }[] = views[0].instruments
    return rowsOf.filter(({ state }) => state !== 'out').map((row) => `${row.symbol} ${row.state}`)
  }

  const exchange = startExchange(project, place)
  await exchange.untilEvent('simulator.listening')
  const daemon = startDaemon(project, place, [
    '--set',
    'record=true',
    '--set',
    'recordUniverse.enabled=true',
  ])
  await daemon.untilEvent('order.fill', 2)
  project.edit('config/strategies/holder.yaml', '[XCUSDT, XDUSDT]', '[XCUSDT]')
  project.edit('config/strategies/holder.yaml', '[BTCUSDT]', '[BTCUSDT, XDUSDT]')
  const reloaded = await ask('reload')
  expect(reloaded).toMatchObject({ code: 0 })
  await daemon.untilEvent('universe.left')
  const shown = await ask('universe')
  await daemon.stop()
  const again = startDaemon(project, place)
  await again.untilEvent('daemon.running')
  await again.stop()
  const stored = await ask('universe', '--json')
  const explained = await ask('explain', 'XDUSDT')
  const checked = await ask('check', '--no-types')
  await exchange.stop()
  const replayed = project.start(['replay', '.intentd/paper/recordings'])
  const { code } = await replayed.ended

  const [first, second] = daemon.events('universe.changed')
  expect(first).toMatchObject({ joined: ['XCUSDT included', 'XDUSDT included'], left: [] })
  expect(second).toMatchObject({ left: ['XDUSDT excluded'], changes: 2 })
  expect(again.events('universe.changed')).toEqual([])
  expect(daemon.events('universe.left')).toMatchObject([{ strategy: 'holder', symbol: 'XDUSDT' }])
  expect(shown.text).toMatch(/holder: 2 of 2 chosen; evaluated .* UTC, next .* 1 of 20 have left/)
  expect(shown.text).toMatch(/XCUSDT +in .* always, by include/)
  expect(shown.text).toMatch(/XDUSDT +out .* excluded/)
  expect(shown.text).toMatch(/BTCUSDT +out .* excluded/)
  expect(statesOf(stored.text)).toContain('XCUSDT in')
  expect(statesOf(stored.text)).toHaveLength(2)
  expect(explained.text).toContain('it leaves holder (close): excluded')
  expect([...replayed.stdout, ...replayed.stderr].join('\n')).toMatch(/^replayed/)
  expect(code).toBe(0)
  expect(checked.text).toMatch(
    /^universe of holder: up to 2 instruments, chosen anew each 1h \(4 while members leave\), each up to 1000, in all 2000 USDT/m,
  )
  expect(checked.text).toMatch(/^tickers of all instruments are kept from \d{4}-\d\d-\d\d to /m)
  const kept = new UniverseRecording(join(project.directory, '.intentd/paper/universe'))
  const entries = [...kept.entries({})]
  expect(entries.map(({ kind }) => kind)).toContain('contracts')
  const tickers = entries.find((entry) => entry.kind === 'tickers')
  expect(tickers?.table.symbols).toContain('XCUSDT')
})
