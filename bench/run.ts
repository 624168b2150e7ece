// From tick to order, and what a start and a daemon cost, each figure beside a floor in the same run: `npm run bench`.
// How to read it: docs/performance.md. `--rounds N` (default 5), `--only TEXT` (rows whose name holds it), `--seconds N`
// a round of tick to order (default 12).

import { parseArgs } from 'node:util'
import { measureClientCost } from './client-cost.ts'
import { medianOf, percentileOf } from './figures.ts'
import { measureLimitUse } from './limit-use.ts'
import { measureMany, measureMemory, measureStarts } from './starts.ts'
import { measureTicks } from './tick-to-order.ts'
import { measureGrants, measureLateness } from './waiting.ts'

const MEMORY_SECONDS = 120
const MANY_INSTRUMENTS = 200

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '12' },
    only: { type: 'string', default: '' },
  },
})
const rounds = Number(values.rounds)

/** Of one line: a figure of ours and its floor for each round. */
interface Line {
  readonly name: string
  readonly unit: string
  readonly ours: readonly number[]
  /** What a bare script needs for the same in the same round. Absent: there is no such thing. */
  readonly floor?: readonly number[]
}

const SECTIONS: Readonly<Record<string, () => Promise<readonly Line[]>>> = {
  'tick to order': tickToOrder,
  client: clientCost,
  grants,
  lateness,
  start: starts,
  memory,
  'many instruments': manyInstruments,
  'use of limits': limitUse,
}

async function tickToOrder(): Promise<readonly Line[]> {
  const ticks = await measureTicks(rounds, Number(values.seconds))
  const line = (share: number): Line => ({
    name: `tick to order, p${share * 100}: 600 tickers in, 50 orders out`,
    unit: 'ms',
    ours: ticks.map(({ daemon }) => percentileOf(daemon, share)),
    floor: ticks.map(({ floor }) => percentileOf(floor, share)),
  })
  return [line(0.5), line(0.99)]
}

async function clientCost(): Promise<readonly Line[]> {
  const cost = await measureClientCost(rounds)
  const line = (name: string, of: typeof cost.poll): Line => ({
    name,
    unit: 'ms of CPU',
    ours: of.map(({ clientMs }) => clientMs),
    floor: of.map(({ floorMs }) => floorMs),
  })
  return [
    line('a poll of 600 tickers to checked numbers', cost.poll),
    line('a batch of 50 orders in the client', cost.batch),
  ]
}

async function grants(): Promise<readonly Line[]> {
  const waited = await measureGrants(rounds)
  return [0.5, 0.99].map((share) => ({
    name: `what a grant that is ready adds, p${share * 100}`,
    unit: 'us',
    ours: waited.map((round) => percentileOf(round, share)),
  }))
}

async function lateness(): Promise<readonly Line[]> {
  const late = await measureLateness(rounds)
  return [
    {
      name: 'lateness of a poll, p99, beside a bare timer',
      unit: 'ms',
      ours: late.map(({ pollMs }) => pollMs),
      floor: late.map(({ timerMs }) => timerMs),
    },
  ]
}

async function starts(): Promise<readonly Line[]> {
  const measured = await measureStarts(rounds)
  return [
    {
      name: 'from the command to daemon.running, beside all imports alone',
      unit: 'ms',
      ours: measured.map(({ runningMs }) => runningMs),
      floor: measured.map(({ importsMs }) => importsMs),
    },
    {
      name: 'the same in CPU',
      unit: 'ms',
      ours: measured.map(({ runningCpuMs }) => runningCpuMs),
      floor: measured.map(({ importsCpuMs }) => importsCpuMs),
    },
  ]
}

async function memory(): Promise<readonly Line[]> {
  const { daemonMb, importsMb } = await measureMemory(MEMORY_SECONDS)
  const name = `resident memory after ${MEMORY_SECONDS} s, beside all imports alone`
  return [{ name, unit: 'MB', ours: [daemonMb], floor: [importsMb] }]
}

async function manyInstruments(): Promise<readonly Line[]> {
  const { firstOrderMs, allMs, failedReads, cpuShare } = await measureMany(MANY_INSTRUMENTS)
  const line = (name: string, unit: string, figure: number): Line => ({
    name: `${MANY_INSTRUMENTS} instruments at a start: ${name}`,
    unit,
    ours: [figure],
  })
  return [
    line('first order', 's', firstOrderMs / 1000),
    line('all proved', 's', allMs / 1000),
    line('failed reads', '', failedReads),
    line('CPU afterwards', '% of a core', 100 * cpuShare),
  ]
}

function limitUse(): Promise<readonly Line[]> {
  const runs = Array.from({ length: rounds }, (_, seed) => measureLimitUse(seed))
  const [first = []] = runs
  const lines = first.map(({ wayMs: [least, most], calls }, index) => {
    const cells = runs.flatMap((run) => run[index] ?? [])
    const tooMany = cells
      .flatMap(({ rejected }) => Object.values(rejected))
      .reduce((sum, count) => sum + count, 0)
    return {
      name: `use of ${calls} calls a second, ${least} to ${most} ms each way; ${tooMany} calls too many`,
      unit: '%',
      ours: cells.map(({ used }) => 100 * used),
    }
  })
  return Promise.resolve(lines)
}

console.log(
  `${'least, median and most of the rounds'.padEnd(66)}ours${' '.repeat(22)}times the floor`,
)
for (const [name, measure] of Object.entries(SECTIONS)) {
  if (name.includes(values.only)) for (const line of await measure()) print(line)
}

function print({ name, unit, ours, floor }: Line): void {
  const ratios = floor?.map((figure, round) => (ours[round] ?? Number.NaN) / figure)
  const cells = [
    name.padEnd(66),
    `${spread(ours)} ${unit}`.padEnd(32),
    ratios ? spread(ratios) : '',
  ]
  console.log(cells.join('').trimEnd())
}

function spread(figures: readonly number[]): string {
  return [Math.min(...figures), medianOf(figures), Math.max(...figures)]
    .map((figure) => figure.toFixed(figure < 10 ? 2 : figure < 100 ? 1 : 0).padStart(7))
    .join('')
}
