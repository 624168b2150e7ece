// What a thread of its own costs a decision: the shipped grid on ten instruments, asked by turns in this thread and in
// one of its own. Every fourth snapshot something beside the prices is new. Beside it the floor, by turns with both: the
// same numbers handed to another thread and back, asleep meanwhile or looking for the answer for a while first.
// `npm run bench:isolation`

import { join } from 'node:path'
import { systemClock } from '../src/lib/clock.ts'
import { systemTimers } from '../src/lib/timers.ts'
import { openIsolatedRunner } from '../src/strategy/isolation/isolated-runner.ts'
import { StrategyRunner } from '../src/strategy/strategy-runner.ts'
import { HEADER_LENGTH, ROW_LENGTH } from '../src/strategy/isolation/thread-messages.ts'
import grid from '../strategies/grid.ts'
import { HandOver } from './hand-over.ts'
import { madeInstrument, madeSnapshot, MOMENT_AT } from '../test/support/market-moment.ts'

const ROUNDS = 5
const DECISIONS = 2000

const instruments = Array.from({ length: 10 }, (_, index) =>
  madeInstrument({ symbol: `S${index}USDT` }),
)
const params = { spacingBps: 5, levels: 8, size: '0.02', recentreAfterLevels: 8 }
const options = { strategyId: 'grid', params, instruments, clock: systemClock }
const inline = new StrategyRunner({ ...options, strategy: grid })
const isolated = await openIsolatedRunner({
  ...options,
  timers: systemTimers,
  budgetMs: 1e4,
  heapMb: 64,
  needs: { candles: new Map() },
  moduleFile: join(import.meta.dirname, '../strategies/grid.ts'),
  onThreadLost: (reason) => {
    throw new Error(reason)
  },
})

const handOver = new HandOver(HEADER_LENGTH + instruments.length * ROW_LENGTH)
/** Longer than the other thread takes to wake and to read. */
const SPIN_MS = 0.2

console.log('a decision for ten instruments, microseconds (median, 99th percentile)')
for (let round = 0; round < ROUNDS; round++) {
  const [here, there, bare, spun]: [number[], number[], number[], number[]] = [[], [], [], []]
  let kept = snapshotAt(0)
  for (let sequence = 1; sequence <= DECISIONS; sequence++) {
    const made = snapshotAt(sequence)
    if (sequence % 4 === 0) kept = made
    const snapshot = { ...made, instruments: kept.instruments }
    here.push(timeOf(() => inline.decide(snapshot)))
    there.push(timeOf(() => isolated.decide(snapshot)))
    bare.push(timeOf(() => handOver.run(sequence, 0)))
    spun.push(timeOf(() => handOver.run(sequence, SPIN_MS)))
  }
  const [one, other, floor, spin] = [
    percentiles(here),
    percentiles(there),
    percentiles(bare),
    percentiles(spun),
  ]
  console.log(
    `  here ${show(one)}  in its thread ${show(other)}  more at the median ${(other[0] - one[0]).toFixed(1)}` +
      `  floor ${show(floor)}  floor, looking ${show(spin)}`,
  )
}
await isolated.stop()
await handOver.stop()

function snapshotAt(sequence: number) {
  const bid = 1000 + Math.round(50 * Math.sin(sequence / 40)) / 10
  return madeSnapshot(
    instruments.map((instrument) => ({ instrument, bid, ask: bid + 0.1 })),
    { sequence, takenAt: MOMENT_AT + sequence * 100 },
  )
}

function timeOf(run: () => unknown): number {
  const startedAt = systemClock.monotonic()
  run()
  return (systemClock.monotonic() - startedAt) * 1000
}

function percentiles(times: readonly number[]): readonly [number, number] {
  const sorted = times.toSorted((one, other) => one - other)
  return [sorted[Math.floor(sorted.length / 2)] ?? 0, sorted[Math.floor(sorted.length * 0.99)] ?? 0]
}

function show(figures: readonly [number, number]): string {
  return figures.map((figure) => figure.toFixed(1).padStart(8)).join('')
}
