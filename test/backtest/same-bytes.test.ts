import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CandleTapes } from '../../src/simulator/market/recorded/candle-tape.ts'
import { readAll } from './backtest-project.ts'
import { type PlayedLine, writeProject } from './library-project.ts'

/*
 * A backtest that is made faster must not change a byte of what it writes. Where a report is changed on purpose,
 * `npx vitest run test/backtest/same-bytes.test.ts -u` writes the new hashes.
 */

const RECIPE = 'run.json'

async function hashesOf(line: PlayedLine): Promise<string> {
  const { project, files } = writeProject(line)
  try {
    await project.run(files, 'out')
    return hashesIn(join(project.directory, 'out'))
  } finally {
    project.remove()
  }
}

function hashesIn(directory: string): string {
  const { [RECIPE]: _, ...written } = readAll(directory)
  return Object.entries(written)
    .map(
      ([name, text]) => `${createHash('sha256').update(text).digest('hex').slice(0, 16)} ${name}`,
    )
    .join('\n')
}

test('the files of a backtest keep their bytes: trend, two instruments', async () => {
  const line = { strategy: 'trend', days: 1, pollMs: 15_000, instruments: 2 } as const
  expect(await hashesOf(line)).toMatchInlineSnapshot(`
    "bf2c27db7f9f1a47 equity.csv
    b365ebd1dff03c3d fills.csv
    869e0527d3780949 orders.csv
    4d0f794cf60967cb positions.csv
    7f980ceeb79bf680 report.html
    ac3ad44f493668c5 report.json
    eda22e74914d76bc returns.csv
    c49a9a3d11a76fa0 trades.csv"
  `)
})

test('the files of a backtest keep their bytes: grid', async () => {
  const line = { strategy: 'grid', days: 1, pollMs: 60_000, instruments: 1 } as const
  expect(await hashesOf(line)).toMatchInlineSnapshot(`
    "586571d1cc3e8fcb equity.csv
    89f0f767a48cebe3 fills.csv
    30200d46d7059826 orders.csv
    19df7432e95f12d5 positions.csv
    c4d7cb05b0e7dbb0 report.html
    ff5cf57958f509da report.json
    6e1eb44169c4e361 returns.csv
    4e2645a3ed904b6d trades.csv"
  `)
})

test('the files of a backtest keep their bytes: breakout', async () => {
  const line = { strategy: 'breakout', days: 2, pollMs: 60_000, instruments: 1 } as const
  expect(await hashesOf(line)).toMatchInlineSnapshot(`
    "f83c6fdbd311c728 equity.csv
    9780d2738c0df543 fills.csv
    6b393fcd22ef4774 orders.csv
    5da3fec6ef408447 positions.csv
    b9a3187ede9d7951 report.html
    b400ab61e2052065 report.json
    04dcd773ff5ea870 returns.csv
    1f6a76c0db9ac15c trades.csv"
  `)
})

test('the files of a backtest keep their bytes: market maker', async () => {
  const line = { strategy: 'market-maker', days: 0.5, pollMs: 60_000, instruments: 1 } as const
  expect(await hashesOf(line)).toMatchInlineSnapshot(`
    "4b3cb9ccfff399cf equity.csv
    b998b027ff817c11 fills.csv
    e0076426dff83caa orders.csv
    b52aa78bcccac116 positions.csv
    9e6469b6af961bcb report.html
    51001ab602c175b9 report.json
    8e2cc7c5bd3d4902 returns.csv
    d002b569257849c9 trades.csv"
  `)
})

test('a run that reads the candles which another one has drawn writes the same bytes', async () => {
  const line = { strategy: 'breakout', days: 0.5, pollMs: 60_000, instruments: 2 } as const
  const { project, files } = writeProject(line)
  const tapes = new CandleTapes()
  const play = async (out: string): Promise<string> => {
    await project.run(files, out, { tapes })
    return hashesIn(join(project.directory, out))
  }
  try {
    const first = await play('first')
    expect(tapes.finished).toHaveLength(line.instruments)
    expect(await play('second')).toBe(first)
  } finally {
    project.remove()
  }
})
