// Reading a ticker answer: the scanner beside JSON.parse of the same bytes and the reader that parses and checks them,
// in turn in one run. `node bench/tickers.ts [rows]`, default 600.

import { TickerTable } from '../src/domain/ticker-table.ts'
import { readTickersJson, TickerScanner } from '../src/exchange/readers/ticker-reader.ts'
import { percentileOf } from './figures.ts'
import { TickerAnswers } from './ticker-answers.ts'

const ROUNDS = 1000
const WARM_UP = 300
const BODIES = 20

const rows = Number(process.argv[2] ?? 600)
const answers = new TickerAnswers(rows)
const bodies = Array.from({ length: BODIES }, (_, body) => Buffer.from(answers.next(42_000 + body)))

const [table, scannedTable] = [new TickerTable(), new TickerTable()]
const scanner = new TickerScanner()
const contenders: Readonly<Record<string, (body: Buffer) => unknown>> = {
  'JSON.parse': (body) => JSON.parse(body.toString('utf8')),
  'parsed and checked': (body) => readTickersJson(body, table),
  scanned: (body) => scanner.read(body, scannedTable),
}

const elapsedMs: Record<string, number[]> = {}
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, read] of Object.entries(contenders)) {
    const startedAt = performance.now()
    read(bodies[round % BODIES] ?? Buffer.alloc(0))
    if (round >= WARM_UP) (elapsedMs[name] ??= []).push(performance.now() - startedAt)
  }
}

const at = (name: string, share: number): number => percentileOf(elapsedMs[name] ?? [], share)
console.log(
  `${rows} rows, ${bodies[0]?.length} bytes; ms, and the ratio to JSON.parse at the median`,
)
console.log(
  ['', 'p10', 'p50', 'p90', 'ratio']
    .map((cell, index) => (index === 0 ? cell.padEnd(20) : cell.padStart(8)))
    .join(''),
)
for (const name of Object.keys(contenders)) {
  const cells = [0.1, 0.5, 0.9].map((share) => at(name, share).toFixed(3))
  const ratio = (at(name, 0.5) / at('JSON.parse', 0.5)).toFixed(2)
  console.log([name.padEnd(20), ...[...cells, ratio].map((cell) => cell.padStart(8))].join(''))
}
