import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { formatProblem } from '../../src/config/yaml/problem.ts'
import { YamlSource } from '../../src/config/yaml/yaml-source.ts'
import { readHistory } from '../../src/assembly/strategies/history.ts'

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
  writeFileSync(
    join(directory, 'BTCUSDT.csv'),
    ['ts_ms,open,high,low,close,volume', ...rows].join('\n'),
  )
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

test('no candle is built of rows that reach over its end: they tell what came after it', async () => {
  writeMinutes(14)
  const history = await read(new Map([[1.5 * MINUTE, 10]]))

  expect(history).toMatchObject({ silent: ['BTCUSDT.csv'] })
  expect('candles' in history && history.candles.get('BTCUSDT|90000')).toEqual([])
})

test('[CFG1] a file of another instrument is a problem with its place', async () => {
  writeMinutes(2)
  const history = await read(new Map([[MINUTE, 10]]), ['ETHUSDT'])

  expect('problems' in history && history.problems.map(formatProblem).join('')).toMatch(
    /strategy\.yaml:2.*BTCUSDT/s,
  )
})

const hours = (name: string, fromHour: number, count: number, more = 0): void => {
  const rows = Array.from({ length: count }, (_, index) => {
    const price = 100 + fromHour + index + more
    return `${MIDNIGHT + (fromHour + index) * 60 * MINUTE},${price},${price},${price},${price},1`
  })
  writeFileSync(join(directory, name), ['ts_ms,open,high,low,close,volume', ...rows].join('\n'))
}

const readHours = (history: string[], beforeHour?: number) => {
  const entry = { file: join(directory, 'strategy.yaml'), history, instruments: ['BTCUSDT'] }
  const beforeAt = beforeHour === undefined ? undefined : MIDNIGHT + beforeHour * 60 * MINUTE
  return readHistory(entry, { candles: new Map([[60 * MINUTE, 10]]) }, source, beforeAt)
}

const closesOf = (history: Awaited<ReturnType<typeof readHours>>) =>
  'candles' in history
    ? history.candles.get('BTCUSDT|3600000')?.map((row) => row[4])
    : history.problems

test('of a long file the candles before the run are taken, and none that closed after its start', async () => {
  hours('BTCUSDT.csv', 0, 6000)

  expect(closesOf(await readHours(['BTCUSDT.csv'], 3))).toEqual([100, 101, 102])
  expect(closesOf(await readHours(['BTCUSDT.csv']))?.length).toBe(5000)
})

test('several files of an instrument are one history, in the order of time', async () => {
  hours('BTCUSDT.csv', 2, 3)
  hours('BTCUSDT-old.csv', 0, 3)

  expect(closesOf(await readHours(['BTCUSDT=BTCUSDT.csv', 'BTCUSDT=BTCUSDT-old.csv']))).toEqual([
    100, 101, 102, 103, 104,
  ])
})

test('[CFG1] two files that say different prices of one candle are a problem with the candle', async () => {
  hours('BTCUSDT.csv', 2, 3)
  hours('BTCUSDT-old.csv', 0, 3, 0.5)
  const history = await readHours(['BTCUSDT=BTCUSDT.csv', 'BTCUSDT=BTCUSDT-old.csv'])

  expect('problems' in history && history.problems.map(formatProblem).join('')).toContain(
    '2024-01-01T02:00:00.000Z',
  )
})

test('a file that holds nothing before the run is named', async () => {
  hours('BTCUSDT.csv', 5, 3)
  expect(await readHours(['BTCUSDT.csv'], 5)).toMatchObject({ silent: ['BTCUSDT.csv'] })
})
