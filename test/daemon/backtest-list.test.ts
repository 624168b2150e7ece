import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { listBacktests } from '../../src/daemon/explain/backtest-list.ts'

const folder = mkdtempSync(join(tmpdir(), 'intentd-backtests-'))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const RUN = {
  model: 'default',
  fromAt: 1,
  toAt: 2,
  money: {
    opening: '1000',
    final: '990.5',
    fees: '3',
  },
  ratios: [
    {
      name: 'total return',
      value: -0.0095,
      unit: 'share',
    },
    {
      name: 'Calmar',
      value: null,
      unit: 'number',
    },
  ],
  series: { close: [1e3, Number.NaN, 990.5] },
}
const coverage = ['BTCUSDT', 'ETHUSDT'].map((symbol) => ({ symbol, kind: 'candles' }))
const REPORT = { format: 1, name: 'paper', coin: 'USDT', coverage, runs: [RUN] }

function write(id: string, files: Readonly<Record<string, string>>, writtenAt: number): void {
  mkdirSync(join(folder, id), { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, id, name), text)
  if ('report.json' in files) utimesSync(join(folder, id, 'report.json'), writtenAt, writtenAt)
}

test('reports are listed with what was changed for them, the newest first; what is none is left out', () => {
  const report = JSON.stringify(REPORT)
  write(
    'older',
    { 'report.json': report, 'run.json': '{"set":["a.b=1"],"param":["grid.levels=4"]}' },
    1000,
  )
  write('newer', { 'report.json': report, 'run.json': 'cut off' }, 2000)
  write('half-written', { 'report.json': report.slice(0, 40) }, 3000)
  write('of-somebody-else', { 'notes.txt': 'nothing of ours' }, 4000)
  writeFileSync(join(folder, 'a-file'), '')

  const listed = listBacktests(folder)

  expect(listed.map(({ id, given }) => [id, given])).toEqual([
    ['newer', []],
    ['older', ['a.b=1', 'grid.levels=4']],
  ])
  expect(listed[0]?.runs[0]?.ratios.map(({ text }) => text)).toEqual(['-0.95 %', '-'])
  expect(listed[0]?.runs[0]?.curve).toEqual([1000, 990.5])
})

test('the instruments whose prices are made up are named', () => {
  const seeded = { ...REPORT, coverage: [coverage[0], { symbol: 'ETHUSDT', kind: 'seeded' }] }
  write('real', { 'report.json': JSON.stringify(REPORT) }, 1000)
  write('seeded', { 'report.json': JSON.stringify(seeded) }, 2000)

  expect(listBacktests(folder).map(({ id, madeUp }) => [id, madeUp])).toEqual([
    ['seeded', ['ETHUSDT']],
    ['real', []],
  ])
})

test('a folder that does not exist has none', () => {
  expect(listBacktests(join(folder, 'nowhere'))).toEqual([])
})
