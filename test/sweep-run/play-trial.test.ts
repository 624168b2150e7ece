import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openBacktest } from '../../src/backtest/playing/play-in-thread.ts'
import { recipeOf } from '../../src/sweep-run/play-trial.ts'
import { TrialPool } from '../../src/sweep-run/trial-pool.ts'
import { BacktestProject, MINUTE_MS, START_AT } from '../backtest/backtest-project.ts'

let project: BacktestProject
let pool: TrialPool

beforeEach(() => {
  project = new BacktestProject(['BTCUSDT'], [])
  pool = new TrialPool()
})
afterEach(async () => {
  await pool.close()
  project.remove()
})

function candles(firstMinute: number, price: number): string {
  const rows = Array.from({ length: 60 - firstMinute }, (_, index) =>
    [START_AT + (firstMinute + index) * MINUTE_MS, price, price, price, price, 1].join(','),
  )
  return `ts_ms,open,high,low,close,volume\n${rows.join('\n')}\n`
}

test('a worker computes a trial on a part of the range in which a file has no row that no strategy trades', async () => {
  const market = [
    project.write('BTCUSDT.csv', candles(0, 100_000)),
    project.write('ETHUSDT.csv', candles(30, 2500)),
  ]
  const config = join(project.directory, 'main.yaml')
  const options = { market, set: [], param: [] }
  const { loaded, prepared } = await openBacktest(config, options, 'test')
  const recipe = recipeOf({ prepared, config: loaded.config }, options, 'test')

  const answer = await pool.run(
    {
      config,
      options: {
        ...options,
        from: START_AT,
        to: START_AT + 20 * MINUTE_MS,
      },
      version: 'test',
      periodMs: MINUTE_MS,
      sweep: {
        recipe,
        param: [],
      },
    },
    60_000,
    new AbortController().signal,
  )

  expect(answer).toMatchObject({ figures: { final: '10000', fills: 0 } })
})

test('trials on the same prices read the candles that the first of them has drawn, with the same outcome', async () => {
  const market = [project.write('BTCUSDT.csv', candles(0, 100_000))]
  const config = join(project.directory, 'main.yaml')
  const options = { market, set: [], param: [] }
  const order = { config, options, version: 'test', periodMs: MINUTE_MS }
  const play = () => pool.run(order, 60_000, new AbortController().signal)

  const first = await play()
  const drawn = pool.tapes
  const second = await play()

  expect(drawn).toHaveLength(1)
  expect(pool.tapes).toEqual(drawn)
  expect(second).toEqual(first)
})

/** Holds a lot for the first 200 looks that it remembers. */
const BUYER = `import { defineStrategy, z } from 'intentd/strategy'
import { memory } from './memory.MODULE'
EXTRA
export default defineStrategy({
  name: 'scripted',
  params: z.strictObject({}).prefault({}),
  initialState: () => ({}),
  decide(snapshot, { state }) {
    const [market] = snapshot.instruments
    memory.looks += 1
    return { intents: market ? [market.target(memory.looks < 200 ? 1 : 0)] : [], state }
  },
})
`

async function playTwice(extra: string, memory: Readonly<Record<string, string>>) {
  const [module = 'ts'] = Object.keys(memory)
  project.write('scripted.ts', BUYER.replace('MODULE', module).replace('EXTRA', extra))
  project.write(`memory.${module}`, memory[module] ?? '')
  const market = [project.write('BTCUSDT.csv', candles(0, 100_000))]
  const config = join(project.directory, 'main.yaml')
  const order = { config, options: { market, set: [], param: [] }, version: 'test' }
  const play = () =>
    pool.run({ ...order, periodMs: MINUTE_MS }, 60_000, new AbortController().signal)
  return [await play(), await play()]
}

test('a trial sees nothing of one that the same thread has played before', async () => {
  const answers = await playTwice('', { ts: 'export const memory = { looks: 0 }' })

  expect(answers).toMatchObject([{ figures: { fills: 2 } }, { figures: { fills: 2 } }])
  expect(pool.started).toBe(1)
})

test.each([
  ['a global', '(globalThis as any).seen = true', { ts: 'export const memory = { looks: 0 }' }],
  ['a CommonJS module', '', { cjs: 'exports.memory = { looks: 0 }' }],
])('a thread in which %s stays plays no other trial', async (_, extra, memory) => {
  const answers = await playTwice(extra, memory)

  expect(answers).toMatchObject([{ figures: { fills: 2 } }, { figures: { fills: 2 } }])
  expect(pool.started).toBe(2)
})
