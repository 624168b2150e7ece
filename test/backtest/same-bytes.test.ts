import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readAll } from './backtest-project.ts'
import { type PlayedLine, writeProject } from './library-project.ts'

/*
 * Whoever makes a backtest faster must not change a byte of what it writes. Where a report is changed on purpose,
 * `npx vitest run test/backtest/same-bytes.test.ts -u` writes the new hashes.
 */

const RECIPE = 'run.json'

async function hashesOf(line: PlayedLine): Promise<string> {
  const { project, files } = writeProject(line)
  try {
    await project.run(files, 'out')
    const { [RECIPE]: _, ...written } = readAll(join(project.directory, 'out'))
    return Object.entries(written)
      .map(
        ([name, text]) => `${createHash('sha256').update(text).digest('hex').slice(0, 16)} ${name}`,
      )
      .join('\n')
  } finally {
    project.remove()
  }
}

test('the files of a backtest keep their bytes: trend, two instruments', async () => {
  const line = { strategy: 'trend', days: 2, pollMs: 15_000, instruments: 2 } as const
  expect(await hashesOf(line)).toMatchInlineSnapshot(`
    "749fcf201163f52d equity.csv
    5dab4aeeb8867baa fills.csv
    741ab9e0c193d141 orders.csv
    dcddfa3ac0b22d37 positions.csv
    4893604adcc52dd3 report.html
    50b6a7562cd73a5b report.json
    a36d09b5b6e7777f returns.csv"
  `)
})

test('the files of a backtest keep their bytes: grid', async () => {
  const line = { strategy: 'grid', days: 2, pollMs: 60_000, instruments: 1 } as const
  expect(await hashesOf(line)).toMatchInlineSnapshot(`
    "8a68916e4789731d equity.csv
    f7a16792a4e53f17 fills.csv
    f09423473082f168 orders.csv
    1b9260e6a3217f6f positions.csv
    72256d9a1816d54b report.html
    edb6dd3f9810a12c report.json
    d514f739ee6a33ff returns.csv"
  `)
})

test('the files of a backtest keep their bytes: breakout', async () => {
  const line = { strategy: 'breakout', days: 2, pollMs: 60_000, instruments: 1 } as const
  expect(await hashesOf(line)).toMatchInlineSnapshot(`
    "f83c6fdbd311c728 equity.csv
    9780d2738c0df543 fills.csv
    6b393fcd22ef4774 orders.csv
    5da3fec6ef408447 positions.csv
    1289ec5ac4396f7d report.html
    e0281b45f31ae669 report.json
    04dcd773ff5ea870 returns.csv"
  `)
})

test('the files of a backtest keep their bytes: market maker', async () => {
  const line = { strategy: 'market-maker', days: 1, pollMs: 60_000, instruments: 1 } as const
  expect(await hashesOf(line)).toMatchInlineSnapshot(`
    "21a470c92ac60560 equity.csv
    e5e1a5af1320cc2b fills.csv
    f52ae61ab3fee214 orders.csv
    18e81aec768ba8d5 positions.csv
    3e9e476e4667e54f report.html
    47a922bb1c8e7084 report.json
    80ecfa2931fb8c87 returns.csv"
  `)
})
