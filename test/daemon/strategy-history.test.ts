import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { formatProblem } from '../../src/config/yaml/problem.ts'
import { YamlSource } from '../../src/config/yaml/yaml-source.ts'
import { readHistory } from '../../src/daemon/strategies/history.ts'

const directory = mkdtempSync(join(tmpdir(), 'intentd-history-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const MINUTE = 60_000
const MIDNIGHT = Date.UTC(2024, 0, 1)
const source = new YamlSource('history:\n  - BTCUSDT.csv\n', 'strategy.yaml')

/** Minutes from 00:03 on, the prices of which count up. */
function writeMinutes(count: number): void {
  const rows = Array.from({ length: count }, (_, index) => {
    const price = 100 + index
    return `${MIDNIGHT + (index + 3) * MINUTE},${price},${price + 0.5},${price - 0.5},${price + 0.25},1`
  })
  writeFileSync(join(directory, 'BTCUSDT.csv'), ['ts_ms,open,high,low,close,volume', ...rows].join('\n'))
}

function read(candles: ReadonlyMap<number, number>, instruments = ['BTCUSDT']) {
  const entry = { file: join(directory, 'strategy.yaml'), history: ['BTCUSDT.csv'], instruments }
  return readHistory(entry, { candles }, source)
}

test('candles are built of shorter ones, and those that the file has no whole of are left out', async () => {
  writeMinutes(14)
  const history = await read(new Map([[5 * MINUTE, 10]]))

  expect('candles' in history && history.candles.get('BTCUSDT|300000')).toEqual([
    [MIDNIGHT + 5 * MINUTE, 102, 106.5, 101.5, 106.25, 5],
    [MIDNIGHT + 10 * MINUTE, 107, 111.5, 106.5, 111.25, 5],
  ])
})

test('candles of the same length are taken as they are', async () => {
  writeMinutes(2)
  const history = await read(new Map([[MINUTE, 10]]))

  expect('candles' in history && history.candles.get('BTCUSDT|60000')).toEqual([
    [MIDNIGHT + 3 * MINUTE, 100, 100.5, 99.5, 100.25, 1],
    [MIDNIGHT + 4 * MINUTE, 101, 101.5, 100.5, 101.25, 1],
  ])
})

test('[CFG1] a file of another instrument is a problem with its place', async () => {
  writeMinutes(2)
  const history = await read(new Map([[MINUTE, 10]]), ['ETHUSDT'])

  expect('problems' in history && history.problems.map(formatProblem).join('')).toMatch(
    /strategy\.yaml:2.*BTCUSDT/s,
  )
})
