import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openBacktest } from '../../src/backtest/playing/run-backtest.ts'
import { recipeOf } from '../../src/sweep-run/play-trial.ts'
import { TrialPool } from '../../src/sweep-run/trial-pool.ts'
import { BacktestProject, MINUTE_MS, START_AT } from '../backtest/backtest-project.ts'

let project: BacktestProject

beforeEach(() => {
  project = new BacktestProject(['BTCUSDT'], [])
})
afterEach(() => project.remove())

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

  const answer = await new TrialPool().run(
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
  const pool = new TrialPool()
  const play = () => pool.run(order, 60_000, new AbortController().signal)

  const first = await play()
  const drawn = pool.tapes
  const second = await play()

  expect(drawn).toHaveLength(1)
  expect(pool.tapes).toEqual(drawn)
  expect(second).toEqual(first)
})
