import { afterAll, describe, expect, test } from 'vitest'
import { listUnattended, type UnattendedInput } from '../../src/views/unattended.ts'
import { createGrid } from '../../src/lib/grid.ts'
import { Projects } from '../daemon/project.ts'

const projects = new Projects()
afterAll(() => projects.close())

const LONG = { longLots: 20, shortLots: 0 }
const SHORT = { longLots: 0, shortLots: 3 }
const GRIDS = new Map([
  ['BTCUSDT', { lot: createGrid('0.001') }],
  ['ETHUSDT', { lot: createGrid('0.01') }],
])

function list(holdings: Record<string, typeof LONG>, account: Record<string, typeof LONG> = {}) {
  const input = {
    settings: {
      instruments: new Map([['BTCUSDT', {}]]),
      strategies: new Map([
        ['grid', { symbols: ['BTCUSDT'] }],
        ['idle', { symbols: [] }],
      ]),
    },
    strategies: [{ id: 'grid' }, { id: 'idle' }, { id: 'off' }],
    book: {
      holdings: new Map(Object.entries(holdings)),
      account: new Map(Object.entries(account)),
      orphans: new Map(),
    },
    grids: GRIDS,
  }
  return listUnattended(input as unknown as UnattendedInput)
}

describe('what is held and nobody trades', () => {
  test.each([
    ['gone|BTCUSDT', 'the strategy was removed'],
    ['off|BTCUSDT', 'the strategy is disabled'],
    ['idle|BTCUSDT', 'the strategy does not list the instrument any more'],
  ])('%s is said in its coin: %s', (key, why) => {
    const [strategy] = key.split('|')

    expect(list({ [key]: LONG })).toEqual([
      { strategy, symbol: 'BTCUSDT', side: 'long', size: '0.02', why },
    ])
  })

  test('of an instrument that vanished is said in the size that it had', () => {
    const why = 'the instrument is not configured any more'

    expect(list({ 'grid|ETHUSDT': SHORT }, { ETHUSDT: SHORT })).toEqual([
      { strategy: 'grid', symbol: 'ETHUSDT', side: 'short', size: '0.03', why },
    ])
    expect(list({}, { ETHUSDT: SHORT })).toEqual([
      { symbol: 'ETHUSDT', side: 'short', size: '0.03', why },
    ])
  })

  test('is nothing where a strategy trades it, or an order is waited for', () => {
    const held = {
      'grid|BTCUSDT': LONG,
      '~123|BTCUSDT': LONG,
      'gone|BTCUSDT': { longLots: 0, shortLots: 0 },
    }

    expect(list(held, { BTCUSDT: LONG })).toEqual([])
  })
})

test('a strategy that was disabled and an instrument that was removed are said at the start and in the summary', async () => {
  const project = projects.open()
  const fast = ['--set', 'simulator.speed=1200']
  // Orders that rest would be filled later: what is held stays as the first run left it.
  const first = project.run([...fast, '--set', 'onStop=cancel', '--summary', 'json'])
  const hasFilled = (symbol: string) =>
    first.events('order.fill').some((fill) => fill['symbol'] === symbol)
  await first.until('fills of both', () => hasFilled('BTCUSDT') && hasFilled('ETHUSDT'))
  await first.stop()
  const ofTrend = first.summary.strategies['trend-btc']?.positions ?? {}

  for (const id of ['grid-btc', 'trend-btc'])
    project.edit(`config/strategies/${id}.yaml`, `id: ${id}`, `id: ${id}\nenabled: false`)
  const second = project.run([...fast, '--summary', 'json'])
  await second.untilEvent('daemon.running')
  const held = { ...ofTrend, ...first.summary.strategies['grid-btc']?.positions }
  const count = Object.keys(held).length
  if (count > 0) await second.untilEvent('position.unattended', count)
  await second.stop()

  const said = second.events('position.unattended')
  expect(said).toHaveLength(second.summary.unattended.length)
  expect(new Set(said.map(({ symbol, side }) => `${String(symbol)} ${String(side)}`))).toEqual(
    new Set(Object.keys(held)),
  )
  for (const { level, why } of said)
    expect([level, why]).toEqual(['warn', 'the strategy is disabled'])
})
