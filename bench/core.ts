// What a snapshot costs: the engine's core with the shipped strategies in virtual time, polling and time passing as
// in `config/paper.yaml`. Included: core, interpreter, limiter, strategies, the readers of fills and positions, each
// record as text, and an exchange in memory that acknowledges and fills (test/soak/soak-exchange.ts). Not included:
// HTTP, the disk. Each round is a process of its own; the lines are minimum, median and maximum of the rounds.
// `npm run bench:core -- [--rounds 5] [--only TEXT] [--against PATH]`: PATH is another checkout of this project, which
// runs the same lines in turn with this one.

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { CoreLine } from './core-account.ts'
import type { CoreRound } from './core-round.ts'
import { medianOf } from './figures.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
    against: { type: 'string' },
  },
})

const shared = (count: number): CoreLine['strategies'] =>
  Array.from({ length: count }, (_, index) => (index % 2 === 0 ? 'grid' : 'trend'))

const alone = (count: number): CoreLine => ({
  name: `${count} instruments, a grid on each`,
  instruments: count,
  strategies: Array.from({ length: count }, () => 'grid' as const),
  isApart: true,
})

const both = {
  instruments: 2,
  strategies: ['grid', 'grid', 'trend', 'trend'],
  isApart: true,
} as const

const LINES: readonly CoreLine[] = [
  { name: '2 instruments, grid and trend on each', ...both },
  { name: 'the same, prices 60 times as fast', ...both, speed: 60 },
  { name: '1 instrument, a grid', instruments: 1, strategies: ['grid'] },
  { name: 'the same, twice the orders', instruments: 1, strategies: ['grid'], levels: 16 },
  { name: 'the same, an hour later', instruments: 1, strategies: ['grid'], minutesBefore: 60 },
  ...[1, 10, 25, 50].map((count) => ({
    name: `10 instruments, ${count} on all of them`,
    instruments: 10,
    strategies: shared(count),
    levels: 4,
  })),
  ...[25, 50, 100].map(alone),
]

interface Measured {
  readonly line: CoreLine
  readonly here: readonly CoreRound[]
  readonly there: readonly CoreRound[]
}

const HERE = join(import.meta.dirname, '..')

const measured = LINES.filter(({ name }) => name.includes(values.only)).map(measure)
printFactors(measured)

function measure(line: CoreLine): Measured {
  const here: CoreRound[] = []
  const there: CoreRound[] = []
  for (let round = 0; round < Number(values.rounds); round++) {
    if (values.against !== undefined) there.push(runRound(values.against, line))
    here.push(runRound(HERE, line))
  }
  const result = { line, here, there }
  print(result)
  return result
}

function runRound(checkout: string, line: CoreLine): CoreRound {
  // The shipped strategies import `intentd/strategy`.
  const contract = join(checkout, 'src/strategy/install-contract.ts')
  const round = join(checkout, 'bench/core-round.ts')
  const args = ['--import', contract, round, JSON.stringify(line)]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as CoreRound
}

function print({ line, here, there }: Measured): void {
  console.log(`\n${line.name}`)
  if (there.length > 0) printSide('  against', there)
  printSide(there.length > 0 ? '  here' : '', here)
  if (there.length === 0) return
  const ratios = here.map(({ cpuUs }, round) => (there[round]?.cpuUs ?? Number.NaN) / cpuUs)
  console.log(`  ratio of CPU a snapshot, by pairs: ${spreadOf(ratios, 2)}`)
}

function printSide(title: string, rounds: readonly CoreRound[]): void {
  if (title !== '') console.log(title)
  const of = (pick: (round: CoreRound) => number): readonly number[] => rounds.map(pick)
  const [{ orders, fills, cancelAlls, openOrders, journalBytesAnHour, heapBytes }] = rounds as [
    CoreRound,
  ]
  console.log(
    [
      `  snapshots a CPU second  ${spreadOf(
        of(({ cpuUs }) => 1e6 / cpuUs),
        0,
      )}`,
      `  CPU a snapshot, us      ${spreadOf(
        of(({ cpuUs }) => cpuUs),
        2,
      )}`,
      `  the exchange's share, us${spreadOf(
        of(({ exchangeUs }) => exchangeUs),
        2,
      )}`,
      `  bare loop, us           ${spreadOf(
        of(({ bareUs }) => bareUs),
        2,
      )}`,
      `  of 1000 snapshots: ${orders.toFixed(1)} orders, ${fills.toFixed(1)} fills, ${cancelAlls.toFixed(1)} cancel-alls` +
        `; ${openOrders} orders open; journal ${(journalBytesAnHour / 1e6).toFixed(2)} MB an hour` +
        `; heap ${(heapBytes / 1e6).toFixed(0)} MB`,
    ].join('\n'),
  )
}

/** What of a line grows with what: the CPU time of a snapshot beside the line before it. */
function printFactors(lines: readonly Measured[]): void {
  console.log('\nCPU a snapshot, medians of here')
  for (const { line, here } of lines) {
    console.log(
      `  ${medianOf(here.map(({ cpuUs }) => cpuUs))
        .toFixed(1)
        .padStart(10)} us  ${line.name}`,
    )
  }
}

function spreadOf(figures: readonly number[], digits: number): string {
  const shown = [Math.min(...figures), medianOf(figures), Math.max(...figures)]
  return shown.map((figure) => figure.toFixed(digits).padStart(10)).join('')
}
