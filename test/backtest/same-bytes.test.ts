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
  const line = { strategy: 'trend', days: 1, pollMs: 15_000, instruments: 2 } as const
  expect(await hashesOf(line)).toMatchInlineSnapshot(`
    "bf2c27db7f9f1a47 equity.csv
    b365ebd1dff03c3d fills.csv
    869e0527d3780949 orders.csv
    4d0f794cf60967cb positions.csv
    b6b6c4fbfc2e5d9f report.html
    cc3ecc6cb098d1ca report.json
    eda22e74914d76bc returns.csv"
  `)
})

test('the files of a backtest keep their bytes: grid', async () => {
  const line = { strategy: 'grid', days: 1, pollMs: 60_000, instruments: 1 } as const
  expect(await hashesOf(line)).toMatchInlineSnapshot(`
    "586571d1cc3e8fcb equity.csv
    89f0f767a48cebe3 fills.csv
    30200d46d7059826 orders.csv
    19df7432e95f12d5 positions.csv
    aac5f0506e557267 report.html
    b420c8b7fcbccfe3 report.json
    6e1eb44169c4e361 returns.csv"
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
  const line = { strategy: 'market-maker', days: 0.5, pollMs: 60_000, instruments: 1 } as const
  expect(await hashesOf(line)).toMatchInlineSnapshot(`
    "4b3cb9ccfff399cf equity.csv
    b998b027ff817c11 fills.csv
    e0076426dff83caa orders.csv
    b52aa78bcccac116 positions.csv
    386f20a75a315e88 report.html
    7d3e2c2843b12ff7 report.json
    8e2cc7c5bd3d4902 returns.csv"
  `)
})
